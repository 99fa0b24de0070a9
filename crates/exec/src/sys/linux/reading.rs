//! Whether a process waits for input, from the system call that it is in.
//!
//! `/proc/PID/task/TID/syscall` has the number and the arguments of the call that a thread sleeps in. A `read` names a
//! descriptor; `poll` and `select` name memory, where the descriptors are; an `epoll` descriptor lists what it waits
//! for in its `fdinfo`. We may look at all of it because we are an ancestor, unless it runs as somebody else.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::input::ReadState;

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
const MOST_THREADS: usize = 256;

/// More descriptors than this aren't looked at.
const MOST_DESCRIPTORS: u64 = 4096;

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
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // Behind the name: state, parent, group, session, terminal.
        let field = stat.rsplit_once(") ").and_then(|(_, fields)| fields.split(' ').nth(4));
        field.and_then(|field| field.parse().ok()) == Some(self.in_stat())
    }

    /// Whether descriptor `fd` of `pid` is this terminal.
    pub(crate) fn is_open_as(self, pid: u32, fd: u64) -> bool {
        let number = fs::metadata(format!("/proc/{pid}/fd/{fd}")).map_or(0, |metadata| metadata.rdev());
        number == self.0 || number == OWN_TERMINAL && self.is_of(pid)
    }
}

/// Whether `pid` waits for input from `device`.
pub(crate) fn reads(pid: u32, device: Device) -> ReadState {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return ReadState::NotReading };
    let mut seen = ReadState::NotReading;
    for thread in threads.flatten().take(MOST_THREADS) {
        match fs::read_to_string(thread.path().join("syscall")) {
            Ok(call) if waits(pid, &call, device) => return ReadState::Reading,
            Err(error) if is_hidden(&error) && sleeps(pid) => seen = ReadState::Unknown,
            _ => {}
        }
    }
    seen
}

/// Whether it isn't ours to see, or the kernel has no such file at all.
fn is_hidden(error: &std::io::Error) -> bool {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => true,
        std::io::ErrorKind::NotFound => !Path::new("/proc/self/syscall").exists(),
        _ => false,
    }
}

/// Whether `pid` sleeps, and isn't about to end: the kernel shows nothing of one that is.
fn sleeps(pid: u32) -> bool {
    const EXITING: u64 = 4;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let mut fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ');
    let letter = fields.next();
    let flags = fields.nth(5).and_then(|flags| flags.parse::<u64>().ok());
    letter == Some("S") && flags.is_some_and(|flags| flags & EXITING == 0)
}

fn waits(pid: u32, call: &str, device: Device) -> bool {
    let mut words = call.split_ascii_whitespace();
    let number = words.next().and_then(|word| word.parse::<u64>().ok());
    let Some((_, how)) = CALLS.iter().find(|(known, _)| Some(*known) == number) else { return false };
    let mut argument =
        || words.next().and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    let (Some(first), Some(second)) = (argument(), argument()) else { return false };
    let is_ours = |fd: u64| device.is_open_as(pid, fd);
    match how {
        Waits::Read => is_ours(first),
        Waits::Poll => polled(pid, first, second).into_iter().any(is_ours),
        Waits::Select => selected(pid, second, first).into_iter().any(is_ours),
        Waits::Epoll => registered(pid, first).into_iter().any(is_ours),
    }
}

fn polled(pid: u32, at: u64, count: u64) -> Vec<u64> {
    let memory = memory(pid, at, count.min(MOST_DESCRIPTORS) * 8);
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
    let count = count.min(MOST_DESCRIPTORS);
    let memory = memory(pid, at, count.div_ceil(64) * 8);
    let bit = |fd: &u64| {
        let byte = usize::try_from(fd / 8).ok().and_then(|at| memory.get(at));
        byte.is_some_and(|byte| byte >> (fd % 8) & 1 == 1)
    };
    (0..count).filter(bit).collect()
}

fn registered(pid: u32, epoll: u64) -> Vec<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}")).unwrap_or_default();
    let entries = text.lines().filter_map(|line| {
        let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
        let fd = words.next()?.parse().ok()?;
        let events = words.nth(1).and_then(|word| u64::from_str_radix(word, 16).ok())?;
        (events & u64::from(READABLE) != 0).then_some(fd)
    });
    entries.collect()
}

fn memory(pid: u32, at: u64, length: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Ok(mut file) = fs::File::open(format!("/proc/{pid}/mem")) else { return bytes };
    if file.seek(SeekFrom::Start(at)).is_ok() {
        // Short where the memory ends.
        let _ = file.take(length).read_to_end(&mut bytes);
    }
    bytes
}

/// Whether `pid` takes no notice of Ctrl-Z.
pub(crate) fn ignores_suspending(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    // Number 20 is SIGTSTP, on the machines that we know.
    ignored >> 19 & 1 == 1
}

/// The argument list of `pid`, as far as it is short.
pub(crate) fn arguments(pid: u32) -> Vec<String> {
    let mut line = Vec::new();
    let file = fs::File::open(format!("/proc/{pid}/cmdline"));
    let _ = file.and_then(|file| file.take(16 << 10).read_to_end(&mut line));
    let line = line.strip_suffix(&[0]).unwrap_or(&line);
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Where the link `name` of `pid` leads: `exe` or `cwd`.
pub(crate) fn link(pid: u32, name: &str) -> Option<String> {
    let target = fs::read_link(format!("/proc/{pid}/{name}")).ok()?;
    Some(target.to_string_lossy().into_owned())
}
