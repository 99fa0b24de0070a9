//! Recognising a process again: by its number, and by when it started since which boot.

use std::sync::OnceLock;

use shellgate_exec::proc;
use shellgate_journal::ProcessIdentity;

/// This process. Found out once: it takes two files to read, and every call asks.
pub(crate) fn own_identity() -> ProcessIdentity {
    static OWN: OnceLock<(u32, ProcessIdentity)> = OnceLock::new();
    let pid = std::process::id();
    let find = || describe(pid).unwrap_or_else(|| ProcessIdentity("unknown".to_owned()));
    let (of, owner) = OWN.get_or_init(|| (pid, find()));
    // A fork of us is another process.
    if *of == pid { owner.clone() } else { find() }
}

/// Whether it still lives. One that can't be recognised doesn't.
pub(crate) fn alive(owner: &ProcessIdentity) -> bool {
    let pid = owner.0.split(' ').next().and_then(|pid| pid.parse().ok());
    pid.and_then(describe).is_some_and(|now| now == *owner)
}

/// Whether it was a process before the machine was last started. `false` for one whose boot isn't known.
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
    fn we_live_and_others_do_not() {
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
