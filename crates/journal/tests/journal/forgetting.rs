//! Forgetting removes the content and leaves the chain intact.

use shellgate_journal::{EntryKind, Error, GrantScope, Query, RecordedChoice, SessionGrant, Status};

use crate::support::{answered, asked, intact, journal, question, refused, run, started};

const SECRET: &str = "hunter2-correct-horse";

fn on_disk(folder: &std::path::Path) -> bool {
    let files = std::fs::read_dir(folder).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()))
}

#[test]
fn the_content_is_gone_and_the_chain_is_whole() {
    let (folder, journal) = journal();
    run(&journal, "1", "s", "before");
    // Long enough to need pages of its own, too.
    let long = format!("login {SECRET} {}", SECRET.repeat(1000));
    run(&journal, "2", "s", &long);
    run(&journal, "3", "s", "after");
    assert!(on_disk(folder.path()), "it was there");
    let head = journal.head().unwrap();

    let forgotten = journal.forget("2", "me").unwrap();
    assert!(forgotten.erased);
    assert_eq!(forgotten.entries, 3);
    assert!(!on_disk(folder.path()));
    assert_eq!(intact(&journal).forgotten, 3);
    assert!(matches!(journal.verify_with_head(head).unwrap(), shellgate_journal::Verification::Intact(_)));

    let entries = journal.entries_of("2").unwrap();
    assert_eq!(entries.last().unwrap().kind, EntryKind::Tombstone);
    assert!(entries.iter().all(|entry| entry.body.is_none() == (entry.kind != EntryKind::Tombstone)));
    let execution = journal.execution("2").unwrap().unwrap();
    assert_eq!((execution.status, execution.asked), (Status::Forgotten, None));
    let found = journal.history(&Query { containing: Some("login".into()), ..Query::default() }).unwrap();
    assert!(found.is_empty());
    assert_eq!(journal.history(&Query::default()).unwrap().len(), 3);
    assert!(matches!(journal.forget("2", "me"), Err(Error::UnknownExecution { .. })), "once");
    run(&journal, "4", "s", "later");
    intact(&journal);
}

#[test]
fn an_execution_without_an_end_is_not_forgotten() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("x"), vec![]).unwrap();
    journal.begin("2", "s", asked("x"), vec![started()]).unwrap();
    for id in ["1", "2"] {
        assert!(matches!(journal.forget(id, "me"), Err(Error::StillOpen { .. })));
        assert!(journal.execution(id).unwrap().unwrap().asked.is_some());
    }
    assert!(matches!(journal.forget("3", "me"), Err(Error::UnknownExecution { .. })));
}

#[test]
fn the_grants_of_a_forgotten_execution_end() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("git push"), vec![]).unwrap();
    let id = journal.ask("1", question("asker", None)).unwrap();
    let scope = GrantScope::Exact { text: "git push".into(), argv: None };
    let grant = SessionGrant { root: "/".into(), directory: ".".into(), scope, expires_at: None };
    journal.answer(id, answered(RecordedChoice::SessionExact, "ann"), vec![grant]).unwrap();
    journal.append("1", vec![refused()]).unwrap();
    assert_eq!(journal.grants("s", "/", ".", 0).unwrap().len(), 1);
    journal.forget("1", "me").unwrap();
    assert_eq!(journal.grants("s", "/", ".", 0).unwrap(), []);
    assert!(matches!(journal.poll_answer(id), Err(Error::UnknownQuestion(_))));
    intact(&journal);
}
