//! Faults, one at a time, by `strace`.

use std::collections::BTreeMap;

/// What happens to a system call.
pub(super) const FAULTS: [&str; 8] = [
    "error=ENOSPC",
    "error=EIO",
    "error=EMFILE",
    "error=ENOMEM",
    "error=EINTR",
    "error=EAGAIN",
    "error=EPERM",
    "signal=KILL",
];

/// Calls that can't fail (`prlimit64` when it only reads), or whose failure is the end of the process anyway. `close` gives the
/// descriptor back whatever it says, and the standard library takes another answer for a mistake of the program.
const LEFT_OUT: &[&str] = &[
    "arch_prctl",
    "close",
    "execve",
    "exit",
    "exit_group",
    "getegid",
    "geteuid",
    "getgid",
    "getpgrp",
    "getpid",
    "getppid",
    "getrandom",
    "gettid",
    "getuid",
    "prlimit64",
    "restart_syscall",
    "rt_sigreturn",
    "umask",
];

/// How many runs are tried of a scenario, unless all are.
const SAMPLE_RUNS: usize = 25;

/// Every fault for each call in the log of a run, as arguments of `strace`; or a sample, other ones for each `seed`.
pub(super) fn plan(log: &str, seed: usize) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in log.lines() {
        // A line may begin with the number of its process.
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        if let Some((name, _)) = line.split_once('(')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !LEFT_OUT.contains(&name)
        {
            *counts.entry(name).or_default() += 1;
        }
    }
    let all: Vec<String> = counts
        .iter()
        .flat_map(|(name, count)| (1..=*count).map(move |nth| (name, nth)))
        .flat_map(|(name, nth)| FAULTS.map(|fault| format!("inject={name}:{fault}:when={nth}")))
        .collect();
    if std::env::var("SHELLGATE_FAULTS").is_ok_and(|value| value == "all") {
        return all;
    }
    // The step has no factor in common with the number of faults, so that each fault is in the sample.
    let step = (all.len() / SAMPLE_RUNS).max(1) | 1;
    all.into_iter().skip(seed % step).step_by(step).collect()
}
