//! Whether a process waits for input, from the system call that it is in.
//!
//! `/proc/PID/task/TID/syscall` has the number and the arguments of the call that a thread sleeps in. A `read` names a
//! descriptor; `poll` and `select` name memory, where the descriptors are; an `epoll` descriptor lists what it waits
//! for in its `fdinfo`. The kernel lets an ancestor read all of it, unless the process runs as another user.

use std::io;
use std::os::unix::fs::MetadataExt as _;

use crate::input::ReadState;
use crate::proc::{self, SystemCall};

/// How a system call waits for something to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// The first argument is the descriptor.
    Read,
    /// The first argument points to as many `pollfd` as the second says.
    Poll,
    /// The second argument points to a set of as many bits as the first says.
    Select,
    /// The first argument is an epoll descriptor.
    Epoll,
}

/// The calls that wait, by number.
#[cfg(target_arch = "x86_64")]
const CALLS: &[(u64, Waits)] = &[
    (0, Waits::Read),
    (19, Waits::Read),
    (7, Waits::Poll),
    (271, Waits::Poll),
    (23, Waits::Select),
    (270, Waits::Select),
    (232, Waits::Epoll),
    (281, Waits::Epoll),
    (441, Waits::Epoll),
];
#[cfg(not(target_arch = "x86_64"))]
const CALLS: &[(u64, Waits)] = &[
    (63, Waits::Read),
    (65, Waits::Read),
    (73, Waits::Poll),
    (72, Waits::Select),
    (22, Waits::Epoll),
    (441, Waits::Epoll),
];

/// More threads than this aren't looked at.
const MAX_THREADS: usize = 256;

/// More descriptors than this aren't looked at.
const MAX_DESCRIPTORS: u64 = 4096;

/// `/dev/tty`, major 5 and minor 0: whichever terminal a process has.
const OWN_TERMINAL: u64 = 5 << 8;

/// `POLLIN` and `POLLRDNORM`; epoll has the same numbers.
const READABLE: u32 = 0x41;

/// A terminal, by the number of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device(pub(crate) u64);

impl Device {
    /// As `/proc/PID/stat` writes it.
    fn in_stat(self) -> u64 {
        let (major, minor) = (u64::from(rustix::fs::major(self.0)), u64::from(rustix::fs::minor(self.0)));
        minor & 0xff | major << 8 | (minor & !0xff) << 12
    }

    /// Whether it is the terminal of the session of `pid`.
    pub(crate) fn is_of(self, pid: u32) -> bool {
        proc::of(pid).stat().is_some_and(|stat| u64::from(stat.terminal) == self.in_stat())
    }

    /// Whether descriptor `fd` of `pid` is this terminal.
    pub(crate) fn is_open_as(self, pid: u32, fd: u64) -> bool {
        let number = proc::of(pid).descriptor_metadata(fd).map_or(0, |metadata| metadata.rdev());
        number == self.0 || number == OWN_TERMINAL && self.is_of(pid)
    }
}

/// Whether `pid` waits for input from `device`.
pub(crate) fn reads(pid: u32, device: Device) -> ReadState {
    let process = proc::of(pid);
    let mut seen = ReadState::NotReading;
    for thread in process.threads().into_iter().take(MAX_THREADS) {
        match process.system_call(thread) {
            Ok(Some(call)) if waits(pid, call, device) => return ReadState::Reading,
            Err(error) if is_hidden(&error) && sleeps(pid) => seen = ReadState::Unknown,
            _ => {}
        }
    }
    seen
}

/// Whether it isn't ours to see, or the kernel has no such file at all.
fn is_hidden(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::PermissionDenied => true,
        io::ErrorKind::NotFound => !proc::own().tells_system_calls(),
        _ => false,
    }
}

/// Whether `pid` sleeps, and isn't about to end.
fn sleeps(pid: u32) -> bool {
    proc::of(pid).stat().is_some_and(|stat| stat.letter == b'S' && !stat.is_exiting())
}

fn waits(pid: u32, call: SystemCall, device: Device) -> bool {
    let Some((_, how)) = CALLS.iter().find(|(known, _)| *known == call.number) else { return false };
    let [first, second] = call.arguments;
    let is_ours = |fd: u64| device.is_open_as(pid, fd);
    match how {
        Waits::Read => is_ours(first),
        Waits::Poll => polled(pid, first, second).into_iter().any(is_ours),
        Waits::Select => selected(pid, second, first).into_iter().any(is_ours),
        Waits::Epoll => registered(pid, first).into_iter().any(is_ours),
    }
}

fn polled(pid: u32, at: u64, count: u64) -> Vec<u64> {
    let memory = proc::of(pid).memory(at, count.min(MAX_DESCRIPTORS) * 8);
    let entries = memory.chunks_exact(8).filter_map(|entry| {
        let (fd, events) = (entry.first_chunk::<4>()?, entry.get(4..)?.first_chunk::<2>()?);
        let wanted = u32::from(u16::from_ne_bytes(*events)) & READABLE != 0;
        u64::try_from(i32::from_ne_bytes(*fd)).ok().filter(|_| wanted)
    });
    entries.collect()
}

fn selected(pid: u32, at: u64, count: u64) -> Vec<u64> {
    if at == 0 {
        return Vec::new();
    }
    let count = count.min(MAX_DESCRIPTORS);
    let memory = proc::of(pid).memory(at, count.div_ceil(64) * 8);
    let bit = |fd: &u64| {
        let byte = usize::try_from(fd / 8).ok().and_then(|at| memory.get(at));
        byte.is_some_and(|byte| byte >> (fd % 8) & 1 == 1)
    };
    (0..count).filter(bit).collect()
}

fn registered(pid: u32, epoll: u64) -> Vec<u64> {
    let awaited = proc::of(pid).descriptor_info(epoll).map(|info| info.awaited).unwrap_or_default();
    awaited.into_iter().filter(|(_, events)| events & READABLE != 0).map(|(fd, _)| fd).collect()
}
