//! The control groups that this process is in, from `/proc`.

use std::path::{Path, PathBuf};

use crate::proc::{self, CgroupMembership, Mount};

/// The prefix of the names of all groups that shellgate creates.
pub(super) const PREFIX: &str = "shellgate-";

/// How many levels of groups of version 2 are tried, from the process's own upwards.
const MAX_LEVELS: usize = 8;

/// The folders of the groups that this process is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hierarchies {
    /// Version 2: our own group first, then those above it.
    pub(super) unified: Vec<PathBuf>,
    /// Version 1: the controllers of each hierarchy, and our own group in it.
    pub(super) split: Vec<(Vec<String>, PathBuf)>,
}

impl Hierarchies {
    /// The groups of this process. Files that can't be read count as empty.
    pub(crate) fn own() -> Self {
        Self::find(proc::own().cgroups(), proc::own().mounts())
    }

    /// Our group in the hierarchy of version 1 that has this controller.
    pub(super) fn with_controller(&self, controller: &str) -> Option<&Path> {
        let has = |controllers: &[String]| controllers.iter().any(|name| name == controller);
        self.split.iter().find(|(controllers, _)| has(controllers)).map(|(_, folder)| folder.as_path())
    }

    fn find(groups: Vec<CgroupMembership>, mounts: Vec<Mount>) -> Self {
        let mounts: Vec<GroupMount> = mounts.into_iter().filter_map(GroupMount::new).collect();
        let mut found = Self::default();
        for CgroupMembership { controllers, path } in groups {
            if controllers.is_empty() {
                let mount = mounts.iter().find(|mount| mount.is_unified);
                found.unified = mount.map(|mount| mount.with_parents(&path)).unwrap_or_default();
                continue;
            }
            let serves = |mount: &&GroupMount| {
                !mount.is_unified && controllers.iter().all(|name| mount.options.contains(name))
            };
            if let Some(folder) = mounts.iter().find(serves).and_then(|mount| mount.folder(&path)) {
                found.split.push((controllers, folder));
            }
        }
        found
    }
}

/// A mounted file system of control groups.
struct GroupMount {
    /// The group at its root.
    root: String,
    at: PathBuf,
    is_unified: bool,
    options: Vec<String>,
}

impl GroupMount {
    fn new(mount: Mount) -> Option<Self> {
        let is_unified = match mount.kind.as_str() {
            "cgroup2" => true,
            "cgroup" => false,
            _ => return None,
        };
        Some(Self { root: mount.root, at: mount.place, is_unified, options: mount.options })
    }

    /// The folder of the group `path`. `None`: it is outside of this mount.
    fn folder(&self, path: &str) -> Option<PathBuf> {
        let below = Path::new(path).strip_prefix(&self.root).ok()?;
        // A path with `..` leads out of the namespace.
        let inside = !below.components().any(|part| part == std::path::Component::ParentDir);
        inside.then(|| self.at.join(below))
    }

    /// The folder of the group `path` and those above it. The list stops at a group that shellgate created: a process in such a group must not
    /// escape its limits.
    fn with_parents(&self, path: &str) -> Vec<PathBuf> {
        let Some(own) = self.folder(path) else { return Vec::new() };
        let mut folders = Vec::new();
        for folder in own.ancestors().take(MAX_LEVELS).take_while(|folder| folder.starts_with(&self.at)) {
            folders.push(folder.to_owned());
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(PREFIX) {
                break;
            }
        }
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 /box /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    fn parsed(groups: &str, mounts: &str) -> Hierarchies {
        Hierarchies::find(CgroupMembership::parse_all(groups), Mount::parse_all(mounts))
    }

    #[test]
    fn both_versions_are_found_below_their_mounts() {
        let groups = "4:memory:/box/mine\n2:cpu,cpuacct:/\n9:name=systemd:/\n0::/user.slice/a.scope\n";
        let found = parsed(groups, BOTH);
        let folder = |controller| found.with_controller(controller).map(Path::to_owned);
        assert_eq!(folder("memory"), Some(PathBuf::from("/sys/fs/cgroup/memory/mine")));
        assert_eq!(folder("cpuacct"), Some(PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/")));
        assert_eq!((folder("pids"), folder("name=systemd")), (None, None), "not mounted");
        let unified = ["user.slice/a.scope", "user.slice", ""];
        assert_eq!(found.unified, unified.map(|below| Path::new("/sys/fs/cgroup/unified").join(below)));
    }

    #[test]
    fn a_group_outside_the_mounts_has_no_folder() {
        for group in ["0::/../other\n4:memory:/elsewhere\n", "", "4:memory\n"] {
            assert_eq!(parsed(group, BOTH), Hierarchies::default(), "{group}");
        }
        assert_eq!(parsed("0::/\n", ""), Hierarchies::default());
    }

    #[test]
    fn no_process_escapes_from_a_group_of_shellgate() {
        let found = parsed("0::/a/shellgate-X/b\n", BOTH);
        let all = ["a/shellgate-X/b", "a/shellgate-X"];
        assert_eq!(found.unified, all.map(|below| Path::new("/sys/fs/cgroup/unified").join(below)));
    }
}
