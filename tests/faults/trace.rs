//! Processes under `strace`, and bounds on how long they may take.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::support::{Place, shellgate, wait_until};

/// Seconds after which a process is killed because it hangs.
const HANG_SECONDS: &str = "40";

/// How long `strace` may take to end.
const DETACH_TIMEOUT: Duration = Duration::from_secs(5);

fn words_in(place: &Place, program: &[&str], words: &[&str]) -> Command {
    let mut command = place.program("timeout");
    command.args(["--signal=KILL", HANG_SECONDS]).args(program).arg(shellgate()).args(words);
    command
}

/// `shellgate WORDS` to its end. It is killed if it hangs.
pub(super) fn bounded(place: &Place, words: &[&str]) -> Output {
    words_in(place, &[], words).output().unwrap()
}

/// Starts `shellgate WORDS`, with its output in pipes. It is killed if it hangs.
pub(super) fn begin(place: &Place, words: &[&str]) -> Child {
    words_in(place, &[], words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// `strace ARGUMENTS shellgate WORDS`. It is killed if it hangs.
pub(super) fn traced(place: &Place, arguments: &[&str], words: &[&str]) -> Command {
    let strace: Vec<&str> =
        ["strace", "-qq", "--signal=none"].into_iter().chain(arguments.iter().copied()).collect();
    words_in(place, &strace, words)
}

/// Whether `timeout` killed it.
pub(super) fn hangs(output: &Output) -> bool {
    output.status.code() == Some(137)
}

/// Attaches `strace ARGUMENTS` to a process, and to all its threads with `--follow-forks`.
pub(super) fn attach(place: &Place, pid: u64, arguments: &[&str]) -> Child {
    let mut strace = place.program("strace");
    strace.args(["-qq", "--signal=none", "-p", &pid.to_string()]).args(arguments);
    let mut strace = strace.stderr(Stdio::null()).spawn().unwrap();
    let folder = format!("/proc/{pid}/task");
    let status = |thread: &Path| std::fs::read_to_string(thread.join("status")).unwrap_or_default();
    let is_traced = |thread: &Path| {
        // One that the fault has ended already isn't traced any more.
        let is_it = |line: &str| {
            line.starts_with("TracerPid:") && !line.ends_with("\t0") || line.starts_with("State:\tZ")
        };
        status(thread).lines().any(is_it)
    };
    let threads = || std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|thread| thread.path());
    let all = arguments.contains(&"--follow-forks");
    wait_until("it is traced", || {
        !Path::new(&folder).exists()
            || if all {
                threads().all(|thread| is_traced(&thread))
            } else {
                threads().any(|thread| is_traced(&thread))
            }
    });
    if !Path::new(&folder).exists() {
        strace.wait().unwrap();
    }
    strace
}

/// Ends `strace`; the process that it is attached to goes on.
pub(super) fn detach(mut strace: Child) {
    // It has ended already if the process has.
    let pid = rustix::process::Pid::from_child(&strace);
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    let until = std::time::Instant::now() + DETACH_TIMEOUT;
    while strace.try_wait().unwrap().is_none() {
        // It sometimes waits for ever for a thread of a killed process.
        if std::time::Instant::now() > until {
            strace.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
