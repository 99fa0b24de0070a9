//! Failing system calls, by `strace`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::dice::Dice;
use super::place::Place;
use super::processes;

/// What happens to a system call, one a line: the faults of the tests.
const FAULTS: &str = include_str!("../../../tests/faults/faults.txt");

/// Calls of front ends, keepers, standby processes and servers in which faults are tried.
const CALLS: &[&str] = &[
    "accept4",
    "chdir",
    "clone",
    "clone3",
    "connect",
    "dup3",
    "epoll_ctl",
    "epoll_wait",
    "eventfd2",
    "fallocate",
    "fchmod",
    "fcntl",
    "fdatasync",
    "flock",
    "fstat",
    "fsync",
    "ftruncate",
    "futex",
    "getdents64",
    "kill",
    "lseek",
    "memfd_create",
    "mkdir",
    "mmap",
    "mprotect",
    "munmap",
    "newfstatat",
    "openat",
    "pidfd_open",
    "pidfd_send_signal",
    "pipe2",
    "poll",
    "ppoll",
    "prctl",
    "pread64",
    "pwrite64",
    "read",
    "readlink",
    "recvfrom",
    "recvmsg",
    "rename",
    "rt_sigaction",
    "rt_sigprocmask",
    "sendmsg",
    "sendto",
    "socket",
    "socketpair",
    "splice",
    "statx",
    "timerfd_create",
    "timerfd_settime",
    "unlink",
    "unlinkat",
    "wait4",
    "waitid",
    "write",
    "writev",
];

/// Calls whose `EAGAIN` says that nothing is there. A process that waits for the next event is right to wait then.
const NOT_READY: &[&str] = &["accept4", "recvfrom", "recvmsg", "sendto", "writev"];

/// How long `strace` may take to end.
const DETACH_TIMEOUT: Duration = Duration::from_secs(5);

/// Fails if there is no `strace`.
pub(super) fn find_strace() -> Result<(), String> {
    let found = Command::new("strace").arg("--version").stdout(Stdio::null()).status();
    found.map(drop).map_err(|error| format!("the soak needs `strace`: {error}"))
}

/// A random fault: one of the first `last` calls of a name.
pub(super) fn random(dice: &mut Dice, last: u64) -> String {
    let call = dice.pick(CALLS).copied().unwrap_or("read");
    let fault = match dice.pick(&FAULTS.lines().collect::<Vec<_>>()).copied().unwrap_or("error=EIO") {
        "error=EAGAIN" if NOT_READY.contains(&call) => "error=EIO",
        fault => fault,
    };
    format!("inject=?{call}:{fault}:when={}", 1 + dice.below(last))
}

/// `shellgate WORDS` with a fault in this process, not in those that it starts.
pub(super) fn traced(place: &Place, fault: &str, words: &[String]) -> Command {
    let mut strace = place.program("strace");
    strace.args(["-qq", "--signal=none", "-o", "/dev/null", "-e", fault]).arg(place.binary()).args(words);
    strace
}

/// Lets a call of a running process fail, if it makes that call within this time.
pub(super) fn attach(place: &Place, pid: u32, fault: &str, time: Duration) {
    let mut strace = place.program("strace");
    strace.args(["-qq", "--signal=none", "-o", "/dev/null", "-e", fault]);
    // Its threads one by one: with `-f`, faults would hit the commands as well.
    for thread in processes::threads(pid) {
        strace.args(["-p", &thread]);
    }
    let Ok(mut strace) = strace.stderr(Stdio::null()).spawn() else { return };
    let end = Instant::now() + time;
    let is_running = |strace: &mut std::process::Child| matches!(strace.try_wait(), Ok(None));
    while is_running(&mut strace) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    if is_running(&mut strace) {
        let _ = kill_process(Pid::from_child(&strace), Signal::INT);
    }
    let until = Instant::now() + DETACH_TIMEOUT;
    while is_running(&mut strace) {
        // It sometimes waits for ever for a thread of a killed process.
        if Instant::now() > until {
            let _ = strace.kill();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
