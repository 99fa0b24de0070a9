//! Terminals of commands.
//!
//! `/dev/tty` is the terminal of the calling process, and the broker has none. A command that opens it gets a copy of a
//! descriptor that it, or a process above it, has open already; if all are closed, the terminal is opened by its number
//! among those of the pod.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};

use super::context::Context;
use super::privilege::with_access;
use super::target::{Target, read_text};

/// The device `/dev/tty`.
const OWN_TERMINAL: (u32, u32) = (5, 0);

/// Descriptors that are looked at: standard streams, others of a shell, and the one that bash keeps for its terminal.
const CANDIDATES: [i32; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255];

/// So many processes above the command are asked.
const MAX_GENERATIONS: usize = 16;

/// Whether a file is `/dev/tty`.
pub(super) fn is_own_terminal(file: &OwnedFd) -> Result<bool, Errno> {
    let device = rustix::fs::fstat(file)?.st_rdev;
    Ok((rustix::fs::major(device), rustix::fs::minor(device)) == OWN_TERMINAL)
}

/// The terminal of the session that the thread belongs to.
pub(super) fn of_target(context: &Context, target: &Target<'_>, flags: u64) -> Result<OwnedFd, Errno> {
    let mut process = target.held.thread;
    let (_, session, terminal) = facts(context, process).ok_or(Errno::NXIO)?;
    if terminal == 0 {
        return Err(Errno::NXIO);
    }
    for _ in 0..MAX_GENERATIONS {
        let found = find(process, flags, |stat| {
            let (major, minor) = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
            encode(major, minor) == terminal
        });
        if let Some(found) = found {
            return Ok(found);
        }
        match facts(context, process) {
            Some((Some(parent), of, _)) if of == session => process = parent,
            _ => break,
        }
    }
    open_in_pod(terminal, flags)
}

/// Opens a terminal of the pod.
fn open_in_pod(terminal: i64, flags: u64) -> Result<OwnedFd, Errno> {
    let terminal = u32::try_from(terminal).map_err(|_| Errno::NXIO)?;
    let (major, minor) = ((terminal >> 8) & 0xfff, (terminal & 0xff) | ((terminal >> 12) & 0xf_ff00));
    let path = format!("/dev/pts/{minor}");
    let access = OFlags::from_bits_retain(flags.try_into().unwrap_or_default()) & OFlags::ACCMODE;
    let opened = rustix::fs::open(path, access | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|_| Errno::NXIO)?;
    let device = rustix::fs::fstat(&opened)?.st_rdev;
    let is_it = (rustix::fs::major(device), rustix::fs::minor(device)) == (major, minor);
    if is_it { Ok(opened) } else { Err(Errno::NXIO) }
}

/// A descriptor of the thread for the same device as `file`, open for what `flags` ask.
pub(super) fn same_as(
    _context: &Context,
    target: &Target<'_>,
    file: &OwnedFd,
    flags: u64,
) -> Option<OwnedFd> {
    let wanted = rustix::fs::fstat(file).ok()?;
    find(target.held.thread, flags, |stat| {
        (stat.st_dev, stat.st_ino, stat.st_rdev) == (wanted.st_dev, wanted.st_ino, wanted.st_rdev)
    })
}

fn find(process: Pid, flags: u64, is_wanted: impl Fn(&rustix::fs::Stat) -> bool) -> Option<OwnedFd> {
    let thread = PidfdFlags::from_bits_retain(libc::PIDFD_THREAD);
    let pidfd = rustix::process::pidfd_open(process, thread)
        .or_else(|_| rustix::process::pidfd_open(process, PidfdFlags::empty()))
        .ok()?;
    CANDIDATES.into_iter().find_map(|number| {
        let copy =
            with_access(|| rustix::process::pidfd_getfd(&pidfd, number, PidfdGetfdFlags::empty())).ok()?;
        let stat = rustix::fs::fstat(&copy).ok()?;
        let is_open_for = access_suffices(rustix::fs::fcntl_getfl(&copy).ok()?, flags);
        (rustix::termios::isatty(&copy) && is_wanted(&stat) && is_open_for).then_some(copy)
    })
}

fn access_suffices(has: OFlags, flags: u64) -> bool {
    let has = has & OFlags::ACCMODE;
    has == OFlags::RDWR || u64::from(has.bits()) == flags & u64::from(OFlags::ACCMODE.bits())
}

/// Parent, session and terminal of a process, from `/proc`.
fn facts(context: &Context, process: Pid) -> Option<(Option<Pid>, i32, i64)> {
    let stat = read_text(context.proc(), &format!("{}/stat", process.as_raw_nonzero())).ok()?;
    // The name, in parentheses, may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok().and_then(Pid::from_raw);
    let session = fields.nth(1)?.parse().ok()?;
    let terminal = fields.next()?.parse().ok()?;
    Some((parent, session, terminal))
}

/// A device number as `/proc/PID/stat` shows it.
fn encode(major: u32, minor: u32) -> i64 {
    i64::from((minor & 0xff) | (major << 8) | ((minor & !0xff) << 12))
}
