//! Which faults are tried: one at a time, by `strace`.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::sites::{Grain, READS, Site};

/// What happens to a system call, one a line. The soak of `benches` has the same.
const FAULTS: &str = include_str!("faults.txt");

/// The fault that ends the process.
const KILL: &str = "signal=KILL";

/// Calls in which no fault is tried.
const LEFT_OUT: &[&str] = &[
    // The process ends here, whatever it says.
    "exit",
    "exit_group",
    // Before `main`: the program doesn't begin.
    "arch_prctl",
    "execve",
    // The kernel calls it to go on with a call that was interrupted, not the program.
    "restart_syscall",
];

/// Calls that don't fail. The process may be killed there all the same.
const NEVER_FAILS: &[&str] = &[
    // The kernel has no error for them, or only for arguments that the program never passes.
    "getegid",
    "geteuid",
    "getgid",
    "getpgrp",
    "getpid",
    "getppid",
    "gettid",
    "getuid",
    "rt_sigprocmask",
    "rt_sigreturn",
    "umask",
    // Waking never fails, and a wait may end at any time.
    "futex",
    // The generator is ready once the machine has started.
    "getrandom",
    // It gives the descriptor back whatever it says, and the standard library takes another answer for a mistake of the program.
    "close",
];

/// Calls whose `EAGAIN` says that nothing is there, or no room. A process that waits for the next event is right to wait then, and
/// the kernel, which has told of this event already, doesn't tell it again.
const NOT_READY: &[&str] = &["accept4", "recvfrom", "recvmsg", "sendto", "writev"];

/// Calls that fail in one way alone.
const FAILS_ONLY_WITH: &[(&str, &str)] = &[("clock_nanosleep", "error=EINTR"), ("epoll_wait", "error=EINTR")];

/// How many runs are tried of a scenario, unless `SHELLGATE_FAULTS` says otherwise.
const SAMPLE_RUNS: usize = 7;

/// How much is tried: `SHELLGATE_FAULTS`.
pub(super) enum Effort {
    /// So many faults of each scenario.
    Sample(usize),
    /// Every fault at every place in the code that makes a system call.
    Sites,
    /// Every fault at every call.
    All,
    /// One fault.
    One(String),
}

impl Effort {
    pub(super) fn from_environment() -> Self {
        match std::env::var("SHELLGATE_FAULTS").ok() {
            None => Self::Sample(SAMPLE_RUNS),
            Some(value) if value == "sites" => Self::Sites,
            Some(value) if value == "all" => Self::All,
            Some(value) if value.starts_with("inject=") => Self::One(value),
            Some(value) => Self::Sample(value.parse().unwrap()),
        }
    }

    /// What counts as one place.
    pub(super) fn grain(&self) -> Grain {
        if matches!(self, Self::Sites) { Grain::Sites } else { Grain::Calls }
    }
}

/// A fault at one site.
#[derive(Clone)]
pub(super) struct Fault {
    pub(super) call: String,
    /// The site among those of its call.
    pub(super) mark: String,
    /// What happens there.
    pub(super) kind: String,
    /// The argument of `strace`.
    pub(super) inject: String,
}

/// The faults to try, in an order that is the same each time; another one for each `row` of the table.
pub(super) fn plan(sites: &[Site], row: &str, effort: &Effort) -> Vec<Fault> {
    if let Effort::One(inject) = effort {
        let (call, kind) = inject.trim_start_matches("inject=").split_once(':').unwrap();
        let (call, kind) = (call.to_owned(), kind.to_owned());
        return vec![Fault { call, mark: String::new(), kind, inject: inject.clone() }];
    }
    let mut all: Vec<Fault> =
        sites.iter().flat_map(|site| FAULTS.lines().filter_map(|kind| fault(site, kind, row))).collect();
    all.sort_by_cached_key(|fault| number(&[row, &fault.call, &fault.mark, &fault.kind]));
    match effort {
        Effort::Sample(runs) => all.truncate(*runs),
        Effort::Sites | Effort::All | Effort::One(_) => (),
    }
    all
}

/// A fault at a site. `None`: it can't happen there.
fn fault(site: &Site, kind: &str, row: &str) -> Option<Fault> {
    let call = site.call.as_str();
    let can_happen = !LEFT_OUT.contains(&call)
        && (kind == KILL || !NEVER_FAILS.contains(&call) && !site.mark.ends_with(READS))
        && FAILS_ONLY_WITH.iter().all(|(only, with)| call != *only || kind == *with || kind == KILL)
        && (kind != "error=EAGAIN" || !NOT_READY.contains(&call));
    let nth = site.nth(number(&[row, call, &site.mark, kind, "nth"]));
    can_happen.then(|| Fault {
        call: site.call.clone(),
        mark: site.mark.clone(),
        kind: kind.to_owned(),
        inject: format!("inject={call}:{kind}:when={nth}"),
    })
}

/// A number that depends on the words alone.
fn number(words: &[&str]) -> usize {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    (hasher.finish() >> 1) as usize
}
