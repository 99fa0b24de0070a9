//! CPU time, memory and ports of a job's processes. The kernel is asked each time; nothing is cached.

use std::fs;

use super::listeners::listeners;

/// Resources that a group of processes uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResourceUsage {
    /// CPU time of the living processes and of the children that they have reaped.
    pub(super) cpu_ms: u64,
    /// Resident memory.
    pub(super) memory_bytes: u64,
}

/// The resources that `pids` use together. A process that has ended counts as zero.
pub(super) fn measure(pids: &[u32]) -> ResourceUsage {
    let tick_ms = 1_000 / rustix::param::clock_ticks_per_second().max(1);
    let page = rustix::param::page_size() as u64;
    let mut sum = ResourceUsage::default();
    for (ticks, pages) in pids.iter().filter_map(|pid| stat(*pid)) {
        sum.cpu_ms += ticks * tick_ms;
        sum.memory_bytes += pages * page;
    }
    sum
}

/// Clock ticks and resident pages.
fn stat(pid: u32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain any character, so fields are counted from its end. The first is field 3.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let ticks = number(14)? + number(15)? + number(16)? + number(17)?;
    Some((ticks, number(24)?))
}

/// The TCP ports that `pids` listen on.
pub(super) fn ports(pids: &[u32]) -> Vec<u16> {
    let Some(first) = pids.first() else { return Vec::new() };
    let known = listeners(*first);
    if known.is_empty() {
        return Vec::new();
    }
    let open = pids.iter().flat_map(|pid| sockets(*pid));
    let mut ports: Vec<u16> = open.filter_map(|socket| known.get(&socket).copied()).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// The inode numbers of the sockets that a process has open.
fn sockets(pid: u32) -> Vec<u64> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    open.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_listener_is_found_and_a_closed_one_is_not() {
        let own = [std::process::id()];
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(ports(&own).contains(&port));
        drop(listener);
        assert!(!ports(&own).contains(&port));
    }

    #[test]
    fn a_living_process_uses_memory_and_an_ended_one_none() {
        assert!(measure(&[std::process::id()]).memory_bytes > 100_000);
        assert_eq!(measure(&[u32::MAX]), ResourceUsage::default());
    }
}
