//! The processes of the soak: those that run its copy of the binary.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::place::{Place, STEADY};

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    FrontEnd,
    Keeper,
    Standby,
    Server,
    /// A process of the sandbox: launcher, broker, first process of a pod.
    Sandbox,
}

/// A process, held so that its number can't mean another one.
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) role: Role,
    /// Whether it is never killed.
    pub(super) is_steady: bool,
    handle: OwnedFd,
}

impl Process {
    pub(super) fn signal(&self, signal: Signal) {
        // It may have ended.
        let _ = pidfd_send_signal(&self.handle, signal);
    }

    /// Whether it goes on when no call is made.
    pub(super) fn is_lasting(&self) -> bool {
        self.role != Role::FrontEnd
    }
}

/// All processes of the soak.
pub(super) fn all(place: &Place) -> Vec<Process> {
    let found: Vec<_> = pids().filter_map(|pid| look(place, pid)).collect();
    // A child that a keeper has just forked still has its name; it is about to run a command.
    let keepers: Vec<u32> = found
        .iter()
        .filter(|(process, _)| process.role == Role::Keeper)
        .map(|(process, _)| process.pid)
        .collect();
    let is_own = |process: &Process, parent: u32| process.role != Role::Keeper || !keepers.contains(&parent);
    found
        .into_iter()
        .filter(|(process, parent)| is_own(process, *parent))
        .map(|(process, _)| process)
        .collect()
}

/// The process with this number and its parent, if it is one of the soak.
fn look(place: &Place, pid: u32) -> Option<(Process, u32)> {
    let number = Pid::from_raw(i32::try_from(pid).ok()?)?;
    if !runs(pid, place.binary()) {
        return None;
    }
    // From here on the number can't be given to another process, so a second look decides.
    let handle = pidfd_open(number, PidfdFlags::empty()).ok()?;
    if !runs(pid, place.binary()) {
        return None;
    }
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let name = status.lines().find_map(|line| line.strip_prefix("Name:\t"))?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:\t"))?.parse().ok()?;
    let role = match name {
        "shellgate-keep" => Role::Keeper,
        "shellgate-stby" => Role::Standby,
        "shellgate" if words(pid).get(1).is_some_and(|word| word == "mcp") => Role::Server,
        "shellgate" => Role::FrontEnd,
        _ => Role::Sandbox,
    };
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let is_steady =
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(STEADY.as_bytes()));
    Some((Process { pid, role, is_steady, handle }, parent))
}

/// Whether a process runs a program.
pub(super) fn runs(pid: u32, program: &Path) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|own| own == program)
}

/// The words of a process. A zombie has none.
pub(super) fn words(pid: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

pub(super) fn pids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Threads of a process.
pub(super) fn threads(pid: u32) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Its share of the memory, in kilobytes: pages that several processes have count once in all.
pub(super) fn memory_kb(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

pub(super) fn descriptors(pid: u32) -> u64 {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |entries| entries.count() as u64)
}
