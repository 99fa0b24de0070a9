//! What a tree of processes uses, as `/proc` shows it.

use std::sync::OnceLock;

use shellgate_sandbox::reap::Dead;

use crate::proc::{self, Stat};

/// What one look at a tree found, in bytes, processes and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) tasks: u64,
    pub(crate) cpu: u64,
    pub(crate) disk: u64,
}

/// Counts for one tree. A process that ends hands its counts to the parent that reaps it. What the keeper reaps would be
/// lost, so it is added up here.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    gone: Usage,
}

impl Meter {
    /// A child of the keeper's has ended, having used so much with those it waited for.
    pub(crate) fn record_exit(&mut self, dead: &Dead) {
        self.gone.cpu += u64::try_from(dead.cpu.as_nanos()).unwrap_or(u64::MAX);
        self.gone.disk += dead.written;
    }

    /// What the tree with these living processes has used.
    pub(crate) fn read(&self, living: impl Iterator<Item = (u32, Stat)>) -> Usage {
        living.fold(self.gone, |sum, (pid, stat)| Usage {
            tasks: sum.tasks + stat.threads,
            cpu: sum.cpu + time(&stat),
            disk: sum.disk + proc::of(pid).bytes_written().unwrap_or(0),
        })
    }
}

/// Nanoseconds of processor time that a process and those it waited for have used.
fn time(stat: &Stat) -> u64 {
    static TICK: OnceLock<u64> = OnceLock::new();
    let tick = TICK.get_or_init(|| 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1));
    (stat.ticks + stat.reaped_ticks).saturating_mul(*tick)
}

/// Whether this kernel counts what processes write.
pub(super) fn counts_writes() -> bool {
    proc::own().bytes_written().is_some()
}

/// The memory of a tree, if that is more than `most` bytes: pages that the kernel can't drop, in memory or swapped out.
///
/// What processes have in common counts once, which takes time to find out. So first it is added up as if they had
/// nothing in common; mostly even that is less than they may have.
pub(crate) fn memory_above(pids: &[u32], most: u64) -> bool {
    let apart: u64 = pids.iter().map(|pid| resident(*pid)).sum();
    apart > most && pids.iter().map(|pid| share(*pid)).sum::<u64>() > most
}

fn resident(pid: u32) -> u64 {
    proc::of(pid).status().map_or(0, |status| status.private_bytes())
}

/// Its proportional share of shared memory, plus its private memory. Where the kernel hides that, shared memory counts fully.
fn share(pid: u32) -> u64 {
    proc::of(pid).proportional_bytes().unwrap_or_else(|| resident(pid))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_usage_of_a_process_and_its_reaped_children_is_counted() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let script = "head -c 3000000 /dev/zero >a; while [ $((i += 1)) -lt 60000 ]; do :; done";
        let mut child = Command::new("sh").args(["-c", script]).current_dir(&folder).spawn().unwrap();
        let alive = proc::of(child.id()).stat().unwrap();
        let meter = Meter::default();
        let mut most = Usage::default();
        while child.try_wait().unwrap().is_none() {
            let now = meter.read(proc::of(child.id()).stat().map(|stat| (child.id(), stat)).into_iter());
            // Ordinary users can't read how much a zombie has written.
            most.tasks = most.tasks.max(now.tasks);
            most.cpu = most.cpu.max(now.cpu);
            most.disk = most.disk.max(now.disk);
        }
        assert_eq!((alive.threads, most.tasks), (1, 1));
        assert!(most.cpu > 0, "{most:?}");
        assert!(counts_writes() && most.disk >= 3_000_000, "{most:?}");
    }

    #[test]
    fn the_usage_of_ended_processes_is_kept() {
        let pid = rustix::process::getpid();
        let end = shellgate_sandbox::reap::End::Code(0);
        let dead = Dead { pid, end, cpu: std::time::Duration::from_millis(3), written: 7 };
        let mut meter = Meter::default();
        assert_eq!(meter.read(std::iter::empty()), Usage::default());
        meter.record_exit(&dead);
        meter.record_exit(&dead);
        assert_eq!(meter.read(std::iter::empty()), Usage { tasks: 0, cpu: 6_000_000, disk: 14 });
    }

    #[test]
    fn memory_that_processes_share_counts_once() {
        let script = "import os, sys, time\nx = bytearray(os.urandom(40 << 20))\n\
                      for _ in range(3):\n    if os.fork() == 0: time.sleep(60)\n\
                      print('ready', flush=True); time.sleep(60)";
        let mut command = Command::new("python3");
        let mut child = command.args(["-c", script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
            .unwrap();
        let mut pids = proc::of(child.id()).children();
        pids.push(child.id());
        assert_eq!(pids.len(), 4);
        assert!(memory_above(&pids, 40 << 20), "it is there");
        assert!(!memory_above(&pids, 90 << 20), "and counts once");
        assert!(pids.iter().map(|pid| resident(*pid)).sum::<u64>() > 160 << 20, "apart it would be more");
        for pid in pids {
            crate::sys::processes::signal_own_child(pid, rustix::process::Signal::KILL);
        }
        child.wait().unwrap();
    }
}
