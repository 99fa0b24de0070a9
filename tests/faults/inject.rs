//! Faults, one at a time, by `strace`.

use std::collections::BTreeMap;

/// What happens to a system call, one a line. The soak of `benches` has the same.
const FAULTS: &str = include_str!("faults.txt");

/// Calls in which no fault is tried.
const LEFT_OUT: &[&str] = &[
    // The kernel has no error for them, or only for arguments that the program never passes.
    "getegid",
    "geteuid",
    "getgid",
    "getpgrp",
    "getpid",
    "getppid",
    "gettid",
    "getuid",
    "rt_sigreturn",
    "umask",
    // It reads limits of the process itself.
    "prlimit64",
    // The generator is ready once the machine has started.
    "getrandom",
    // The process ends here, whatever it says.
    "exit",
    "exit_group",
    // Before `main`: the program doesn't begin.
    "arch_prctl",
    "execve",
    // The kernel calls it to go on with a call that was interrupted, not the program.
    "restart_syscall",
    // It gives the descriptor back whatever it says, and the standard library takes another answer for a mistake of the program.
    "close",
];

/// Calls whose `EAGAIN` says that nothing is there, or no room. A process that waits for the next event is right to wait then, and
/// the kernel, which has told of this event already, doesn't tell it again.
const NOT_READY: &[&str] = &["accept4", "recvfrom", "recvmsg", "sendto", "writev"];

/// How many runs are tried of a scenario, unless `SHELLGATE_FAULTS` says otherwise.
const SAMPLE_RUNS: usize = 11;

/// Every fault for each call in the log of a run, as arguments of `strace`; or a sample, other ones for each `seed`.
pub(super) fn plan(log: &str, seed: usize) -> Vec<String> {
    // `strace` counts the calls of each thread by themselves.
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for line in log.lines() {
        // A line may begin with the number of its thread.
        let call = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let thread = &line[..line.len() - call.len()];
        if let Some((name, _)) = call.split_once('(')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !LEFT_OUT.contains(&name)
        {
            *counts.entry(name).or_default().entry(thread).or_default() += 1;
        }
    }
    let all: Vec<String> = counts
        .iter()
        .flat_map(|(name, threads)| {
            (1..=threads.values().copied().max().unwrap_or(0)).map(move |nth| (name, nth))
        })
        .flat_map(|(name, nth)| FAULTS.lines().map(move |fault| (*name, fault, nth)))
        .filter(|(name, fault, _)| *fault != "error=EAGAIN" || !NOT_READY.contains(name))
        .map(|(name, fault, nth)| format!("inject={name}:{fault}:when={nth}"))
        .collect();
    let runs = match std::env::var("SHELLGATE_FAULTS").ok() {
        Some(value) if value == "all" => all.len(),
        Some(value) if value.starts_with("inject=") => return vec![value],
        Some(value) => value.parse().unwrap(),
        None => SAMPLE_RUNS,
    };
    if runs >= all.len() {
        return all;
    }
    // The step has no factor in common with the number of faults, so that each fault is in the sample.
    let step = (all.len() / runs).max(1) | 1;
    all.into_iter().skip(seed % step).step_by(step).collect()
}
