//! Reading past executions.

use shellgate_journal::{EndStatus, Journal, Query, Status, session_contains};

use crate::support::{asked, ended, intact, journal, refused, run, started};

fn ids(journal: &Journal, query: &Query) -> String {
    let found = journal.history(query).unwrap();
    found.iter().map(|execution| execution.id.as_str()).collect::<Vec<_>>().join(" ")
}

fn of(session: &str) -> Query {
    Query { session: Some(session.into()), ..Query::default() }
}

fn with(text: &str) -> Query {
    Query { containing: Some(text.into()), ..Query::default() }
}

#[test]
fn a_session_includes_its_chats_and_no_other_sessions() {
    let (_folder, journal) = journal();
    let sessions =
        [("1", "A"), ("2", "A/b"), ("3", "A/b/c"), ("4", "AB"), ("5", "A0"), ("6", "A."), ("7", "a")];
    for (id, session) in sessions {
        run(&journal, id, session, "true");
    }
    assert_eq!(ids(&journal, &of("A")), "3 2 1");
    assert_eq!(ids(&journal, &of("A/b")), "3 2");
    assert_eq!(ids(&journal, &of("A/")), "");
    assert_eq!(ids(&journal, &of("%")), "", "no pattern");
    assert_eq!(ids(&journal, &Query::default()), "7 6 5 4 3 2 1");
}

/// The journal decides it in SQL, everything else by the function.
#[test]
fn a_query_finds_the_sessions_that_a_session_contains() {
    let (_folder, journal) = journal();
    let names = [
        "A", "A/", "A//", "A/b", "A/b/", "A/b/c", "A/bc", "AB", "A0", "A.", "a", "/A", "/A/b", "ä", "ä/b",
        "%",
    ];
    for (at, name) in names.iter().enumerate() {
        run(&journal, &format!("X{at:02}"), name, "true");
    }
    for session in names {
        let contained = names.iter().enumerate().filter(|(_, name)| session_contains(session, name));
        let mut contained: Vec<String> = contained.map(|(at, _)| format!("X{at:02}")).collect();
        assert_eq!(journal.names("X", Some(session), 100).unwrap(), contained, "{session}");
        contained.reverse();
        assert_eq!(ids(&journal, &of(session)), contained.join(" "), "{session}");
    }
    assert_eq!(journal.names("X", None, 100).unwrap().len(), names.len());
    assert!(journal.names("Y", Some("A"), 100).unwrap().is_empty());
}

#[test]
fn history_filters_by_state_and_time_and_gives_pages() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("x"), vec![]).unwrap();
    journal.begin("2", "s", asked("x"), vec![refused()]).unwrap();
    journal.begin("3", "s", asked("x"), vec![started()]).unwrap();
    journal.begin("4", "s", asked("x"), vec![started(), ended(EndStatus::Failed)]).unwrap();
    run(&journal, "5", "s", "x");
    let statuses = |statuses: &[Status]| Query { statuses: statuses.to_vec(), ..Query::default() };
    assert_eq!(ids(&journal, &statuses(&[Status::Failed, Status::Refused])), "4 2");
    assert_eq!(ids(&journal, &statuses(&[Status::Running])), "3");
    assert_eq!(ids(&journal, &statuses(&[Status::Lost])), "");

    let first = Query { limit: 2, ..Query::default() };
    assert_eq!(ids(&journal, &first), "5 4");
    assert_eq!(ids(&journal, &Query { before: Some("4".into()), ..first.clone() }), "3 2");
    assert_eq!(ids(&journal, &Query { before: Some("2".into()), ..first }), "1");

    let at = journal.execution("3").unwrap().unwrap().at;
    assert_eq!(ids(&journal, &Query { until: Some(at - 10_000), ..Query::default() }), "");
    assert_eq!(ids(&journal, &Query { since: Some(at + 10_000), ..Query::default() }), "");
    assert_eq!(
        ids(&journal, &Query { since: Some(at - 10_000), until: Some(at + 10_000), ..Query::default() }),
        "5 4 3 2 1"
    );
}

#[test]
fn history_finds_text_as_it_was_typed() {
    let (_folder, journal) = journal();
    run(&journal, "1", "s", "echo \"a\\b\"\n\techo é; rm -rf 100%_");
    run(&journal, "2", "s", "true");
    for part in ["\"a\\b\"", "\n\techo", "é;", "100%_", "rm -rf"] {
        assert_eq!(ids(&journal, &with(part)), "1", "{part:?}");
    }
    // In the JSON of the body, or by its escapes, but not in the command.
    for part in ["shellgate", "core", "\\n", "u0009", "RM", "100%%", "command"] {
        assert_eq!(ids(&journal, &with(part)), "", "{part:?}");
    }
    assert_eq!(
        ids(&journal, &Query { limit: 1, ..with("t") }),
        "2",
        "what doesn't match takes no place on a page"
    );
}

#[test]
fn readers_and_writers_do_not_wait_for_each_other() {
    let (folder, journal) = journal();
    run(&journal, "1", "s", "true");
    let other = rusqlite::Connection::open(folder.path().join("journal.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM entries").unwrap();
    assert_eq!(ids(&journal, &Query::default()), "1");
    assert_eq!(intact(&journal).entries, 3);
    other.execute_batch("ROLLBACK; BEGIN; SELECT * FROM entries").unwrap();
    run(&journal, "2", "s", "true");
    assert_eq!(ids(&journal, &Query::default()), "2 1");
}
