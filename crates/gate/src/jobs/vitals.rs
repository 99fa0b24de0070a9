//! What the kernel knows of a job's processes: time, memory, ports. Asked when somebody wants to know, never kept.

use std::fs;

use super::listeners::listeners;

/// What a group of processes uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Vitals {
    /// Time on a CPU, of those that live and of their children that they waited for.
    pub(super) cpu_ms: u64,
    /// Memory that is in use.
    pub(super) memory_bytes: u64,
}

/// Looks at `pids`. One that has ended counts nothing.
pub(super) fn vitals(pids: &[u32]) -> Vitals {
    let tick_ms = 1_000 / rustix::param::clock_ticks_per_second().max(1);
    let page = rustix::param::page_size() as u64;
    let mut sum = Vitals::default();
    for (ticks, pages) in pids.iter().filter_map(|pid| stat(*pid)) {
        sum.cpu_ms += ticks * tick_ms;
        sum.memory_bytes += pages * page;
    }
    sum
}

/// Clock ticks and resident pages.
fn stat(pid: u32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may hold anything: count from its end. State is field 3 of the line.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let ticks = number(14)? + number(15)? + number(16)? + number(17)?;
    Some((ticks, number(24)?))
}

/// The ports that one of `pids` listens on.
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
    fn our_own_listener_is_found_and_its_end_is_seen() {
        let own = [std::process::id()];
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(ports(&own).contains(&port));
        drop(listener);
        assert!(!ports(&own).contains(&port));
    }

    #[test]
    fn we_use_memory() {
        assert!(vitals(&[std::process::id()]).memory_bytes > 100_000);
        assert_eq!(vitals(&[u32::MAX]), Vitals::default());
    }
}
