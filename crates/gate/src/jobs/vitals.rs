//! What the kernel knows of a job's processes: time, memory, ports. Asked when somebody wants to know, never kept.

use shellgate_exec::proc::{self, Link};

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
    for stat in pids.iter().filter_map(|pid| proc::of(*pid).stat()) {
        sum.cpu_ms += (stat.ticks + stat.reaped_ticks) * tick_ms;
        sum.memory_bytes += stat.resident_pages * page;
    }
    sum
}

/// The ports that one of `pids` listens on.
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
