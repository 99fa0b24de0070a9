//! Who started this process, as a command that wants to deceive us can't forge it.
//!
//! A command can mount over `/proc`, over single files in it, and start us in namespaces of its own. So every file is read
//! through one folder that is known to be the kernel's, without crossing into another mount.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags};

use super::stat::{MAX_STAT_BYTES, Stat};
use super::{EXPECTED_BYTES, Namespace, own};

/// How many ancestors are looked at.
const MAX_ANCESTORS: usize = 4096;

/// How often the whole chain is read: an ancestor may end while it is read.
const MAX_ATTEMPTS: usize = 5;

/// The number of the machine's first PID namespace, the same on every Linux.
const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

/// A process above this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ancestor {
    pub(crate) pid: u32,
    /// Its short name.
    pub(crate) name: String,
}

/// The processes above this one, the parent first, up to one without a parent. `None`: `/proc` doesn't show them all.
pub(crate) fn ancestors() -> Option<Vec<Ancestor>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let proc = rustix::fs::open("/proc", flags, Mode::empty()).ok()?;
    let is_kernels = rustix::fs::fstatfs(&proc).is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC);
    if !is_kernels {
        return None;
    }
    (0..MAX_ATTEMPTS).find_map(|_| chain(&proc))
}

/// Whether this process is in a PID namespace that a process of the machine has made, as containers are.
pub(crate) fn is_in_nested_pid_namespace() -> bool {
    own().namespace(Namespace::Pid) != Some(INITIAL_PID_NAMESPACE)
}

fn chain(proc: &OwnedFd) -> Option<Vec<Ancestor>> {
    let (_, mut last) = read(proc, "self/stat")?;
    let mut chain = Vec::new();
    while last.parent != 0 {
        if chain.len() == MAX_ANCESTORS {
            return None;
        }
        let (name, stat) = read(proc, &format!("{}/stat", last.parent))?;
        chain.push(Ancestor { pid: last.parent, name });
        last = stat;
    }
    Some(chain)
}

/// Reads a file below the folder that lies on no other mount.
fn read(proc: &OwnedFd, path: &str) -> Option<(String, Stat)> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_XDEV | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat2(proc.as_fd(), path, flags, Mode::empty(), resolve).ok()?;
    // Without room, the file would be read in pieces of 32 bytes first.
    let mut bytes = Vec::with_capacity(EXPECTED_BYTES);
    File::from(file).take(MAX_STAT_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Stat::parse(&text).map(|(name, stat)| (name.to_owned(), stat))
}
