//! How each limit would be held, and what that means.

use std::path::PathBuf;

use serde::Serialize;
use shellgate_exec::{LimitedResource, Mechanism};

use super::{Check, Health};
use crate::Gate;
use crate::settings::Settings;

/// How one limit would be held.
#[derive(Clone, Debug, Serialize)]
pub struct LimitCheck {
    /// Its setting, in `[limits]`.
    pub limit: &'static str,
    /// What the settings say; 0: no limit.
    pub value: u64,
    /// `cgroup_v2`, `cgroup_v1`, `watched` or `per_process`.
    pub mechanism: &'static str,
    /// What that means, in a sentence.
    pub message: &'static str,
    /// Why it is not a better one, in the kernel's words.
    pub tried: Vec<String>,
}

/// The settings in force, and what is to be said of them.
pub(super) fn settings(root: Option<PathBuf>) -> (Option<Settings>, Check) {
    let mut builder = Gate::builder();
    if let Some(root) = root {
        builder = builder.root(root);
    }
    match builder.judge() {
        Ok(judge) => {
            let check = Check::new("settings", Health::Ok, "The settings can be read.");
            (Some(judge.settings().clone()), check)
        }
        Err(error) => {
            let check = Check::new("settings", Health::Missing, format!("Nothing runs: {}.", error.message));
            let hint = error.hint.unwrap_or_else(|| "correct the file".to_owned());
            (None, check.hint(hint))
        }
    }
}

pub(super) fn checks(settings: Option<&Settings>) -> Vec<LimitCheck> {
    let value = |limited| {
        settings.map_or(0, |settings| match limited {
            LimitedResource::Memory => settings.limits.memory_mb,
            LimitedResource::Processes => settings.limits.processes,
            LimitedResource::Cpu => settings.limits.cpu_s,
            LimitedResource::Disk => settings.limits.disk_mb,
        })
    };
    let found = shellgate_exec::probe().into_iter();
    let check = found.map(|finding| LimitCheck {
        limit: finding.resource.key(),
        value: value(finding.resource),
        mechanism: finding.mechanism.name(),
        message: meaning(finding.resource, finding.mechanism),
        tried: finding.failures,
    });
    check.collect()
}

fn meaning(limited: LimitedResource, mechanism: Mechanism) -> &'static str {
    use LimitedResource::{Cpu, Disk, Memory, Processes};
    use Mechanism::{CgroupV1, CgroupV2, PerProcess, Watched};
    match (limited, mechanism) {
        (Memory, CgroupV2) => {
            "The kernel counts the command with all its processes and ends them together when they need more."
        }
        (Memory, CgroupV1) => {
            "The kernel counts the command with all its processes and ends one when they need more; shellgate ends the rest."
        }
        (Memory, Watched | PerProcess) => {
            "shellgate adds up the memory of all processes every 50 ms and ends them; in between they can have more."
        }
        (Processes, CgroupV2 | CgroupV1) => {
            "The kernel makes no more processes and threads for the command; it goes on with those it has."
        }
        (Processes, Watched | PerProcess) => {
            "shellgate counts processes and threads every 50 ms and ends a command that has more."
        }
        (Cpu, CgroupV2 | CgroupV1) => {
            "The kernel counts the time of all processes; shellgate looks every 50 ms and ends them."
        }
        (Cpu, Watched | PerProcess) => {
            "shellgate adds up the time of all processes every 50 ms and ends them; the kernel ends each that has it alone."
        }
        (Disk, PerProcess) => {
            "The kernel lets no file grow larger than that; many smaller ones are not counted here."
        }
        (Disk, _) => {
            "The kernel lets no file grow larger than that; shellgate adds up what all processes write every 50 ms and ends them."
        }
    }
}
