//! `/proc/PID/task`: threads, their children, what they wait for. And `/proc/PID/mem`.
//!
//! `task/TID/children` lists a thread's children in one read. For our own children the list is complete: a child leaves
//! it only when we reap it, and we don't reap while we read. For others' children it is a snapshot that may miss one, so
//! code that needs them all looks again until nothing is left.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;

use super::{ProcessFolder, numbers_in};

/// A system call that a thread sleeps in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// Its number, which differs between architectures.
    pub number: u64,
    /// Its first two arguments.
    pub arguments: [u64; 2],
}

impl SystemCall {
    /// The line of `syscall`: number and arguments, or `running`, or -1 and addresses for one that sleeps outside a call.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
        Some(Self { number, arguments: [argument()?, argument()?] })
    }
}

impl ProcessFolder {
    /// The numbers of its threads.
    #[must_use]
    pub fn threads(self) -> Vec<u32> {
        numbers_in(self.path("task")).unwrap_or_default()
    }

    /// How many threads it has, at the price of one look at a folder. A folder has a link for itself, one for its name
    /// and one for each subfolder.
    #[must_use]
    pub fn thread_count(self) -> u64 {
        self.path("task").metadata().map_or(1, |tasks| tasks.nlink().saturating_sub(2).max(1))
    }

    /// The user that it belongs to.
    #[must_use]
    pub fn user(self) -> Option<u32> {
        self.path("").metadata().ok().map(|folder| folder.uid())
    }

    /// Whether the kernel lists the children of a thread.
    #[must_use]
    pub fn lists_children(self) -> bool {
        self.threads().first().is_some_and(|thread| self.path(&format!("task/{thread}/children")).exists())
    }

    /// The children of all its threads.
    #[must_use]
    pub fn children(self) -> Vec<u32> {
        let mut found = Vec::new();
        for thread in self.threads() {
            match fs::read_to_string(self.path(&format!("task/{thread}/children"))) {
                Ok(list) => found.extend(pids(&list)),
                // A kernel without these lists, or a thread that just ended.
                Err(_) if self.path(&format!("task/{thread}")).exists() => return self.scan_for_children(),
                Err(_) => {}
            }
        }
        found
    }

    /// The children of its first thread, at the price of one read: all of them, for a process with one thread.
    #[must_use]
    pub fn children_of_first_thread(self) -> Vec<u32> {
        let first = self.pid.unwrap_or_else(std::process::id);
        match fs::read_to_string(self.path(&format!("task/{first}/children"))) {
            Ok(list) => pids(&list),
            Err(_) => self.scan_for_children(),
        }
    }

    /// The processes whose parent it is.
    fn scan_for_children(self) -> Vec<u32> {
        let own = self.pid.unwrap_or_else(std::process::id);
        let mut pids = super::all_pids();
        pids.retain(|pid| super::of(*pid).stat().is_some_and(|stat| stat.parent == own));
        pids
    }

    /// The system call that a thread sleeps in; `None` when it runs or sleeps for another reason.
    ///
    /// # Errors
    /// When the thread is gone, belongs to another user, or the kernel has no such files.
    pub fn system_call(self, thread: u32) -> io::Result<Option<SystemCall>> {
        fs::read_to_string(self.path(&format!("task/{thread}/syscall"))).map(|line| SystemCall::parse(&line))
    }

    /// Whether the kernel tells of system calls.
    #[must_use]
    pub fn tells_system_calls(self) -> bool {
        self.path("syscall").exists()
    }

    /// Up to `length` bytes of its memory from `address` on; fewer where that memory ends.
    #[must_use]
    pub fn memory(self, address: u64, length: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Ok(mut file) = fs::File::open(self.path("mem")) else { return bytes };
        if file.seek(SeekFrom::Start(address)).is_ok() {
            // What was read before an error counts.
            let _ = file.take(length).read_to_end(&mut bytes);
        }
        bytes
    }
}

fn pids(list: &str) -> Vec<u32> {
    list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::{of, own};
    use super::*;

    #[test]
    fn a_call_is_its_number_and_arguments() {
        let line = "0 0x3 0x7ffd5a1 0x400 0x0 0x0 0x0 0x7ffc8 0x7f2a\n";
        assert_eq!(SystemCall::parse(line), Some(SystemCall { number: 0, arguments: [3, 0x07ff_d5a1] }));
    }

    #[test]
    fn a_thread_that_runs_is_in_no_call() {
        for line in ["running\n", "-1 0x7ffc8 0x7f2a\n", "", "7", "7 0x1", "7 1 2"] {
            assert_eq!(SystemCall::parse(line), None, "{line}");
        }
    }

    #[test]
    fn children_are_listed_and_found_by_a_scan() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let pid = child.id();
        let parent = of(std::process::id());
        assert!(parent.children().contains(&pid) && own().children().contains(&pid));
        assert!(parent.scan_for_children().contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!parent.children().contains(&pid));
        assert_eq!(of(pid).children(), [], "of one that is gone");
    }

    #[test]
    fn threads_are_counted() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        assert!(own().thread_count() >= 2 && own().threads().len() >= 2);
        drop(stop);
        let _ = thread.join().unwrap();
    }

    #[test]
    fn memory_is_read_as_far_as_it_goes() {
        let bytes = b"as it stands here".to_vec();
        let address = bytes.as_ptr().addr() as u64;
        assert_eq!(own().memory(address, bytes.len() as u64), bytes);
        assert_eq!(own().memory(0, 16), []);
    }
}
