//! Shared by the tests: entries to append, and journals to append them to.

use std::path::Path;
use std::process::{Child, Command};

use shellgate_journal::{
    ApprovalChannel, EndStatus, Intact, Journal, LossCause, Note, PersonAnswer, ProcessIdentity,
    RecordedChoice, RecordedDecision, RecordedEnd, RecordedError, RecordedLoss, RecordedPart,
    RecordedQuestion, RecordedRequest, RecordedStart, RecordedStdin, RecordedStream, RecordedVerdict, Sha,
    Step, TrustedFile, Verification,
};
use tempfile::TempDir;

pub(crate) fn journal() -> (TempDir, Journal) {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    (folder, journal)
}

pub(crate) fn asked(text: &str) -> RecordedRequest {
    RecordedRequest {
        dialect: "shellgate".into(),
        text: text.into(),
        argv: None,
        request: Some(format!("{{\"command\":{text:?}}}")),
        description: None,
        root: "/root".into(),
        directory: ".".into(),
        verdict: RecordedVerdict {
            decision: RecordedDecision::Allow,
            rules: vec!["core: *".into()],
            reasons: vec![],
        },
        wanted: shellgate_journal::AnswerOptions::default(),
        asker: Some(ProcessIdentity("asker".into())),
    }
}

pub(crate) fn started() -> Step {
    Step::Started(RecordedStart {
        caller: Some(ProcessIdentity("caller".into())),
        stdout_file: Some("spool/stdout".into()),
        ..RecordedStart::default()
    })
}

pub(crate) fn ended(status: EndStatus) -> Step {
    Step::Ended(RecordedEnd {
        status,
        exit_code: (status == EndStatus::Completed).then_some(0),
        signal: None,
        error: None,
        pid: Some(4711),
        started_at: Some(1000),
        ended_at: 2000,
        stdout: RecordedStream {
            bytes: 3,
            spooled: 3,
            sha256: Some(Sha::of(&[b"hi\n"])),
            file: Some("spool/stdout".into()),
            text: None,
        },
        stderr: RecordedStream::default(),
        job: false,
        times: Vec::new(),
        denials: None,
        omitted_denials: 0,
        shown: None,
        effects: None,
    })
}

pub(crate) fn refused() -> Step {
    Step::Refused(RecordedError {
        code: "denied_by_policy".into(),
        message: "no".into(),
        ..RecordedError::default()
    })
}

pub(crate) fn closed(how: LossCause) -> Step {
    Step::Closed(RecordedLoss { how, stdout: None, stderr: None })
}

pub(crate) fn note(text: &str) -> Step {
    Step::Note(Note { text: text.into() })
}

pub(crate) fn question(asker: &str, expires_at: Option<i64>) -> RecordedQuestion {
    RecordedQuestion {
        parts: vec![RecordedPart {
            text: "git push".into(),
            argv: vec![Some("git".into()), Some("push".into()), None],
            reason: "publishes".into(),
            span: Some((0, 8)),
        }],
        prefixes: vec![vec!["git".into(), "push".into()]],
        exact: None,
        always: None,
        always_exact: None,
        grant_until: None,
        env: [("X".to_owned(), "1".to_owned())].into(),
        input: Some(RecordedStdin::Text("in".into())),
        background: true,
        effects: vec!["writes `x`".into()],
        reach: vec!["writes /root".into()],
        asker: ProcessIdentity(asker.into()),
        expires_at,
    }
}

pub(crate) fn answered(choice: RecordedChoice, by: &str) -> PersonAnswer {
    PersonAnswer { choice, by: by.into(), channel: ApprovalChannel::Queue }
}

pub(crate) fn trusted(content: &str) -> TrustedFile {
    TrustedFile {
        path: "/root/.shellgate.toml".into(),
        sha256: Sha::of(&[content.as_bytes()]),
        by: "me".into(),
    }
}

/// Records a call that ran.
pub(crate) fn run(journal: &Journal, id: &str, session: &str, text: &str) {
    journal.begin(id, session, asked(text), vec![started()]).unwrap();
    journal.append(id, vec![ended(EndStatus::Completed)]).unwrap();
}

pub(crate) fn intact(journal: &Journal) -> Intact {
    match journal.verify().unwrap() {
        Verification::Intact(intact) => intact,
        Verification::Broken(broken) => panic!("{broken}"),
    }
}

const ROLE: &str = "JOURNAL_TEST_ROLE";
const FOLDER: &str = "JOURNAL_TEST_FOLDER";

/// Runs the test `name` again in a child process, which gets its role and the folder from [`role`].
pub(crate) fn child(name: &str, role: &str, folder: &Path) -> Child {
    command(Command::new(std::env::current_exe().unwrap()), name, role, folder).spawn().unwrap()
}

/// The command for [`child`], below a program that first prepares the folder, say with a mount.
pub(crate) fn command(mut command: Command, name: &str, role: &str, folder: &Path) -> Command {
    command.args(["--exact", name, "--nocapture"]).env(ROLE, role).env(FOLDER, folder);
    command
}

/// The role and the folder of this process, if [`child`] started it.
pub(crate) fn role() -> Option<(String, std::path::PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var_os(FOLDER)?.into()))
}
