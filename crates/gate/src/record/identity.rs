//! Identities of processes: pid, start time, boot and PID namespace. A pid alone may have been given to another process
//! since, and means another process in another namespace.

use std::sync::OnceLock;

use shellgate_exec::proc::{self, Namespace};
use shellgate_journal::ProcessIdentity;

/// The identity of this process. Found out once: it takes reading two files, and every call needs it.
pub(crate) fn own_identity() -> ProcessIdentity {
    static OWN: OnceLock<(u32, ProcessIdentity)> = OnceLock::new();
    let pid = std::process::id();
    let find = || describe(pid).unwrap_or_else(|| ProcessIdentity("unknown".to_owned()));
    let (of, identity) = OWN.get_or_init(|| (pid, find()));
    // After a fork this is another process.
    if *of == pid { identity.clone() } else { find() }
}

/// Whether a process is still alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    Alive,
    Gone,
    /// It is in another PID namespace, and can't be seen from here.
    Unknown,
}

/// Whether the process is still alive. An identity that can't be read is that of none.
pub(crate) fn liveness(identity: &ProcessIdentity) -> Liveness {
    let mut parts = identity.0.split(' ');
    let pid = parts.next().and_then(|pid| pid.parse().ok());
    let is_elsewhere = parts.nth(2).is_some_and(|namespace| namespace != pid_namespace());
    if is_elsewhere && !is_of_earlier_boot(identity) {
        return Liveness::Unknown;
    }
    match pid.and_then(describe) {
        Some(now) if now == *identity => Liveness::Alive,
        _ => Liveness::Gone,
    }
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
    proc::own().namespace(Namespace::Pid).map_or_else(|| "unknown".to_owned(), |number| number.to_string())
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
    }

    #[test]
    fn a_process_of_an_earlier_boot_is_recognised() {
        assert!(is_of_earlier_boot(&ProcessIdentity("1 1 another-boot".to_owned())));
        assert!(!is_of_earlier_boot(&own_identity()));
        assert!(!is_of_earlier_boot(&ProcessIdentity("unknown".to_owned())), "its boot isn't known");
    }
}
