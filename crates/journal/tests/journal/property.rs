//! Random operations in random order: the journal stays intact and agrees with a simple model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use shellgate_journal::{
    EndStatus, GrantEndCause, GrantScope, Head, Journal, Query, RecordedChoice, Retention, SessionGrant,
    Status, Verification,
};

use crate::support::{answered, asked, ended, intact, question, refused, started, trusted};

#[derive(Clone, Debug)]
enum Act {
    Begin { session: u8, length: u16 },
    Start(prop::sample::Index),
    End(prop::sample::Index),
    Refuse(prop::sample::Index),
    Ask(prop::sample::Index),
    Answer(prop::sample::Index, bool),
    Revoke(prop::sample::Index),
    Forget(prop::sample::Index),
    Trust(u8),
    Prune(prop::sample::Index),
    PruneAll,
    Reopen,
}

fn act() -> impl Strategy<Value = Act> {
    use prop::sample::Index;
    prop_oneof![
        4 => (0..4_u8, 0..6000_u16).prop_map(|(session, length)| Act::Begin { session, length }),
        3 => any::<Index>().prop_map(Act::Start),
        4 => any::<Index>().prop_map(Act::End),
        1 => any::<Index>().prop_map(Act::Refuse),
        2 => any::<Index>().prop_map(Act::Ask),
        2 => (any::<Index>(), any::<bool>()).prop_map(|(index, grants)| Act::Answer(index, grants)),
        2 => any::<Index>().prop_map(Act::Revoke),
        1 => any::<Index>().prop_map(Act::Forget),
        1 => (0..3_u8).prop_map(Act::Trust),
        2 => any::<Index>().prop_map(Act::Prune),
        1 => Just(Act::PruneAll),
        1 => Just(Act::Reopen),
    ]
}

/// The model: what should be in the journal.
#[derive(Default)]
struct Model {
    executions: BTreeMap<String, Status>,
    questions: BTreeMap<u64, String>,
    trusted: Vec<u8>,
    grants: usize,
    made: usize,
}

impl Model {
    fn pick(&self, index: &prop::sample::Index) -> Option<String> {
        let ids: Vec<_> = self.executions.keys().collect();
        (!ids.is_empty()).then(|| index.get(&ids).to_string())
    }

    /// Applies an operation to journal and model, and checks that both allow it or both refuse it.
    fn step(&mut self, journal: &Journal, id: &str, to: Status, done: bool) {
        let open = self.executions[id].is_open();
        assert_eq!(done, open, "{id}: {:?} to {to:?}", self.executions[id]);
        if done {
            self.executions.insert(id.to_owned(), to);
            if !to.is_open() {
                self.questions.retain(|_, exec_id| exec_id != id);
            }
        }
        assert_eq!(journal.execution(id).unwrap().unwrap().status, self.executions[id]);
    }

    fn act(&mut self, journal: &Journal, act: &Act) {
        match act {
            Act::Begin { session, length } => {
                self.made += 1;
                let id = format!("{:05}", self.made);
                let text = "x".repeat(usize::from(*length));
                journal.begin(&id, &format!("s/{session}"), asked(&text), vec![]).unwrap();
                self.executions.insert(id, Status::Asked);
            }
            Act::Start(index) => {
                let Some(id) = self.pick(index) else { return };
                let done = journal.append(&id, vec![started()]).is_ok();
                self.step(journal, &id, Status::Running, done);
            }
            Act::End(index) => {
                let Some(id) = self.pick(index) else { return };
                let done = journal.append(&id, vec![ended(EndStatus::Failed)]).is_ok();
                self.step(journal, &id, Status::Failed, done);
            }
            Act::Refuse(index) => {
                let Some(id) = self.pick(index) else { return };
                let done = journal.append(&id, vec![refused()]).is_ok();
                self.step(journal, &id, Status::Refused, done);
            }
            Act::Ask(index) => {
                let Some(id) = self.pick(index) else { return };
                let asked = journal.ask(&id, question("asker", None));
                assert_eq!(asked.is_ok(), self.executions[&id].is_open());
                if let Ok(question) = asked {
                    self.questions.insert(question.0, id);
                }
            }
            Act::Answer(index, grants) => {
                let pending = journal.pending().unwrap();
                if pending.is_empty() {
                    return;
                }
                let scope = GrantScope::Prefix(vec!["git".into()]);
                let grant = SessionGrant { root: "/".into(), directory: ".".into(), scope, expires_at: None };
                let grants = vec![grant; usize::from(*grants)];
                self.grants += grants.len();
                let id = index.get(&pending).id;
                journal.answer(id, answered(RecordedChoice::Once, "ann"), grants).unwrap();
                assert!(journal.poll_answer(id).unwrap().is_some());
                self.questions.remove(&id.0);
            }
            Act::Revoke(index) => {
                let held = journal.grants_in_force(0).unwrap();
                if held.is_empty() {
                    return;
                }
                let id = index.get(&held).id;
                let ended = journal.end_grants(0, GrantEndCause::Revoked, "ann", |held| held.id == id);
                self.grants -= ended.unwrap().len();
                assert!(journal.grant_end(id).unwrap().is_some());
            }
            Act::Forget(index) => {
                let Some(id) = self.pick(index) else { return };
                let status = self.executions[&id];
                let forgotten = journal.forget(&id, "me");
                assert_eq!(
                    forgotten.is_ok(),
                    !status.is_open() && status != Status::Forgotten,
                    "{id} {status}"
                );
                if forgotten.is_ok() {
                    self.executions.insert(id, Status::Forgotten);
                    self.grants = self.granted(journal);
                }
            }
            Act::Trust(content) => {
                journal.trust(trusted(&content.to_string())).unwrap();
                self.trusted.push(*content);
            }
            Act::Prune(index) => self.prune(journal, index),
            Act::PruneAll => {
                self.gone(journal, Retention { since: Some(i64::MAX), bytes: None }, &BTreeMap::new())
            }
            Act::Reopen => {}
        }
    }

    /// Prunes until some execution is removed, by giving it a large spool.
    fn prune(&mut self, journal: &Journal, index: &prop::sample::Index) {
        let Some(id) = self.pick(index) else { return };
        let spools = BTreeMap::from([(id, 1 << 40)]);
        self.gone(journal, Retention { since: None, bytes: Some(1 << 39) }, &spools);
    }

    fn gone(&mut self, journal: &Journal, retention: Retention, spools: &BTreeMap<String, u64>) {
        for id in journal.prune(retention, spools).unwrap().executions {
            let status = self.executions.remove(&id).unwrap();
            assert!(!status.is_open(), "{id} was {status} and is pruned");
        }
    }

    fn granted(&self, journal: &Journal) -> usize {
        (0..4).map(|session| journal.grants(&format!("s/{session}"), "/", ".", 0).unwrap().len()).sum()
    }

    fn compare(&self, journal: &Journal) {
        let found: BTreeMap<_, _> =
            journal.history(&Query::default()).unwrap().into_iter().map(|one| (one.id, one.status)).collect();
        assert_eq!(found, self.executions);
        let pending: BTreeMap<_, _> =
            journal.pending().unwrap().into_iter().map(|one| (one.id.0, one.exec_id)).collect();
        assert_eq!(pending, self.questions);
        for content in 0..3 {
            let trusted = trusted(&content.to_string());
            let known = journal.is_trusted(&trusted.path, trusted.sha256).unwrap();
            assert_eq!(known, self.trusted.contains(&content));
        }
        assert_eq!(self.granted(journal), self.grants);
        for (id, status) in &self.executions {
            let execution = journal.execution(id).unwrap().unwrap();
            assert_eq!(
                execution.asked.is_none(),
                *status == Status::Forgotten,
                "an execution that stays has all its entries"
            );
        }
    }
}

/// `PROPTEST_CASES=1000` makes it longer.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(32, |count| count.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn random_operations_leave_the_journal_intact_and_equal_to_a_model(acts in prop::collection::vec(act(), 1..80)) {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path()).unwrap();
        let mut model = Model::default();
        let mut heads: Vec<Head> = Vec::new();
        for act in &acts {
            model.act(&journal, act);
            if matches!(act, Act::Reopen) {
                drop(journal);
                journal = Journal::open(folder.path()).unwrap();
            }
            intact(&journal);
            heads.push(journal.head().unwrap());
        }
        model.compare(&journal);
        // Every earlier head still verifies, unless its entry was pruned.
        let pruned = intact(&journal).pruned.map_or(0, |head| head.seq);
        for head in heads {
            let whole = matches!(journal.verify_with_head(head).unwrap(), Verification::Intact(_));
            prop_assert_eq!(whole, head.seq >= pruned);
        }
    }
}
