//! Identities of processes: pid, start time, boot and PID namespace. A pid alone may have been given to another process
//! since, and means another process in another namespace.

use std::sync::OnceLock;

use shellgate_exec::proc::{self, Namespace};
use shellgate_journal::ProcessIdentity;

/// Stands for what the system didn't tell.
const UNKNOWN: &str = "unknown";

/// The identity of this process. Found out once: it takes reading two files, and every call needs it.
pub(crate) fn own_identity() -> ProcessIdentity {
    static OWN: OnceLock<(u32, ProcessIdentity)> = OnceLock::new();
    let pid = std::process::id();
    let find = || describe(pid).unwrap_or_else(|| ProcessIdentity(UNKNOWN.to_owned()));
    let (of, identity) = OWN.get_or_init(|| (pid, find()));
    // After a fork this is another process.
    if *of == pid { identity.clone() } else { find() }
}

/// Whether a process is still alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    Alive,
    Gone,
    /// It is in another PID namespace and can't be seen from here, or the system doesn't tell.
    Unknown,
}

/// Whether the process is still alive. A process is gone only when the system says so: an error may be one of this process,
/// which has too few descriptors or too little memory.
pub(crate) fn liveness(identity: &ProcessIdentity) -> Liveness {
    if identity.0 == UNKNOWN {
        return Liveness::Unknown;
    }
    let mut parts = identity.0.split(' ');
    let pid = parts.next().and_then(|pid| pid.parse::<u32>().ok());
    let (Some(pid), Some(started), Some(_boot)) = (pid, parts.next(), parts.next()) else {
        return Liveness::Gone;
    };
    if is_of_earlier_boot(identity) {
        return Liveness::Gone;
    }
    let Some(namespace) = parts.next() else { return Liveness::Gone };
    if proc::boot_id().is_none() || namespace == UNKNOWN || namespace != pid_namespace() {
        return Liveness::Unknown;
    }
    match proc::of(pid).stat() {
        Some(stat) if !stat.is_dead() && stat.started.to_string() == started => Liveness::Alive,
        Some(_) => Liveness::Gone,
        None if is_absent(pid) => Liveness::Gone,
        None => Liveness::Unknown,
    }
}

/// Whether the system knows no process of this number.
fn is_absent(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_none_or(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// Whether the process ran before the machine was last started. `false` when its boot isn't known.
pub(crate) fn is_of_earlier_boot(identity: &ProcessIdentity) -> bool {
    let boot = identity.0.split(' ').nth(2);
    boot.zip(proc::boot_id()).is_some_and(|(of, now)| of != now)
}

fn describe(pid: u32) -> Option<ProcessIdentity> {
    let stat = proc::of(pid).stat()?;
    let boot = proc::boot_id()?;
    (!stat.is_dead()).then(|| ProcessIdentity(format!("{pid} {} {boot} {}", stat.started, pid_namespace())))
}

fn pid_namespace() -> String {
    proc::own().namespace(Namespace::Pid).map_or_else(|| UNKNOWN.to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_unknown_ones_are_not() {
        let of = |text: &str| liveness(&ProcessIdentity(text.to_owned()));
        assert_eq!(liveness(&own_identity()), Liveness::Alive);
        assert_eq!([of("1 1 nowhere"), of(""), of("1 1 nowhere 77")], [Liveness::Gone; 3]);
        assert_eq!(of(&format!("1 1 {} 77", proc::boot_id().unwrap())), Liveness::Unknown);
        assert_eq!(of(UNKNOWN), Liveness::Unknown, "the system didn't tell");
        let own = own_identity().0;
        let (pid, rest) = own.split_once(' ').unwrap();
        let (_, rest) = rest.split_once(' ').unwrap();
        assert_eq!(of(&format!("{pid} 1 {rest}")), Liveness::Gone, "its number was given to another process");
        assert_eq!(of(&format!("{} 1 {rest}", i32::MAX)), Liveness::Gone);
    }

    #[test]
    fn a_process_of_an_earlier_boot_is_recognised() {
        assert!(is_of_earlier_boot(&ProcessIdentity("1 1 another-boot".to_owned())));
        assert!(!is_of_earlier_boot(&own_identity()));
        assert!(!is_of_earlier_boot(&ProcessIdentity("unknown".to_owned())), "its boot isn't known");
    }
}
