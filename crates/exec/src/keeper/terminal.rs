//! The pseudo-terminal of an execution, and the processes that have it open.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::pty::OpenptFlags;
use rustix::termios::{InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, Winsize};

use super::event_loop::Keeper;
use super::input::InputQueue;
use super::start::Streams;
use super::stream::Source;
use super::tree::{Member, RunKey};
use crate::input::{InputKind, InputState, ReadState, TerminalProcess};
use crate::proc;
use crate::spec::Size;
use crate::sys::reading::{self, Device};
use crate::{PartialLine, PerStream};

/// Without `NOCTTY` a terminal would become the keeper's own, because the keeper leads a session that has none.
const OPEN_FLAGS: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);

/// A pseudo-terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    master: OwnedFd,
    /// The command's end, until its program has exited. It lets a program close its terminal and open it again.
    slave: Option<OwnedFd>,
    device: Device,
    /// Input for it.
    pub(super) input_queue: InputQueue,
}

/// Whether letters have unusual meanings: a letter is a special key, or letters become other letters.
fn has_remapped_keys(modes: &Termios) -> bool {
    use SpecialCodeIndex as Key;
    let keys = [
        Key::VINTR,
        Key::VQUIT,
        Key::VERASE,
        Key::VKILL,
        Key::VEOF,
        Key::VSUSP,
        Key::VEOL,
        Key::VEOL2,
        Key::VREPRINT,
        Key::VWERASE,
        Key::VLNEXT,
    ];
    let is_letter = |key: &u8| (0x20..0x7f).contains(key) || *key >= 0x80 && *key != 0xff;
    let changed = InputModes::ISTRIP | InputModes::IUCLC | InputModes::IGNCR | InputModes::INLCR;
    keys.iter().any(|key| is_letter(&modes.special_codes[*key])) || modes.input_modes.intersects(changed)
}

/// How a terminal treats input.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the kernel's flags")]
struct TerminalModes {
    lines: bool,
    echo: bool,
    signals: bool,
    remapped_keys: bool,
}

impl Terminal {
    /// Opens a terminal of the machine.
    pub(super) fn open_master() -> Result<OwnedFd, Errno> {
        rustix::pty::openpt(OPEN_FLAGS)
    }

    /// Makes a terminal for a command. Both of its output streams are one.
    pub(super) fn open(master: OwnedFd, size: Size, limit: u64) -> Result<Streams, Errno> {
        rustix::pty::unlockpt(&master)?;
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, OPEN_FLAGS)?;
        let mut modes = rustix::termios::tcgetattr(&slave)?;
        // Backspace erases a character, not a byte.
        modes.input_modes |= InputModes::IUTF8;
        rustix::termios::tcsetattr(&slave, OptionalActions::Now, &modes)?;
        rustix::fs::fcntl_setfl(&master, OFlags::NONBLOCK)?;
        let copy = |fd: &OwnedFd| rustix::io::fcntl_dupfd_cloexec(fd, 3);
        let sources =
            PerStream { stdout: Source::terminal(copy(&master)?, limit), stderr: Source::ended(limit) };
        let device = Device(rustix::fs::fstat(&slave)?.st_rdev);
        let input_queue = InputQueue::new(copy(&master)?);
        let ends = PerStream { stdout: copy(&slave)?, stderr: copy(&slave)? };
        let terminal = Self { master, slave: Some(slave), device, input_queue };
        terminal.resize(size)?;
        Ok(Streams { sources, ends, terminal: Some(terminal) })
    }

    /// Closes the command's end when the program has exited. The terminal exists as long as other processes have it open.
    pub(super) fn close_slave(&mut self) {
        self.slave = None;
    }

    /// Changes its size. The kernel tells the programs.
    pub(super) fn resize(&self, size: Size) -> Result<(), Errno> {
        let Size { rows, cols } = size;
        rustix::termios::tcsetwinsize(
            &self.master,
            Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 },
        )
    }

    fn size(&self) -> Size {
        let size = rustix::termios::tcgetwinsize(&self.master);
        size.map_or_else(|_| Size::default(), |size| Size { rows: size.ws_row, cols: size.ws_col })
    }

    fn modes(&self) -> TerminalModes {
        // The kernel gives the modes of the command's end here.
        let modes = rustix::termios::tcgetattr(&self.master);
        let has = |mode| modes.as_ref().is_ok_and(|modes| modes.local_modes.contains(mode));
        TerminalModes {
            remapped_keys: modes.as_ref().map_or(true, has_remapped_keys),
            lines: has(LocalModes::ICANON),
            echo: has(LocalModes::ECHO),
            signals: has(LocalModes::ISIG),
        }
    }

    /// Whether it is in line mode.
    pub(super) fn takes_lines(&self) -> bool {
        self.modes().lines
    }

    /// Whether typed characters have not been read. Asking also makes the kernel pass on characters that are on their way.
    fn has_unread(&self) -> bool {
        let Some(slave) = &self.slave else { return false };
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut polled = [PollFd::new(slave, PollFlags::IN)];
        rustix::event::poll(&mut polled, Some(&at_once)).is_ok_and(|ready| ready > 0)
    }

    /// The foreground process group.
    pub(super) fn foreground(&self) -> Option<u32> {
        let group = rustix::termios::tcgetpgrp(self.master.as_fd()).ok()?;
        Some(group.as_raw_nonzero().get().unsigned_abs())
    }

    /// Whether this is the controlling terminal or the standard input of `member`.
    fn is_at(&self, member: &Member) -> bool {
        self.device.is_of(member.pid) || self.device.is_open_as(member.pid, 0)
    }

    fn describe(&self, member: &Member, foreground: Option<u32>) -> TerminalProcess {
        // The kernel doesn't suspend readers in another session.
        let foreground = Some(member.stat.group) == foreground || !self.device.is_of(member.pid);
        // Before the rest: a process that reads now stays the same until input comes. One that doesn't read may execute
        // another program meanwhile, and would be described as the old one.
        let read_state =
            if foreground { reading::reads(member.pid, self.device) } else { ReadState::NotReading };
        let process = proc::of(member.pid);
        let shown = |path: PathBuf| path.to_string_lossy().into_owned();
        TerminalProcess {
            pid: member.pid,
            argv: process.arguments(),
            program: process.program().map(shown),
            directory: process.directory().map(shown),
            foreground,
            read_state,
        }
    }
}

impl Keeper {
    /// The state of an execution's input at this moment.
    pub(super) fn input_state(&mut self, key: RunKey) -> Option<InputState> {
        let run = self.runs.get(&key)?;
        let id = run.spec.id;
        if run.terminal.is_none() {
            let (processes, partial_line) = (Vec::new(), PartialLine::default());
            return Some(InputState {
                id,
                kind: InputKind::Closed,
                waiting: false,
                processes,
                partial_line,
                sequence: 0,
            });
        }
        self.recognised = None;
        self.claim_orphans();
        let terminal = self.runs.get(&key)?.terminal.as_ref()?;
        let members = self.trees.members(key);
        let TerminalModes { lines, echo, signals, remapped_keys } = terminal.modes();
        let unread = terminal.has_unread();
        let foreground = terminal.foreground();
        let mut processes: Vec<TerminalProcess> = Vec::new();
        for member in members.iter().filter(|member| terminal.is_at(member)) {
            let mut process = terminal.describe(member, foreground);
            // The kernel hides the process, which sleeps while a terminal without echo asks for a password. It most likely
            // reads that.
            if process.read_state == ReadState::Unknown && member.stat.letter == b'S' && lines && !echo {
                process.read_state = ReadState::Reading;
            }
            processes.push(process);
        }
        let leader = self.runs.get(&key).and_then(|run| run.pid);
        let unsuspendable =
            signals && foreground == leader && !leader.is_some_and(|pid| proc::of(pid).ignores(Signal::TSTP));
        let waiting = !unread && processes.iter().any(|process| process.read_state == ReadState::Reading);
        Some(InputState {
            id,
            kind: InputKind::Terminal {
                size: terminal.size(),
                lines,
                echo,
                unread,
                unsuspendable,
                remapped_keys,
            },
            waiting,
            processes,
            partial_line: terminal.input_queue.partial_line().clone(),
            sequence: terminal.input_queue.sequence(),
        })
    }
}
