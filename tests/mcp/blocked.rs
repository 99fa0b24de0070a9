//! The server answers while one of its calls has to wait: for the journal, or for a keeper that starts slowly.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};
use serde_json::json;

use super::asking::strict;
use super::talk::Talk;
use crate::support::{Place, wait_until};

/// Another process that holds the journal's write lock until it is dropped.
pub(crate) struct JournalLock(Child);

impl JournalLock {
    pub(crate) fn take(place: &Place) -> Self {
        let code = "import fcntl, sqlite3, sys\n\
                    journal = sqlite3.connect(sys.argv[1] + '.db', isolation_level=None)\n\
                    journal.execute('BEGIN EXCLUSIVE')\n\
                    log = open(sys.argv[1] + '.log')\n\
                    fcntl.flock(log, fcntl.LOCK_EX)\n\
                    print('locked', flush=True)\n\
                    sys.stdin.read()";
        let mut command = place.program("python3");
        command.args(["-c", code]).arg(place.state().join("journal"));
        let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "locked\n");
        Self(holder)
    }
}

impl Drop for JournalLock {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Asserts that requests that need no journal are answered, and that none of `waiting` is.
fn assert_answers(talk: &mut Talk, waiting: &[u64]) {
    assert!(talk.ask("ping", json!({}))["result"].is_object());
    assert!(talk.ask("tools/list", json!({}))["result"]["tools"].is_array());
    for id in waiting {
        assert!(talk.heard.iter().all(|heard| heard["id"] != *id), "{:?}", talk.heard);
    }
}

#[test]
fn a_locked_journal_holds_up_only_the_calls_that_write_to_it() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    assert_eq!(talk.run(json!({"command": "echo warm"}))["stdout"], "warm\n");
    let lock = JournalLock::take(&place);
    let calls: Vec<u64> =
        (0..3).map(|n| talk.call(json!({"command": format!("echo {n} >> order")}))).collect();
    assert_answers(&mut talk, &calls);
    assert!(!place.root().join("order").exists(), "nothing runs that is not recorded");
    drop(lock);
    for id in calls {
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["status"], "completed");
    }
    talk.leave();
}

#[test]
fn a_locked_journal_holds_up_no_question_s_client() {
    let place = Place::new(None);
    let mut talk = strict(&place, &[], &json!({}));
    let asked = talk.call(json!({"command": "touch approved"}));
    wait_until("the question is in the queue", || super::asking::pending(&place).len() == 1);
    let number = super::asking::pending(&place).remove(0);
    let lock = JournalLock::take(&place);
    let second = talk.call(json!({"command": "touch second"}));
    let canceled = talk.call(json!({"command": "touch canceled"}));
    talk.tell("notifications/cancelled", json!({"requestId": canceled}));
    // The server polls the journal for the pending question. That must not hold up other requests either.
    for _ in 0..20 {
        assert_answers(&mut talk, &[asked, second]);
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(lock);
    assert!(place.strictly(["approvals", "approve", &number]).status().unwrap().success());
    assert_eq!(talk.answer(asked)["result"]["structuredContent"]["status"], "completed");
    assert!(place.root().join("approved").exists());
    assert!(!place.root().join("canceled").exists());
    talk.leave();
}

#[test]
fn a_slow_keeper_holds_up_only_its_own_session() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    assert_eq!(talk.run(json!({"command": "echo warm"}))["stdout"], "warm\n");
    // A keeper needs this lock to create its socket. Without it, the keeper starts seconds later.
    let sessions = rustix::fs::open(
        place.state().join("sessions"),
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let sessions = sessions.unwrap();
    rustix::fs::flock(&sessions, FlockOperation::LockExclusive).unwrap();
    let slow: Vec<u64> = ["first", "second"]
        .map(|name| talk.call(json!({"command": format!("echo {name} >> order"), "session": "cold"})))
        .into();
    assert_answers(&mut talk, &slow);
    assert_eq!(talk.run(json!({"command": "echo warm"}))["stdout"], "warm\n");
    assert_answers(&mut talk, &slow);
    rustix::fs::flock(&sessions, FlockOperation::Unlock).unwrap();
    for id in slow {
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["status"], "completed");
    }
    let order = std::fs::read_to_string(place.root().join("order")).unwrap();
    assert_eq!(order.lines().count(), 2, "{order}");
    talk.leave();
}
