//! The end of a run, as its caller learns it from a fake keeper.

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use shellgate_sandbox::spawn::{Plan, Spawner};

use super::*;
use crate::sys::processes;
use crate::wire;

fn outcome() -> Box<Outcome> {
    Box::new(Outcome {
        state: State::Completed,
        pid: Some(7),
        session_pid: None,
        exit: Some(crate::Exit::Code(0)),
        failure: None,
        clock: None,
        limit: None,
        output: PerStream::default(),
        background: Vec::new(),
        duration: std::time::Duration::from_millis(3),
        waiting_for_input: false,
        unconfined: None,
        denials: None,
        effects: None,
    })
}

/// A handle on an execution, and the keeper's end of its connection.
fn handle(id: ExecId) -> (RunHandle, OwnedFd) {
    let (ours, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    let connection = KeeperConnection::new(ours);
    let spool = Spool::nowhere().unwrap();
    (RunHandle::new((id, Follow::Quietly), connection, None, Arc::default(), spool), theirs)
}

fn say(keeper: &OwnedFd, message: &FromKeeper) {
    wire::send(keeper.as_fd(), &wire::encode(message).unwrap(), &[]).unwrap();
}

/// Starts a process that carries the tag of `id`, as a background child of a command does.
fn start_leftover(id: ExecId) -> u32 {
    let argv = [c"sleep", c"1000"];
    let null = File::open("/dev/null").unwrap();
    let plan = Plan {
        program: c"/bin/sleep",
        argv: &argv,
        env: &[],
        directory: c"/",
        stdio: [null.as_fd(), null.as_fd(), null.as_fd()],
        terminal: None,
        umask: 0o077,
        limits: &[],
        tag: Some(id.tag()),
        groups: &[],
    };
    Spawner::default().spawn(&plan).unwrap().pid.as_raw_nonzero().get().unsigned_abs()
}

fn is_alive(pid: u32) -> bool {
    crate::proc::of(pid).stat().is_some_and(|stat| !stat.is_dead())
}

#[test]
fn waiting_again_gives_the_same_outcome_and_leaves_background_children_alone() {
    let id = ExecId::generate();
    let leftover = start_leftover(id);
    let (mut handle, keeper) = handle(id);
    say(&keeper, &FromKeeper::Ended { outcome: outcome(), last: false });
    for _ in 0..3 {
        let outcome = handle.wait().unwrap();
        assert_eq!((outcome.state, outcome.pid, &outcome.failure), (State::Completed, Some(7), &None));
        assert!(is_alive(leftover));
        assert!(handle.try_next().unwrap().is_none(), "the end is told once");
        assert!(matches!(handle.next().unwrap(), RunEvent::Ended(again) if again.pid == Some(7)));
    }
    assert!(is_alive(leftover));
    // The control: without a keeper, leftover processes are ended, once.
    let (mut lost, keeper) = self::handle(id);
    drop(keeper);
    assert_eq!(lost.wait().unwrap().failure, Some(Failure::KeeperLost));
    assert!(!is_alive(leftover));
    let second = start_leftover(id);
    assert_eq!(lost.wait().unwrap().failure, Some(Failure::KeeperLost), "the same outcome");
    assert!(is_alive(second));
    for pid in [leftover, second] {
        processes::signal_own_child(pid, rustix::process::Signal::KILL);
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::waitpid(pid, rustix::process::WaitOptions::empty()).unwrap();
    }
}
