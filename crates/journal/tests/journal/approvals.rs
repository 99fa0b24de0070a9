//! Questions, answers, grants and trust.

use std::sync::Barrier;

use shellgate_journal::{
    AnswerResult, AskerState, EndedGrant, EntryBody, EntryKind, Error, GrantEndCause, GrantId, GrantScope,
    Journal, LossCause, ProcessIdentity, QuestionId, QuestionOutcome, RecordedChoice, SessionGrant,
};

use crate::support::{answered, asked, closed, intact, journal, question, trusted};

fn ask(journal: &Journal, id: &str) -> QuestionId {
    journal.begin(id, "s", asked("git push"), vec![]).unwrap();
    journal.ask(id, question("asker", None)).unwrap()
}

#[test]
fn the_first_answer_counts_and_the_second_is_told() {
    let (_folder, journal) = journal();
    let id = ask(&journal, "1");
    assert_eq!(journal.poll_answer(id).unwrap(), None);
    let first = answered(RecordedChoice::Once, "ann");
    assert!(matches!(journal.answer(id, first.clone(), vec![]).unwrap(), AnswerResult::Taken(_)));
    let second = journal.answer(id, answered(RecordedChoice::No, "bob"), vec![]).unwrap();
    assert_eq!(second, AnswerResult::TooLate(QuestionOutcome::Answered(first.clone())));
    assert_eq!(journal.poll_answer(id).unwrap(), Some(QuestionOutcome::Answered(first)));
    intact(&journal);
}

#[test]
fn of_many_answers_at_once_one_counts() {
    let (folder, journal) = journal();
    for round in 0..20 {
        let id = ask(&journal, &format!("{round:02}"));
        let barrier = Barrier::new(4);
        let takers: Vec<_> = std::thread::scope(|scope| {
            let answer = |name: usize| {
                let journal = Journal::open(folder.path()).unwrap();
                barrier.wait();
                let choice = if name.is_multiple_of(2) { RecordedChoice::Once } else { RecordedChoice::No };
                (name, journal.answer(id, answered(choice, &name.to_string()), vec![]).unwrap())
            };
            let threads: Vec<_> = (0..4).map(|name| scope.spawn(move || answer(name))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let Some(QuestionOutcome::Answered(winner)) = journal.poll_answer(id).unwrap() else {
            panic!("no answer")
        };
        for (name, answering) in takers {
            match answering {
                AnswerResult::Taken(_) => assert_eq!(winner.by, name.to_string()),
                AnswerResult::TooLate(QuestionOutcome::Answered(told)) => assert_eq!(told, winner),
                AnswerResult::TooLate(other) => panic!("{other:?}"),
            }
        }
    }
    intact(&journal);
}

#[test]
fn questions_survive_a_restart_with_all_their_content() {
    let (folder, journal) = journal();
    let id = ask(&journal, "1");
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    let queue = journal.pending().unwrap();
    assert_eq!(queue.len(), 1);
    assert_eq!((queue[0].id, queue[0].exec_id.as_str(), queue[0].session.as_str()), (id, "1", "s"));
    assert_eq!(queue[0].asked, asked("git push"));
    assert_eq!(queue[0].question, question("asker", None));
}

#[test]
fn a_question_that_timed_out_says_so_and_takes_no_answer() {
    let (_folder, journal) = journal();
    let id = ask(&journal, "1");
    assert!(matches!(journal.time_out(id).unwrap(), AnswerResult::Taken(_)));
    assert_eq!(journal.pending().unwrap(), []);
    let late = journal.answer(id, answered(RecordedChoice::Once, "ann"), vec![]).unwrap();
    assert_eq!(late, AnswerResult::TooLate(QuestionOutcome::TimedOut));
    let other = ask(&journal, "2");
    let yes = answered(RecordedChoice::Once, "ann");
    journal.answer(other, yes.clone(), vec![]).unwrap();
    assert_eq!(journal.time_out(other).unwrap(), AnswerResult::TooLate(QuestionOutcome::Answered(yes)));
    intact(&journal);
}

#[test]
fn an_answer_has_the_hash_of_its_question() {
    let (_folder, journal) = journal();
    let id = ask(&journal, "1");
    journal.answer(id, answered(RecordedChoice::NoBecause("not today".into()), "ann"), vec![]).unwrap();
    let entries = journal.entries_of("1").unwrap();
    let Some(EntryBody::Answer(answer)) = &entries[2].body else { panic!("{entries:?}") };
    assert_eq!((answer.question, answer.question_hash), (QuestionId(entries[1].seq), entries[1].hash));
}

#[test]
fn questions_are_closed_when_they_expire_or_their_asker_or_execution_ends() {
    let (_folder, journal) = journal();
    let mut ids = Vec::new();
    for (id, asker, expires_at) in [
        ("1", "unseen", Some(50)),
        ("2", "unseen", Some(100)),
        ("3", "dead", None),
        ("4", "alive", None),
        ("5", "alive", None),
        ("6", "alive", Some(50)),
    ] {
        journal.begin(id, "s", asked("x"), vec![]).unwrap();
        ids.push(journal.ask(id, question(asker, expires_at)).unwrap());
    }
    let alive = |owner: &ProcessIdentity| match owner.0.as_str() {
        "alive" => AskerState::Alive,
        "unseen" => AskerState::Unknown,
        _ => AskerState::Gone,
    };
    assert_eq!(
        journal.expire(50, alive).unwrap(),
        [(ids[0], QuestionOutcome::TimedOut), (ids[2], QuestionOutcome::AskerGone)]
    );
    assert_eq!(journal.expire(50, alive).unwrap(), [], "once");
    journal.append("4", vec![closed(LossCause::NeverStarted)]).unwrap();
    journal.cancel(ids[4]).unwrap();
    assert_eq!(journal.poll_answer(ids[0]).unwrap(), Some(QuestionOutcome::TimedOut));
    assert_eq!(journal.poll_answer(ids[3]).unwrap(), Some(QuestionOutcome::Canceled));
    assert_eq!(journal.poll_answer(ids[4]).unwrap(), Some(QuestionOutcome::Canceled));
    assert_eq!(
        journal.pending().unwrap().iter().map(|pending| pending.id).collect::<Vec<_>>(),
        [ids[1], ids[5]]
    );
    let late = journal.answer(ids[0], answered(RecordedChoice::Once, "ann"), vec![]).unwrap();
    assert_eq!(late, AnswerResult::TooLate(QuestionOutcome::TimedOut));
    intact(&journal);
}

#[test]
fn an_answer_is_seen_at_once_by_another_connection() {
    let (folder, journal) = journal();
    let id = ask(&journal, "1");
    let waiting = Journal::open(folder.path()).unwrap();
    assert_eq!(waiting.poll_answer(id).unwrap(), None);
    journal.answer(id, answered(RecordedChoice::Once, "ann"), vec![]).unwrap();
    assert!(waiting.poll_answer(id).unwrap().is_some());
}

#[test]
fn answering_an_unknown_question_is_an_error() {
    let (_folder, journal) = journal();
    let error = journal.answer(QuestionId(7), answered(RecordedChoice::Once, "ann"), vec![]).unwrap_err();
    assert_eq!(error.to_string(), "no question `7` is in the journal");
    assert!(matches!(journal.poll_answer(QuestionId(7)), Err(Error::UnknownQuestion(QuestionId(7)))));
    assert!(matches!(journal.ask("1", question("asker", None)), Err(Error::UnknownExecution { .. })));
}

fn grant(directory: &str, expires_at: Option<i64>) -> SessionGrant {
    SessionGrant {
        root: "/root".into(),
        directory: directory.into(),
        scope: GrantScope::Prefix(vec!["git".into(), "push".into()]),
        expires_at,
    }
}

#[test]
fn grants_hold_in_their_session_root_and_directory_until_they_end() {
    let (_folder, journal) = journal();
    let id = ask(&journal, "1");
    let grants = vec![grant(".", None), grant("src", None), grant(".", Some(100))];
    journal.answer(id, answered(RecordedChoice::SessionExact, "ann"), grants.clone()).unwrap();
    let loser = journal
        .answer(id, answered(RecordedChoice::SessionExact, "bob"), vec![grant("other", None)])
        .unwrap();
    assert!(matches!(loser, AnswerResult::TooLate(_)));

    let held = |session, root, directory, now| journal.grants(session, root, directory, now).unwrap().len();
    let src = journal.grants("s", "/root", "src", 0).unwrap();
    assert_eq!(src.iter().map(|held| &held.grant).collect::<Vec<_>>(), [&grant("src", None)]);
    assert_eq!(held("s", "/root", ".", 99), 2);
    assert_eq!(held("s", "/root", ".", 100), 1, "one has ended");
    assert_eq!(held("s", "/root", "other", 0), 0, "who came second grants nothing");
    assert_eq!(held("s/chat", "/root", ".", 0), 0);
    assert_eq!(held("s", "/", ".", 0), 0);
    intact(&journal);
}

/// A journal in which question 1 has given a grant for `.` and one for `src`, of the session `s`.
fn granted() -> (tempfile::TempDir, Journal) {
    let (folder, journal) = journal();
    let id = ask(&journal, "1");
    let grants = vec![grant(".", None), grant("src", None)];
    journal.answer(id, answered(RecordedChoice::SessionExact, "ann"), grants).unwrap();
    (folder, journal)
}

#[test]
fn a_grant_without_a_time_of_its_own_ends_after_twelve_hours() {
    let (_folder, journal) = granted();
    let held = journal.grants_in_force(0).unwrap();
    let end = held[0].ends_at();
    assert_eq!((held.len(), end - held[0].at), (2, 12 * 3_600_000));
    assert_eq!(journal.grants("s", "/root", ".", end - 1).unwrap().len(), 1);
    assert_eq!(journal.grants("s", "/root", ".", end).unwrap().len(), 0);
}

#[test]
fn a_grant_that_was_ended_holds_no_more_and_stays_in_the_record() {
    let (folder, journal) = granted();
    let held = journal.grants_in_force(0).unwrap();
    let (id, other) = (held[0].id, held[1].id);
    let revoke = |wanted: GrantId| {
        let ended = journal.end_grants(0, GrantEndCause::Revoked, "bob", |held| held.id == wanted).unwrap();
        ended.into_iter().map(|held| held.id).collect::<Vec<_>>()
    };
    assert_eq!(journal.grant_end(id).unwrap(), None);
    assert_eq!(revoke(id), [id]);
    assert_eq!(revoke(id), [], "it has ended before");
    assert_eq!(revoke(GrantId(999)), []);
    assert_eq!(journal.grants_in_force(0).unwrap().iter().map(|held| held.id).collect::<Vec<_>>(), [other]);
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    assert_eq!(journal.grants("s", "/root", ".", 0).unwrap(), []);
    let (_, ended) = journal.grant_end(id).unwrap().unwrap();
    assert_eq!(ended, EndedGrant { grant: id, cause: GrantEndCause::Revoked, by: "bob".into() });
    let kinds: Vec<EntryKind> = journal.entries_of("1").unwrap().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds[kinds.len() - 3..], [EntryKind::Grant, EntryKind::Grant, EntryKind::GrantEnded]);
    intact(&journal);
}

#[test]
fn trust_is_for_one_content_of_one_file() {
    let (folder, journal) = journal();
    journal.trust(trusted("a")).unwrap();
    journal.trust(trusted("a")).unwrap();
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    let (a, b) = (trusted("a"), trusted("b"));
    assert!(journal.is_trusted(&a.path, a.sha256).unwrap());
    assert!(!journal.is_trusted(&b.path, b.sha256).unwrap());
    assert!(!journal.is_trusted("/elsewhere", a.sha256).unwrap());
    intact(&journal);
}
