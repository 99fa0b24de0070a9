//! The processes of a place: keepers, and those of its pods.

use super::{Place, pids};

impl Place {
    /// The keepers of this place. A child that a keeper has just forked still has its name and descriptors.
    pub(crate) fn keepers(&self) -> Vec<u64> {
        let all = self.holders("shellgate-keep");
        let parent = |pid: u64| -> Option<u64> {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
        };
        all.iter().copied().filter(|pid| !parent(*pid).is_some_and(|parent| all.contains(&parent))).collect()
    }

    /// The process that has the number `inner` in the pod of a session of this place. `None`: it has ended.
    pub(crate) fn process(&self, inner: u64) -> Option<u64> {
        let namespace = |pid: u64| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let status = |pid: u64| std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |pid: u64, name: &str| {
            let line = status(pid).lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
            line.and_then(|line| line.split_whitespace().last()?.parse::<u64>().ok())
        };
        let keepers = self.keepers();
        let is_pod = |pid: &u64| {
            status(*pid).starts_with("Name:\tshellgate-pod\n")
                && field(*pid, "PPid:").is_some_and(|parent| keepers.contains(&parent))
        };
        let pods: Vec<_> = pids().filter(is_pod).filter_map(namespace).collect();
        let is_it = |pid: &u64| {
            namespace(*pid).is_some_and(|own| pods.contains(&own)) && field(*pid, "NSpid:") == Some(inner)
        };
        pids().find(is_it)
    }

    /// Processes of this name that hold something in the state folder: the folder of sockets, or files of output.
    pub(crate) fn holders(&self, comm: &str) -> Vec<u64> {
        let state = self.state();
        let state = state.canonicalize().unwrap_or(state);
        let holds = |pid: &u64| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            let mut targets = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
            name.trim() == comm && targets.any(|target| target.starts_with(&state))
        };
        pids().filter(holds).collect()
    }
}
