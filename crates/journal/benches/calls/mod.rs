//! A call as a front end records it, for `benches/speed.rs` and `examples/fill_journal.rs`.

use std::time::{Duration, Instant};

use shellgate_journal::{
    AnswerOptions, EndStatus, Journal, RecordedDecision, RecordedEnd, RecordedRequest, RecordedStart,
    RecordedStream, RecordedVerdict, Sha, Step,
};

/// Records a call; how long it took before and after the process would have run.
pub(crate) fn call(journal: &Journal, calls: &mut usize) -> (Duration, Duration) {
    *calls += 1;
    let id = format!("01K{:023}", *calls);
    let session = format!("s{}/chat{}", *calls % 50, *calls % 3);
    let start = Instant::now();
    journal.begin(&id, &session, asked(), vec![Step::Started(started())]).unwrap();
    let between = Instant::now();
    journal.append(&id, vec![Step::Ended(ended())]).unwrap();
    (between - start, between.elapsed())
}

fn asked() -> RecordedRequest {
    RecordedRequest {
        dialect: "shellgate".into(),
        text: "cargo test --workspace --all-features 2>&1 | tail -n 50".into(),
        argv: None,
        request: Some(
            r#"{"command":"cargo test --workspace --all-features 2>&1 | tail -n 50","description":"Run tests"}"#.into(),
        ),
        description: Some("Run tests".into()),
        root: "/home/ada/projects/something".into(),
        directory: ".".into(),
        verdict: RecordedVerdict { decision: RecordedDecision::Allow, rules: vec!["core: cargo test".into()], reasons: vec![] },
        wanted: AnswerOptions::default(),
        asker: None,
    }
}

fn started() -> RecordedStart {
    RecordedStart {
        stdout_file: Some("/home/ada/.local/state/shellgate/spool/01K/stdout".into()),
        stderr_file: Some("/home/ada/.local/state/shellgate/spool/01K/stderr".into()),
        ..RecordedStart::default()
    }
}

fn ended() -> RecordedEnd {
    let stream = RecordedStream {
        bytes: 1234,
        spooled: 1234,
        sha256: Some(Sha::of(&[b"x"])),
        ..RecordedStream::default()
    };
    RecordedEnd {
        status: EndStatus::Completed,
        exit_code: Some(0),
        signal: None,
        error: None,
        pid: Some(4711),
        started_at: Some(1_700_000_000_000),
        ended_at: 1_700_000_000_500,
        stdout: stream.clone(),
        stderr: stream,
        job: false,
        times: Vec::new(),
        denials: None,
        omitted_denials: 0,
        shown: None,
        effects: None,
    }
}
