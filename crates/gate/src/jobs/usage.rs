//! CPU time, memory and ports of a job's processes. The kernel is asked each time; nothing is cached.

use shellgate_exec::proc::{self, Link};

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
    for stat in pids.iter().filter_map(|pid| proc::of(*pid).stat()) {
        sum.cpu_ms += (stat.ticks + stat.reaped_ticks) * tick_ms;
        sum.memory_bytes += stat.resident_pages * page;
    }
    sum
}

/// The TCP ports that `pids` listen on.
pub(super) fn ports(pids: &[u32]) -> Vec<u16> {
    let Some(first) = pids.first() else { return Vec::new() };
    let known = listeners(*first);
    if known.is_empty() {
        return Vec::new();
    }
    let open = pids.iter().flat_map(|pid| proc::of(*pid).links());
    let port = |link| match link {
        Link::Socket(socket) => known.get(&socket).copied(),
        _ => None,
    };
    let mut ports: Vec<u16> = open.filter_map(port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
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
