//! Finds out how each limit would be enforced on this machine, by trying it with a process that exits at once.

use shellgate_sandbox::fork;

use super::meter;
use super::{Groups, Hierarchies, LimitedResource, Limits, Mechanism};

/// How one limit would be enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// The limited resource.
    pub resource: LimitedResource,
    /// How its limit would be enforced.
    pub mechanism: Mechanism,
    /// Why no control group would enforce it: one message for each method that failed.
    pub failures: Vec<String>,
}

/// Tries every limit with a process that enters the control groups and exits. Call it in a program with one thread.
#[must_use]
pub fn probe() -> Vec<ProbeResult> {
    let limits = Limits { memory_mb: 64, processes: 16, cpu_s: 60, disk_mb: 64 };
    let name = format!("{}probe-{}", super::hierarchy::PREFIX, std::process::id());
    let mut groups = Groups::make(&Hierarchies::own(), &name, &limits);
    let entered = enter(&groups);
    let results = LimitedResource::ALL.map(|resource| {
        let held = groups.mechanism(resource).filter(|_| entered);
        let alone = resource == LimitedResource::Disk && !meter::counts_writes();
        let looked_at = if alone { Mechanism::PerProcess } else { Mechanism::Watched };
        let failures = groups.failures.iter().filter(|(failed, _, _)| *failed == resource && held.is_none());
        let failures = failures.map(|(_, mechanism, why)| format!("{}: {why}", mechanism.name())).collect();
        ProbeResult { resource, mechanism: held.unwrap_or(looked_at), failures }
    });
    groups.remove();
    results.into()
}

/// Whether a process can enter the groups.
fn enter(groups: &Groups) -> bool {
    let entries = groups.entries();
    let code = fork::run_in_child(|| {
        let all = entries.iter().all(|entry| rustix::io::write(entry, b"0").is_ok());
        i32::from(!all)
    });
    code.ok().flatten() == Some(0)
}
