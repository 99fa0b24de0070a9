//! The process table, as `/proc` shows it.
//!
//! `/proc/PID/task/TID/children` lists a thread's children in one read. For our own children the list is complete:
//! a child leaves it only when we reap it, and we don't reap while we read. For others' children it is a snapshot that
//! may miss one, so whoever needs them all looks again until nothing is left.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use rustix::process::{Pid, PidfdFlags, Signal};

/// One process, as it was when we looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Its parent.
    pub(crate) parent: u32,
    /// Its process group.
    pub(crate) group: u32,
    /// The state letter: `R` runs or wants to, `D` waits for a disk, `S` sleeps, `Z` is dead and not reaped.
    pub(crate) letter: u8,
    /// Clock ticks of CPU time that it has used.
    pub(crate) ticks: u64,
    /// And those of its children that it waited for, and theirs.
    pub(crate) reaped_ticks: u64,
    /// How many threads it has.
    pub(crate) threads: u64,
}

impl Stat {
    /// A process whose first thread has ended looks dead; it lives as long as another thread does.
    pub(crate) const fn is_dead(&self) -> bool {
        matches!(self.letter, b'Z' | b'X') && self.threads <= 1
    }

    /// Whether it wants the CPU and had none to speak of: it hasn't yet become what it is going to be.
    pub(crate) const fn is_unborn(&self) -> bool {
        matches!(self.letter, b'R' | b'D') && self.ticks < 2
    }
}

/// Whether `pid` ignores `signal`. One that is gone ignores nothing.
pub(crate) fn ignores(pid: u32, signal: Signal) -> bool {
    let Some(text) = read(&format!("/proc/{pid}/status"), 8 << 10) else { return false };
    let text = String::from_utf8_lossy(&text);
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

/// Looks at `pid`.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    let text = read(&format!("/proc/{pid}/stat"), 1024)?;
    let text = String::from_utf8_lossy(&text);
    // The name is in parentheses and may hold blanks and parentheses of its own: count from its end.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let letter = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    // Fields 14 and 15 of the whole line; field 5 was the last one taken.
    let user: u64 = fields.nth(8)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let reaped_user: u64 = fields.next()?.parse().ok()?;
    let reaped_system: u64 = fields.next()?.parse().ok()?;
    let threads = fields.nth(2)?.parse().ok()?;
    let reaped_ticks = reaped_user + reaped_system;
    Some(Stat { parent, group, letter, ticks: user + system, reaped_ticks, threads })
}

/// The children of our own process. The keeper has one thread.
pub(crate) fn own_children() -> Vec<u32> {
    let own = std::process::id();
    match fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(list) => pids(&list),
        Err(_) => scan_for_children(own),
    }
}

/// The children of all threads of `pid`.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(pids(&list)),
            // A kernel without these lists, or a thread that just ended.
            Err(_) if thread.path().exists() => return scan_for_children(pid),
            Err(_) => {}
        }
    }
    found
}

fn pids(list: &str) -> Vec<u32> {
    list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn scan_for_children(parent: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| stat(*pid).is_some_and(|stat| stat.parent == parent)).collect()
}

/// The mark that `pid` inherited: its limit on file locks.
pub(crate) fn tag(pid: u32) -> Option<u64> {
    let text = read(&format!("/proc/{pid}/limits"), 8 << 10)?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The value of `name` in the environment that `pid` was started with, when we may see it.
pub(crate) fn variable(pid: u32, name: &str) -> Option<String> {
    let environ = read(&format!("/proc/{pid}/environ"), 1 << 20)?;
    let value = environ
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"=")))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// The longest command line that a list of processes shows.
const LONGEST_COMMAND: u64 = 1 << 10;

/// The command line of `pid`, blanks between its words; the short name in brackets when it has none.
pub(crate) fn command(pid: u32) -> String {
    let line = read(&format!("/proc/{pid}/cmdline"), LONGEST_COMMAND + 1).unwrap_or_default();
    let cut = line.len() as u64 > LONGEST_COMMAND;
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let joined = words.join(" ");
    let joined = joined.trim_end();
    if !joined.is_empty() {
        return if cut { format!("{joined}…") } else { joined.to_owned() };
    }
    let name = read(&format!("/proc/{pid}/comm"), 64).unwrap_or_default();
    format!("[{}]", String::from_utf8_lossy(&name).trim_end())
}

/// The short name of every keeper. Nobody else has a reason to take it; who does is taken for one.
pub(crate) const KEEPER: &str = "shellgate-keep";

/// The parent of `pid`, and its short name.
pub(crate) fn parent_and_name(pid: u32) -> Option<(u32, String)> {
    let text = read(&format!("/proc/{pid}/stat"), 1024)?;
    let text = String::from_utf8_lossy(&text);
    let (before, fields) = text.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let parent = fields.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some((parent, name.to_owned()))
}

/// The state folder of a keeper: it holds the folder of its socket open.
pub(crate) fn state_of_keeper(pid: u32) -> Option<PathBuf> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let mut targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    let sockets =
        targets.find(|target| target.is_absolute() && target.ends_with("sessions") && target.is_dir())?;
    sockets.parent().map(ToOwned::to_owned)
}

/// Whether `pid` has the pipe with this number open as its standard output or error.
pub(crate) fn holds_pipe(pid: u32, pipe: u64) -> bool {
    let name = format!("pipe:[{pipe}]");
    [1, 2].iter().any(|fd| {
        fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|to| to.as_os_str() == name.as_str())
    })
}

/// Ends every process that carries one of these tags, wherever it is, and returns when none is left or we have tried long
/// enough. For when the keeper that held them is gone: a tag is a number that nobody else has.
pub(crate) fn end_tagged(tags: &[u64]) {
    let is_ours = |pid: u32| tag(pid).is_some_and(|tag| tags.contains(&tag));
    for _ in 0..100 {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let tagged: Vec<u32> = pids.filter(|pid| is_ours(*pid)).collect();
        let living = tagged.iter().filter(|pid| stat(**pid).is_some_and(|stat| !stat.is_dead()));
        let mut found = false;
        for pid in living.filter_map(|pid| i32::try_from(*pid).ok().and_then(Pid::from_raw)) {
            found = true;
            let Ok(pinned) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if is_ours(pid.as_raw_nonzero().get().unsigned_abs()) {
                let _ = rustix::process::pidfd_send_signal(&pinned, Signal::KILL);
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// The process group of a child of ours that we have not reaped, unless it is our own. It was made below a session that
/// we made for the child, so all who are in it descend from us; and it can't end before we reap.
pub(crate) fn group_of_own_child(pid: u32) -> Option<u32> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    let group = rustix::process::getpgid(Some(pid)).ok()?;
    (group != rustix::process::getpgrp()).then(|| group.as_raw_nonzero().get().unsigned_abs())
}

/// Signals every process in `group`.
pub(crate) fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// Signals a child of ours that we have not reaped: its number can't be anybody else's.
pub(crate) fn signal_own_child(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Signals a keeper, if it still is one.
pub(crate) fn signal_keeper(pid: u32, signal: Signal) {
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(pinned) = rustix::process::pidfd_open(target, PidfdFlags::empty()) else { return };
    if parent_and_name(pid).is_some_and(|(_, name)| name == KEEPER) {
        let _ = rustix::process::pidfd_send_signal(&pinned, signal);
    }
}

/// Sends `signal` to `pid` if it still is a child of one of `parents`, and to nobody else: the descriptor pins the
/// process while we look, so a number that was given to somebody new in between is noticed.
pub(crate) fn signal_child(pid: u32, parents: &[u32], signal: Signal) {
    let Some(target) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(pinned) = rustix::process::pidfd_open(target, PidfdFlags::empty()) else { return };
    if stat(pid).is_some_and(|stat| parents.contains(&stat.parent)) {
        let _ = rustix::process::pidfd_send_signal(&pinned, signal);
    }
}

pub(crate) fn read(path: &str, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_child_is_seen_with_its_command_and_variable() {
        let mut child = Command::new("sleep").arg("30").env("SG_TEST", "a=b").spawn().unwrap();
        let pid = child.id();
        let seen = stat(pid).unwrap();
        assert_eq!(seen.parent, std::process::id());
        while command(pid) != "sleep 30" {
            std::thread::yield_now();
        }
        assert_eq!(variable(pid, "SG_TEST").as_deref(), Some("a=b"));
        assert!(children(std::process::id()).contains(&pid));
        assert!(scan_for_children(std::process::id()).contains(&pid));
        signal_child(pid, &[1], Signal::KILL);
        assert!(child.try_wait().unwrap().is_none(), "not a child of 1, so not signalled");
        signal_child(pid, &[std::process::id()], Signal::KILL);
        assert!(!child.wait().unwrap().success());
        assert!(stat(pid).is_none());
    }
}
