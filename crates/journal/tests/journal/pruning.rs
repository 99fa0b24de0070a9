//! Pruning keeps executions that run or wait, and grants and trust that hold; the chain stays intact.

use std::collections::BTreeMap;

use shellgate_journal::{
    EndStatus, EntryKind, GrantEndCause, GrantScope, Journal, Query, QuestionOutcome, RecordedChoice,
    Retention, SessionGrant, Status, Verification,
};

use crate::support::{answered, asked, ended, intact, journal, question, run, started, trusted};

const ALL: Retention = Retention { since: Some(i64::MAX), bytes: None };

fn prune(journal: &Journal, retention: Retention) -> shellgate_journal::PruneReport {
    journal.prune(retention, &BTreeMap::new()).unwrap()
}

#[test]
fn old_entries_are_removed_and_a_checkpoint_says_so() {
    let (_folder, journal) = journal();
    for id in 1..=9 {
        run(&journal, &id.to_string(), "s", "true");
    }
    let middle = journal.head().unwrap();
    assert_eq!(prune(&journal, Retention { since: Some(0), bytes: None }).entries, 0, "nothing is that old");
    assert_eq!(journal.head().unwrap(), middle, "and nothing says that something happened");

    let pruned = prune(&journal, ALL);
    assert_eq!((pruned.entries, pruned.carried), (27, 0));
    assert_eq!(pruned.executions, ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    let whole = intact(&journal);
    assert_eq!((whole.entries, whole.pruned), (1, Some(middle)));
    assert!(journal.history(&Query::default()).unwrap().is_empty());

    run(&journal, "10", "s", "true");
    prune(&journal, ALL);
    assert_eq!(intact(&journal).entries, 1, "of two checkpoints the newer one counts");
}

#[test]
fn retention_is_made_from_days_and_megabytes() {
    let retention = Retention::new(100 * 86_400_000, 30, 2);
    assert_eq!((retention.since, retention.bytes), (Some(70 * 86_400_000), Some(2_000_000)));
}

#[test]
fn an_execution_that_runs_or_waits_keeps_all_its_entries() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("server"), vec![started()]).unwrap();
    journal.begin("2", "s", asked("git push"), vec![]).unwrap();
    let question = journal.ask("2", question("asker", None)).unwrap();
    run(&journal, "3", "s", "over");
    let (server, push) = (journal.execution("1").unwrap(), journal.execution("2").unwrap());

    for round in 0..3 {
        let pruned = prune(&journal, ALL);
        assert_eq!(pruned.executions.as_slice(), if round == 0 { &["3"] as &[_] } else { &[] });
        assert_eq!(pruned.carried, 4);
        intact(&journal);
    }
    assert_eq!((journal.execution("1").unwrap(), journal.execution("2").unwrap()), (server, push));
    let entries = journal.entries_of("2").unwrap();
    assert_eq!(entries.iter().map(|entry| entry.carried.unwrap()).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(journal.pending().unwrap()[0].id, question, "a question keeps its name");

    journal.append("1", vec![ended(EndStatus::Completed)]).unwrap();
    assert_eq!(journal.execution("1").unwrap().unwrap().status, Status::Completed);
    journal.answer(question, answered(RecordedChoice::Once, "ann"), vec![]).unwrap();
    assert!(matches!(journal.poll_answer(question).unwrap(), Some(QuestionOutcome::Answered(_))));
    prune(&journal, ALL);
    assert!(
        matches!(journal.poll_answer(question).unwrap(), Some(QuestionOutcome::Answered(_))),
        "its asker may still look"
    );
    journal.append("2", vec![started(), ended(EndStatus::Completed)]).unwrap();
    intact(&journal);
    assert_eq!(prune(&journal, ALL).executions, ["2"]);
    assert_eq!(intact(&journal).entries, 1);
}

#[test]
fn an_execution_is_removed_with_its_last_entry() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("long"), vec![started()]).unwrap();
    for id in 2..10 {
        run(&journal, &id.to_string(), "s", "short");
    }
    let cut = journal.head().unwrap().seq;
    journal.append("1", vec![ended(EndStatus::Completed)]).unwrap();
    let long = journal.execution("1").unwrap();
    // By size, so that pruning ends between the first and the last entry of the long execution.
    let spools = BTreeMap::from([("9".to_owned(), 1_000_000_000)]);
    let pruned = journal.prune(Retention { since: None, bytes: Some(500_000_000) }, &spools).unwrap();
    assert_eq!((pruned.entries, pruned.carried), (cut, 3));
    assert_eq!(pruned.executions, ["2", "3", "4", "5", "6", "7", "8", "9"]);
    assert_eq!(journal.execution("1").unwrap(), long);
    let kinds: Vec<_> = journal.entries_of("1").unwrap().iter().map(|entry| entry.kind).collect();
    assert_eq!(
        kinds,
        [EntryKind::Asked, EntryKind::Started, EntryKind::Ended],
        "each once, though the end is there twice"
    );
    assert_eq!(intact(&journal).entries, 1 + 3 + 1);
    // The first copy of the end is removed, and the execution stays.
    let pruned = journal.prune(Retention { since: None, bytes: Some(1) }, &BTreeMap::new()).unwrap();
    assert_eq!(pruned.executions, ["1"]);
    intact(&journal);
}

#[test]
fn pruning_by_size_counts_known_spools_and_stops_when_it_fits() {
    let (_folder, journal) = journal();
    for id in 1..=4 {
        run(&journal, &id.to_string(), "s", "true");
    }
    journal.begin("5", "s", asked("server"), vec![started()]).unwrap();
    let mut spools: BTreeMap<_, _> = (1..=5).map(|id| (id.to_string(), 1_000_000_u64)).collect();
    spools.insert("stranger".into(), 1_000_000_000);
    let keep = |bytes| Retention { since: None, bytes: Some(bytes) };
    assert_eq!(journal.prune(keep(5_500_000), &spools).unwrap().entries, 0);
    assert_eq!(journal.prune(keep(3_500_000), &spools).unwrap().executions, ["1", "2"]);
    spools.retain(|id, _| id != "1" && id != "2");
    let pruned = journal.prune(keep(10), &spools).unwrap();
    assert_eq!(pruned.executions, ["3", "4"], "what runs is never in the list");
    assert_eq!(journal.open_executions().unwrap().len(), 1);
    intact(&journal);
}

#[test]
fn grants_and_trust_outlive_the_entries_before_them() {
    let (_folder, journal) = journal();
    journal.begin("1", "s", asked("git push"), vec![]).unwrap();
    let id = journal.ask("1", question("asker", None)).unwrap();
    let grant = |expires_at| SessionGrant {
        root: "/".into(),
        directory: ".".into(),
        scope: GrantScope::Prefix(vec!["git".into(), "push".into()]),
        expires_at,
    };
    let grants = vec![grant(None), grant(Some(1000))];
    journal.answer(id, answered(RecordedChoice::SessionExact, "ann"), grants).unwrap();
    journal.append("1", vec![started(), ended(EndStatus::Completed)]).unwrap();
    journal.trust(trusted("a")).unwrap();
    journal.trust(trusted("a")).unwrap();
    for _ in 0..2 {
        let pruned = prune(&journal, ALL);
        assert_eq!(pruned.carried, 2, "one grant has ended, one trust was given twice");
        let held = journal.grants("s", "/", ".", 0).unwrap();
        assert_eq!(held.into_iter().map(|held| held.grant).collect::<Vec<_>>(), [grant(None)]);
        assert!(journal.is_trusted(&trusted("a").path, trusted("a").sha256).unwrap());
        assert!(journal.execution("1").unwrap().is_none());
        intact(&journal);
    }
}

#[test]
fn the_end_of_a_grant_stays_while_the_grant_does() {
    let (_folder, journal) = journal();
    // It runs on, so all that belongs to it stays.
    journal.begin("1", "s", asked("git push"), vec![]).unwrap();
    let id = journal.ask("1", question("asker", None)).unwrap();
    let scope = GrantScope::Prefix(vec!["git".into(), "push".into()]);
    let grant = SessionGrant { root: "/".into(), directory: ".".into(), scope, expires_at: None };
    journal.answer(id, answered(RecordedChoice::SessionExact, "ann"), vec![grant.clone(), grant]).unwrap();
    journal.append("1", vec![started()]).unwrap();
    let (first, second) = match journal.grants_in_force(0).unwrap().as_slice() {
        [first, second] => (first.id, second.id),
        other => panic!("{other:?}"),
    };
    let revoke = |id| journal.end_grants(0, GrantEndCause::Revoked, "ann", |held| held.id == id).unwrap();
    // One is ended before pruning moves the grants, one after.
    revoke(first);
    for round in 0..4 {
        prune(&journal, ALL);
        intact(&journal);
        if round == 1 {
            revoke(second);
        }
        let held: Vec<_> = journal.grants_in_force(0).unwrap().iter().map(|held| held.id).collect();
        assert_eq!(held, if round == 0 { vec![second] } else { vec![] }, "{round}");
        assert!(journal.grant_end(first).unwrap().is_some());
    }
    journal.append("1", vec![ended(EndStatus::Completed)]).unwrap();
    prune(&journal, ALL);
    assert_eq!(journal.grant_end(first).unwrap(), None, "both are gone");
    assert_eq!(journal.grants_in_force(0).unwrap(), []);
    intact(&journal);
}

#[test]
fn a_large_pruning_works_in_batches_that_let_others_write() {
    let (folder, journal) = journal();
    for id in 0..1500 {
        run(&journal, &format!("{id:05}"), &format!("s/{}", id % 7), "true");
    }
    let pruned = std::thread::scope(|scope| {
        let pruning = scope.spawn(|| prune(&journal, ALL));
        let other = Journal::open(folder.path()).unwrap();
        for id in 1500..1600 {
            run(&other, &format!("{id:05}"), "s", "true");
        }
        pruning.join().unwrap()
    });
    assert!(pruned.executions.len() >= 1500, "{}", pruned.executions.len());
    intact(&journal);
    let left = journal.history(&Query::default()).unwrap().len();
    assert_eq!(pruned.executions.len() + left, 1600, "each is here or named as gone");
}

#[test]
fn an_anchor_that_was_pruned_proves_nothing() {
    let (_folder, journal) = journal();
    run(&journal, "1", "s", "true");
    let old = journal.head().unwrap();
    run(&journal, "2", "s", "true");
    let last = journal.head().unwrap();
    prune(&journal, ALL);
    let Verification::Broken(broken) = journal.verify_with_head(old).unwrap() else {
        panic!("proved nothing")
    };
    insta::assert_snapshot!(broken, @"entry 6: the chain begins after it; entry 3, which was anchored, was pruned and can't be compared");
    assert!(
        matches!(journal.verify_with_head(last).unwrap(), Verification::Intact(_)),
        "this one is in the checkpoint"
    );
}
