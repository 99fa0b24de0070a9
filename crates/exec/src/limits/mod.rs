//! What a command may use, counted over its whole tree of processes.
//!
//! Three ways hold a limit, the first that works counts, and which one works is found by trying it:
//!
//! 1. a control group of version 2, below the keeper's own or beside it, where that is ours to write;
//! 2. a control group of version 1, below the keeper's own;
//! 3. the keeper measures: it adds up what `/proc` says of the tree, twenty times a second.
//!
//! The kernel counts in a group and holds memory and processes there by itself; processor time is counted there and the
//! keeper looks. No group counts what is added to a disk, so that is always looked at. Where we only look, something can
//! happen between two looks: so resource limits of each process stand behind ([`rlimits`]), wide enough that what breaks
//! one has broken the limit as well.
//!
//! Without a limit nothing of this happens: no file is opened, nobody looks.

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

/// Something that can be limited.
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

    /// What one of its setting's units is in bytes, nanoseconds or processes.
    pub(crate) const fn unit(self) -> u64 {
        match self {
            Self::Memory | Self::Disk => 1 << 20,
            Self::Processes => 1,
            Self::Cpu => 1_000_000_000,
        }
    }
}

/// What one execution may use, in the units of the settings. 0: as much as it likes.
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

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Those that are set.
    pub(crate) fn set(&self) -> impl Iterator<Item = (LimitedResource, u64)> {
        let limits = *self;
        let all = LimitedResource::ALL.into_iter().map(move |resource| (resource, limits.get(resource)));
        all.filter(|(_, limit)| *limit > 0)
    }
}

/// A limit that an execution reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceededLimit {
    /// Which.
    pub resource: LimitedResource,
    /// How much it was, in the unit of its setting.
    pub limit: u64,
    /// What became of it.
    pub action: LimitAction,
}

/// What becomes of who reaches a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitAction {
    /// It was ended, with its whole tree.
    Ended,
    /// It was given no more, and went on.
    Refused,
}

/// How a limit is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// By a control group of version 2.
    CgroupV2,
    /// By a control group of version 1.
    CgroupV1,
    /// By the keeper, which looks at the tree now and then.
    Watched,
    /// By a resource limit of each process alone.
    PerProcess,
}

impl Mechanism {
    /// The word for programs.
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
