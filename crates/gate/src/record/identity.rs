//! Identities of processes: pid, start time and boot. A pid alone may have been given to another process since.

use std::sync::OnceLock;

use shellgate_exec::proc;
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

/// Whether the process is still alive. `false` for an identity that can't be read.
pub(crate) fn alive(identity: &ProcessIdentity) -> bool {
    let pid = identity.0.split(' ').next().and_then(|pid| pid.parse().ok());
    pid.and_then(describe).is_some_and(|now| now == *identity)
}

/// Whether the process ran before the machine was last started. `false` when its boot isn't known.
pub(crate) fn is_of_earlier_boot(identity: &ProcessIdentity) -> bool {
    let boot = identity.0.split(' ').nth(2);
    boot.zip(proc::boot_id()).is_some_and(|(of, now)| of != now)
}

fn describe(pid: u32) -> Option<ProcessIdentity> {
    let stat = proc::of(pid).stat()?;
    let boot = proc::boot_id()?;
    (!stat.is_dead()).then(|| ProcessIdentity(format!("{pid} {} {boot}", stat.started)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_unknown_ones_are_not() {
        assert!(alive(&own_identity()));
        assert!(!alive(&ProcessIdentity("1 1 nowhere".to_owned())));
        assert!(!alive(&ProcessIdentity(String::new())));
    }

    #[test]
    fn a_process_of_an_earlier_boot_is_recognised() {
        assert!(is_of_earlier_boot(&ProcessIdentity("1 1 another-boot".to_owned())));
        assert!(!is_of_earlier_boot(&own_identity()));
        assert!(!is_of_earlier_boot(&ProcessIdentity("unknown".to_owned())), "its boot isn't known");
    }
}
