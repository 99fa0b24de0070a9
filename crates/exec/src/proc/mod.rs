//! What the kernel tells about processes in `/proc`: the one place that knows the form of its files.
//!
//! [`of`] and [`own`] name a process. Its methods read one file each and return typed data, or `None` when the process is
//! gone or the file isn't ours to read. Nothing is kept: a process may end between two looks, and its number may be
//! another's then. The parsers are functions from text to data, tested on texts that kernels have written.
//!
//! | file | reads |
//! |---|---|
//! | `ancestry` | `stat` of the processes above this one, safe from forgery |
//! | `stat` | `stat`: parent, process group, state, terminal, times |
//! | `status` | `status`: actions on signals, file mode mask, memory |
//! | `tasks` | `task/`: threads, children, the system call that a thread is in; `mem` |
//! | `descriptors` | `fd/` and `fdinfo/` |
//! | `arguments` | `cmdline`, `comm`, `environ` |
//! | `counters` | `io`, `smaps_rollup`, `limits` |
//! | `places` | `cgroup`, `mountinfo`, `ns/`, `exe`, `cwd` |
//! | `net` | `net/tcp`, `net/tcp6`, `net/unix` |

mod ancestry;
mod arguments;
mod counters;
mod descriptors;
mod net;
mod places;
mod stat;
mod status;
mod tasks;

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

pub(crate) use ancestry::{ancestors, is_in_nested_pid_namespace};
pub use descriptors::{DescriptorInfo, Link};
pub use net::{Listener, UnixSocket};
pub use places::{CgroupMembership, Mount, Namespace, path_of_own_descriptor};
pub use stat::Stat;
pub use status::Status;
pub use tasks::SystemCall;

/// Most files of `/proc` are shorter.
const EXPECTED_BYTES: usize = 1024;

/// The folder of one process in `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessFolder {
    /// `None`: our own, by the name `self`, which is right in a `/proc` of another PID namespace too.
    pid: Option<u32>,
}

/// The process with this number.
#[must_use]
pub const fn of(pid: u32) -> ProcessFolder {
    ProcessFolder { pid: Some(pid) }
}

/// This process.
#[must_use]
pub const fn own() -> ProcessFolder {
    ProcessFolder { pid: None }
}

/// The numbers of all processes that this user may see, in no order.
#[must_use]
pub fn all_pids() -> Vec<u32> {
    numbers_in(PathBuf::from("/proc")).unwrap_or_default()
}

/// What this boot of the machine is called: another one after each restart.
#[must_use]
pub fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

impl ProcessFolder {
    fn path(self, name: &str) -> PathBuf {
        match self.pid {
            Some(pid) => PathBuf::from(format!("/proc/{pid}/{name}")),
            None => PathBuf::from(format!("/proc/self/{name}")),
        }
    }

    /// The first `most` bytes of a file.
    fn read(self, name: &str, most: u64) -> Option<Vec<u8>> {
        // Without room, the file would be read in pieces of 32 bytes first.
        let mut bytes = Vec::with_capacity(EXPECTED_BYTES);
        File::open(self.path(name)).ok()?.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The same as text. A process may call itself what it likes, so bytes that are no text are replaced.
    fn read_text(self, name: &str, most: u64) -> Option<String> {
        self.read(name, most).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether the process is there.
    #[must_use]
    pub fn exists(self) -> bool {
        self.path("stat").exists()
    }
}

/// The entries of a folder whose names are numbers.
fn numbers_in(folder: PathBuf) -> std::io::Result<Vec<u32>> {
    let entries = std::fs::read_dir(folder)?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// The value of the first line that begins with `name`, which ends in a colon.
fn line_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The number at the beginning of that line's value; 0 when there is none.
fn number_of(text: &str, name: &str) -> u64 {
    let value = line_of(text, name).and_then(|value| value.split_ascii_whitespace().next());
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}
