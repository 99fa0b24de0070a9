//! The control groups of one execution.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::hierarchy::{Hierarchies, PREFIX};
use super::{LimitedResource, Limits, Mechanism};
use crate::ExecId;
use crate::outcome::plain;

/// How one version of control groups enforces one limit.
struct Method {
    resource: LimitedResource,
    mechanism: Mechanism,
    controller: &'static str,
    /// Files that the limit is written to, in its base unit.
    set: &'static [&'static str],
    /// Files that make the limit stricter, where the kernel has them, and their values.
    extra: &'static [(&'static str, ExtraValue)],
    /// Counters: a file and the name of a line in it, or an empty name where the file is a single number.
    counters: &'static [(&'static str, &'static str)],
    /// The unit of the counters in the limit's base unit. `None`: they count how often the kernel enforced the limit.
    scale: Option<u64>,
}

/// The value of an extra file.
enum ExtraValue {
    /// This word.
    Word(&'static str),
    /// The limit plus this.
    Limit(u64),
}

/// All methods, version 2 first.
const METHODS: [Method; 6] = [
    Method {
        resource: LimitedResource::Memory,
        mechanism: Mechanism::CgroupV2,
        controller: "memory",
        set: &["memory.max"],
        // Swapping would only make the command slow. `oom.group`: the kernel kills the whole group.
        extra: &[("memory.swap.max", ExtraValue::Word("0")), ("memory.oom.group", ExtraValue::Word("1"))],
        // The kernel also kills when the whole machine is out of memory. It was this limit only if both counters rose.
        counters: &[("memory.events", "oom_kill"), ("memory.events", "oom")],
        scale: None,
    },
    Method {
        resource: LimitedResource::Processes,
        mechanism: Mechanism::CgroupV2,
        controller: "pids",
        set: &["pids.max"],
        extra: &[],
        counters: &[("pids.events", "max")],
        scale: None,
    },
    Method {
        resource: LimitedResource::Cpu,
        mechanism: Mechanism::CgroupV2,
        // Every group of version 2 counts time.
        controller: "",
        set: &[],
        extra: &[],
        counters: &[("cpu.stat", "usage_usec")],
        scale: Some(1_000),
    },
    Method {
        resource: LimitedResource::Memory,
        mechanism: Mechanism::CgroupV1,
        controller: "memory",
        set: &["memory.limit_in_bytes"],
        // Memory and swap together. A little more, so that the first limit is the one that is reached.
        extra: &[("memory.memsw.limit_in_bytes", ExtraValue::Limit(1 << 20))],
        counters: &[("memory.oom_control", "oom_kill"), ("memory.failcnt", "")],
        scale: None,
    },
    Method {
        resource: LimitedResource::Processes,
        mechanism: Mechanism::CgroupV1,
        controller: "pids",
        set: &["pids.max"],
        extra: &[],
        counters: &[("pids.events", "max")],
        scale: None,
    },
    Method {
        resource: LimitedResource::Cpu,
        mechanism: Mechanism::CgroupV1,
        controller: "cpuacct",
        set: &[],
        extra: &[],
        counters: &[("cpuacct.usage", "")],
        scale: Some(1),
    },
];

/// The groups of one execution.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    folders: Vec<PathBuf>,
    /// Their `cgroup.procs`.
    entries: Vec<OwnedFd>,
    limits: Vec<GroupLimit>,
    /// Methods that failed, and why.
    pub(super) failures: Vec<(LimitedResource, Mechanism, String)>,
}

/// A limit that a group enforces.
#[derive(Clone, Debug)]
struct GroupLimit {
    method: usize,
    limit: u64,
    folder: PathBuf,
}

/// The name of an execution's groups.
pub(super) fn name(id: ExecId) -> String {
    format!("{PREFIX}{id}")
}

impl Groups {
    /// Every folder that [`make`](Self::make) may create.
    pub(super) fn places(hierarchies: &Hierarchies, name: &str) -> Vec<PathBuf> {
        let split = METHODS.iter().filter_map(|method| hierarchies.with_controller(method.controller));
        let all = hierarchies.unified.iter().map(PathBuf::as_path).chain(split);
        all.map(|parent| parent.join(name)).collect()
    }

    /// Creates groups for as many of `limits` as groups can enforce.
    pub(super) fn make(hierarchies: &Hierarchies, name: &str, limits: &Limits) -> Self {
        let mut made = Self::unified(hierarchies, name, limits);
        for (nth, method) in METHODS.iter().enumerate() {
            let limit = limits.get(method.resource);
            if method.mechanism != Mechanism::CgroupV1
                || limit == 0
                || made.mechanism(method.resource).is_some()
            {
                continue;
            }
            let Some(parent) = hierarchies.with_controller(method.controller) else { continue };
            made.hold(&[(nth, limit)], &parent.join(name));
        }
        made
    }

    /// Creates the group of version 2 that enforces most limits. A process can be in one such group only.
    fn unified(hierarchies: &Hierarchies, name: &str, limits: &Limits) -> Self {
        let wanted: Vec<(usize, u64)> = METHODS
            .iter()
            .enumerate()
            .filter(|(_, method)| method.mechanism == Mechanism::CgroupV2)
            .map(|(nth, method)| (nth, limits.get(method.resource)))
            .filter(|(_, limit)| *limit > 0)
            .collect();
        let mut best = Self::default();
        for (above, parent) in hierarchies.unified.iter().enumerate() {
            if wanted.is_empty() || best.limits.len() == wanted.len() {
                break;
            }
            if above == 0 {
                // Not in the groups above, which have other processes in them. It fails when ours has, too.
                enable_controllers(parent, &wanted);
            }
            let mut made = Self { failures: std::mem::take(&mut best.failures), ..Self::default() };
            made.hold(&wanted, &parent.join(name));
            if made.limits.len() > best.limits.len() {
                best.remove();
                best = made;
            } else {
                made.remove();
                best.failures = made.failures;
            }
        }
        best
    }

    /// Creates one group with as many of the wanted limits as it can enforce.
    fn hold(&mut self, wanted: &[(usize, u64)], folder: &Path) {
        let before = self.limits.len();
        let opened = make_folder(folder).and_then(|()| {
            OpenOptions::new().write(true).open(folder.join("cgroup.procs")).map(OwnedFd::from)
        });
        for (nth, limit) in wanted {
            let Some(method) = METHODS.get(*nth) else { continue };
            let held = match &opened {
                Ok(_) => method.apply(folder, *limit),
                Err(error) => Err(format!("{}: {}", folder.display(), plain(error))),
            };
            match held {
                Ok(()) => {
                    self.limits.push(GroupLimit { method: *nth, limit: *limit, folder: folder.to_owned() })
                }
                Err(why) => self.failures.push((method.resource, method.mechanism, why)),
            }
        }
        match opened {
            Ok(entry) if self.limits.len() > before => {
                self.folders.push(folder.to_owned());
                self.entries.push(entry);
            }
            // A folder that can't be removed is in the note of this execution, and is removed later.
            _ => drop(fs::remove_dir(folder)),
        }
    }

    /// The method that enforces the limit on `resource`, if a group does.
    pub(crate) fn mechanism(&self, resource: LimitedResource) -> Option<Mechanism> {
        let mut methods = self.limits.iter().filter_map(|held| METHODS.get(held.method));
        methods.find(|method| method.resource == resource).map(|method| method.mechanism)
    }

    /// The files that a process writes to in order to enter the groups.
    pub(crate) fn entries(&self) -> Vec<BorrowedFd<'_>> {
        self.entries.iter().map(AsFd::as_fd).collect()
    }

    /// The limits that were reached.
    pub(crate) fn reached(&self) -> impl Iterator<Item = (LimitedResource, u64)> {
        let methods = self.limits.iter().filter_map(|held| Some((held, METHODS.get(held.method)?)));
        methods
            .filter(|(held, method)| method.is_reached(&held.folder, held.limit))
            .map(|(held, method)| (method.resource, held.limit))
    }

    /// Removes the groups. Returns whether none is left.
    pub(crate) fn remove(&mut self) -> bool {
        self.entries.clear();
        self.limits.clear();
        self.folders.retain(|folder| !remove_group(folder));
        self.folders.is_empty()
    }
}

impl Method {
    fn apply(&self, folder: &Path, limit: u64) -> Result<(), String> {
        let limit = limit.saturating_mul(self.resource.unit());
        let write = |file: &str, text: &str| {
            let path = folder.join(file);
            // Doesn't create the file: in an ordinary folder that would succeed.
            let opened = OpenOptions::new().write(true).open(&path);
            let written = opened.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
            written.map_err(|error| format!("{}: {}", path.display(), plain(&error)))
        };
        for file in self.set {
            write(file, &limit.to_string())?;
        }
        for (file, extra) in self.extra {
            // Kernels without these files enforce the limit all the same.
            let _ = match extra {
                ExtraValue::Word(word) => write(file, word),
                ExtraValue::Limit(more) => write(file, &limit.saturating_add(*more).to_string()),
            };
        }
        let missing = self.counters.iter().find(|(file, line)| count(folder, file, line).is_none());
        missing.map_or(Ok(()), |(file, _)| Err(format!("{}: no such count", folder.join(file).display())))
    }

    fn is_reached(&self, folder: &Path, limit: u64) -> bool {
        let mut counts = self.counters.iter().map(|(file, line)| count(folder, file, line).unwrap_or(0));
        match self.scale {
            None => counts.all(|count| count > 0),
            Some(scale) => {
                let most = limit.saturating_mul(self.resource.unit());
                counts.all(|count| count.saturating_mul(scale) >= most)
            }
        }
    }
}

/// A counter in a file of a group.
fn count(folder: &Path, file: &str, line: &str) -> Option<u64> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    let mut numbers = text.lines().filter_map(|entry| match line {
        "" => Some(entry),
        _ => entry.strip_prefix(line)?.strip_prefix(' '),
    });
    numbers.next()?.trim().parse().ok()
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Enables controllers of version 2 for the groups below `parent`.
fn enable_controllers(parent: &Path, wanted: &[(usize, u64)]) {
    let file = parent.join("cgroup.subtree_control");
    let on = fs::read_to_string(&file).unwrap_or_default();
    let names = wanted.iter().filter_map(|(nth, _)| METHODS.get(*nth)).map(|method| method.controller);
    for name in names.filter(|name| !name.is_empty() && !on.split_whitespace().any(|on| on == *name)) {
        let opened = OpenOptions::new().write(true).open(&file);
        // Where this fails, the files for the limit are missing, which is noticed and reported later.
        let _ = opened.and_then(|mut file| io::Write::write_all(&mut file, format!("+{name}").as_bytes()));
    }
}

/// How often removing a group is tried: a process leaves its group a moment after it was reaped.
const MAX_REMOVE_ATTEMPTS: u32 = 10;

/// Removes a group and the groups below it, which a shellgate inside may have left. Returns whether it is gone.
pub(super) fn remove_group(folder: &Path) -> bool {
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_group(&entry.path());
    }
    for _ in 0..MAX_REMOVE_ATTEMPTS {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return error.kind() == io::ErrorKind::NotFound,
            Ok(()) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a group with these files.
    fn group(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn a_limit_is_written_in_bytes_and_its_counters_are_read() {
        let events = "low 0\nmax 7\noom 1\noom_kill 0\n";
        let folder = group(&[("memory.max", "max"), ("memory.events", events)]);
        let method = &METHODS[0];
        method.apply(folder.path(), 3).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("memory.max")).unwrap(), "3145728");
        assert!(!folder.path().join("memory.swap.max").exists(), "nothing is made that isn't there");
        assert!(!method.is_reached(folder.path(), 3), "no process was killed");
        fs::write(folder.path().join("memory.events"), "oom 0\noom_kill 1\n").unwrap();
        assert!(!method.is_reached(folder.path(), 3), "killed because the machine was out of memory");
        fs::write(folder.path().join("memory.events"), "oom 1\noom_kill 1\n").unwrap();
        assert!(method.is_reached(folder.path(), 3));
    }

    #[test]
    fn time_is_compared_in_its_own_unit() {
        let folder =
            group(&[("cpu.stat", "usage_usec 1999999\nuser_usec 3\n"), ("cpuacct.usage", "2000000000\n")]);
        assert!(!METHODS[2].is_reached(folder.path(), 2));
        assert!(METHODS[2].is_reached(folder.path(), 1));
        assert!(METHODS[5].is_reached(folder.path(), 2));
    }

    #[test]
    fn an_ordinary_folder_enforces_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let hierarchies = Hierarchies {
            unified: vec![parent.path().to_owned()],
            split: vec![(vec!["memory".to_owned()], parent.path().to_owned())],
        };
        let limits = Limits { memory_mb: 1, processes: 1, cpu_s: 1, disk_mb: 1 };
        let made = Groups::make(&hierarchies, "shellgate-test", &limits);
        assert!(made.entries.is_empty() && made.limits.is_empty());
        assert_eq!(made.failures.len(), 4, "three by version 2, memory by version 1: {:?}", made.failures);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "and nothing is left");
    }
}
