//! The floor: what a bare spawn of bash costs. Rust's `Command` uses `posix_spawn` for these.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `bash -c TEXT` with its output read, to the end.
pub(crate) fn spawn(text: &str) {
    let output = Command::new("/bin/bash").args(["-c", text]).stdin(Stdio::null()).output();
    assert!(output.is_ok_and(|output| output.status.success()), "{text}");
}

/// Any command with its output read, to the end.
pub(crate) fn wait(mut command: Command) {
    assert!(command.output().is_ok_and(|output| output.status.success()), "{command:?}");
}

/// Any command with its output where it was told to go, to the end.
pub(crate) fn wait_with(mut command: Command) {
    command.stderr(Stdio::null());
    assert!(command.status().is_ok_and(|status| status.success()), "{command:?}");
}

/// Starts `count` at once from one thread, and waits for all.
pub(crate) fn at_once(text: &str, count: usize) -> Duration {
    let start = Instant::now();
    let spawn = || {
        let mut command = Command::new("/bin/bash");
        command.args(["-c", text]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("a process")
    };
    let children: Vec<_> = (0..count).map(|_| spawn()).collect();
    for child in children {
        assert!(child.wait_with_output().is_ok_and(|output| output.status.success()));
    }
    start.elapsed()
}

/// The most memory that a process ever had.
pub(crate) fn peak_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}
