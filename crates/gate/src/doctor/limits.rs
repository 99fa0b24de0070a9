//! How each limit would be enforced, and what that means.

use std::path::PathBuf;

use serde::Serialize;
use shellgate_exec::{LimitedResource, Mechanism};

use super::{Check, Health};
use crate::Gate;
use crate::settings::Settings;

/// How one limit would be enforced.
#[derive(Clone, Debug, Serialize)]
pub struct LimitCheck {
    /// Its setting, in `[limits]`.
    pub limit: &'static str,
    /// Its value in the settings; 0: no limit.
    pub value: u64,
    /// `cgroup_v2`, `cgroup_v1`, `watched` or `per_process`.
    pub mechanism: &'static str,
    /// What that means.
    pub message: &'static str,
    /// Why better mechanisms don't work, in the kernel's words.
    pub tried: Vec<String>,
}

/// The name of the check of the settings.
pub(super) const SETTINGS: &str = "settings";

/// The settings in force, and the check whether they can be read.
pub(super) fn settings(root: Option<PathBuf>) -> (Option<Settings>, Check) {
    let mut builder = Gate::builder();
    if let Some(root) = root {
        builder = builder.root(root);
    }
    match builder.judge() {
        Ok(judge) => {
            let check = Check::new(SETTINGS, Health::Ok, "The settings can be read.");
            (Some(judge.settings().clone()), check)
        }
        Err(error) => {
            let check =
                Check::new(SETTINGS, Health::Missing, format!("No command can run: {}.", error.message));
            let hint = error.hint.map_or_else(|| "correct the file".to_owned(), |hint| hint.to_string());
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
            "The kernel counts the memory of all processes of a command, and kills all of them when they need more."
        }
        (Memory, CgroupV1) => {
            "The kernel counts the memory of all processes of a command, and kills one when they need more; shellgate kills the others."
        }
        (Memory, Watched | PerProcess) => {
            "shellgate adds up the memory of all processes of a command every 50 ms, and kills them when they use more; in between they can use more."
        }
        (Processes, CgroupV2 | CgroupV1) => {
            "The kernel refuses to create more processes and threads; the command continues with those it has."
        }
        (Processes, Watched | PerProcess) => {
            "shellgate counts the processes and threads of a command every 50 ms, and kills the command when it has more."
        }
        (Cpu, CgroupV2 | CgroupV1) => {
            "The kernel counts the processor time of all processes of a command; shellgate checks it every 50 ms, and kills them when they use more."
        }
        (Cpu, Watched | PerProcess) => {
            "shellgate adds up the processor time of all processes of a command every 50 ms, and kills them when they use more; the kernel kills a single process that uses more."
        }
        (Disk, PerProcess) => "The kernel refuses larger files; several smaller files are not added up.",
        (Disk, _) => {
            "The kernel refuses larger files; shellgate adds up what all processes of a command write every 50 ms, and kills them when they write more."
        }
    }
}
