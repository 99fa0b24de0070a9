//! Resource limits of a command, counted over its whole process tree.
//!
//! There are three ways to enforce a limit. They are tried in this order, and the first that works is used:
//!
//! 1. a control group of version 2, below the keeper's own or beside it, where the user may write;
//! 2. a control group of version 1, below the keeper's own;
//! 3. the keeper measures: it adds up what `/proc` says about the tree, up to twenty times a second.
//!
//! In a control group the kernel enforces memory and processes by itself. It counts processor time there, and the keeper
//! reads the counter. No control group counts bytes written to disk, so the keeper always measures those. Between two
//! measurements a tree may exceed a limit. Therefore each process also gets resource limits ([`rlimits()`]), wide enough
//! that a process which reaches one has exceeded the limit of the tree.
//!
//! An execution without limits costs nothing: no file is opened and nothing is measured.

mod group;
mod hierarchy;
mod meter;
mod notes;
mod probe;
mod rlimits;

use serde::{Deserialize, Serialize};

pub(crate) use group::Groups;
pub(crate) use hierarchy::Hierarchies;
pub(crate) use meter::{Meter, Usage, memory_above};
pub(crate) use notes::GroupNote;
pub use notes::{GroupNotes, group_notes};
pub use probe::{ProbeResult, probe};
pub(crate) use rlimits::rlimits;

/// A resource that can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitedResource {
    /// Megabytes of memory.
    Memory,
    /// Processes and threads at one time.
    Processes,
    /// Seconds of processor time.
    Cpu,
    /// Megabytes written to disks.
    Disk,
}

impl LimitedResource {
    /// All of them, in the order of the settings.
    pub const ALL: [Self; 4] = [Self::Memory, Self::Processes, Self::Cpu, Self::Disk];

    /// The name of its setting.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Memory => "memory_mb",
            Self::Processes => "processes",
            Self::Cpu => "cpu_s",
            Self::Disk => "disk_mb",
        }
    }

    /// The unit of its setting, in bytes, nanoseconds or processes.
    pub(crate) const fn unit(self) -> u64 {
        match self {
            Self::Memory | Self::Disk => 1 << 20,
            Self::Processes => 1,
            Self::Cpu => 1_000_000_000,
        }
    }
}

/// The limits of one execution, in the units of the settings. 0: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Megabytes of memory.
    pub memory_mb: u64,
    /// Processes and threads at one time.
    pub processes: u64,
    /// Seconds of processor time.
    pub cpu_s: u64,
    /// Megabytes written to disks.
    pub disk_mb: u64,
}

impl Limits {
    /// The limit on `resource`; 0: none.
    #[must_use]
    pub const fn get(&self, resource: LimitedResource) -> u64 {
        match resource {
            LimitedResource::Memory => self.memory_mb,
            LimitedResource::Processes => self.processes,
            LimitedResource::Cpu => self.cpu_s,
            LimitedResource::Disk => self.disk_mb,
        }
    }

    /// Whether no limit is set.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The limits that are set.
    pub(crate) fn set(&self) -> impl Iterator<Item = (LimitedResource, u64)> {
        let limits = *self;
        let all = LimitedResource::ALL.into_iter().map(move |resource| (resource, limits.get(resource)));
        all.filter(|(_, limit)| *limit > 0)
    }
}

/// A limit that an execution reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceededLimit {
    /// The resource.
    pub resource: LimitedResource,
    /// The limit, in the unit of its setting.
    pub limit: u64,
    /// What happened then.
    pub action: LimitAction,
}

/// What happens to an execution that reaches a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitAction {
    /// Its whole process tree was killed.
    Ended,
    /// The kernel refused it more of the resource, and it went on.
    Refused,
}

/// How a limit is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// By a control group of version 2.
    CgroupV2,
    /// By a control group of version 1.
    CgroupV1,
    /// By the keeper, which measures the tree.
    Watched,
    /// By a resource limit of each process only.
    PerProcess,
}

impl Mechanism {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CgroupV2 => "cgroup_v2",
            Self::CgroupV1 => "cgroup_v1",
            Self::Watched => "watched",
            Self::PerProcess => "per_process",
        }
    }
}
