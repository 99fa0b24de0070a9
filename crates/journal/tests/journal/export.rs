//! The export, and verifying it with another program.

use std::io::Write as _;
use std::process::{Command, Stdio};

use shellgate_journal::{GrantScope, Journal, LossCause, RecordedChoice, Retention, SessionGrant};

use crate::support::{answered, asked, closed, journal, note, question, refused, run, started, trusted};

fn fill(journal: &Journal) {
    run(journal, "01", "s", "goes");
    journal.begin("02", "s/chat", asked("git push \"é\u{1b}[0m\n\u{7f}\u{2028}\""), vec![]).unwrap();
    journal.prune(Retention { since: Some(i64::MAX), bytes: None }, &Default::default()).unwrap();
    let id = journal.ask("02", question("asker", Some(5))).unwrap();
    let scope = GrantScope::Exact { text: "git push".into(), argv: None };
    let grant = SessionGrant { root: "/".into(), directory: ".".into(), scope, expires_at: None };
    journal
        .answer(id, answered(RecordedChoice::SessionPrefix(vec![vec!["git".into()]]), "ann"), vec![grant])
        .unwrap();
    journal.append("02", vec![started(), closed(LossCause::KeeperLost)]).unwrap();
    journal.begin("03", "s", asked("rm"), vec![refused(), note("odd")]).unwrap();
    journal.trust(trusted("a")).unwrap();
    run(journal, "04", "s", "secret");
    journal.forget("04", "me").unwrap();
}

fn export(journal: &Journal) -> String {
    let mut out = Vec::new();
    let count = journal.export(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count() as u64, count);
    text
}

#[test]
fn the_export_is_json_lines_in_this_form() {
    let (_folder, journal) = journal();
    fill(&journal);
    insta::with_settings!({filters => vec![
        (r#""[0-9a-f]{64}""#, r#""[sha256]""#),
        (r#""salt":"[0-9a-f]{32}""#, r#""salt":"[salt]""#),
        (r#""at":[0-9]{13}"#, r#""at":[now]"#),
    ]}, {
        insta::assert_snapshot!(export(&journal));
    });
}

/// The program that `docs/journal.md` shows.
fn verify_elsewhere(export: &str) -> (Option<i32>, String) {
    let page = include_str!("../../../../docs/journal.md");
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let mut python = Command::new("python3");
    python.args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut python = python.spawn().unwrap();
    python.stdin.take().unwrap().write_all(export.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn another_program_can_verify_an_export() {
    let (_folder, journal) = journal();
    fill(&journal);
    let text = export(&journal);
    let (code, said) = verify_elsewhere(&text);
    assert_eq!((code, said.trim()), (Some(0), journal.head().unwrap().to_string().as_str()));

    for (from, to) in
        [("\"rm\"", "\"ls\""), ("s/chat", "s/tach"), ("\"kind\":\"note\"", "\"kind\":\"asked\"")]
    {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        let (code, said) = verify_elsewhere(&changed);
        assert_eq!(code, Some(1), "{from}: {said}");
    }
}

#[test]
fn a_closed_output_is_an_error_and_not_a_panic() {
    struct Gone;
    impl std::io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (_folder, journal) = journal();
    fill(&journal);
    let error = journal.export(&mut Gone).unwrap_err();
    assert_eq!(error.to_string(), "the export can't be written: broken pipe");
}
