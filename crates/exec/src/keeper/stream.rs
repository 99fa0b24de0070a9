//! One output stream of one execution.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::splice::{self, Relay};
use crate::outcome::{Output, plain};
use crate::spool::Tail;

/// The size of the pipe of a command that prints much. A pipe holds 64 KiB by default. A larger one saves most of the
/// switches between writer and reader, but the kernel limits the memory that a user may have in pipes.
const LARGE_PIPE_BYTES: usize = 1 << 20;

/// After how many full reads in a row a command gets a large pipe.
const FULL_READS_BEFORE_LARGE_PIPE: u8 = 4;

/// How often a read is tried that fails for another reason than the end of the stream.
const READ_ATTEMPTS: u8 = 8;

/// More than a terminal holds. The kernel reports less, because it moves more bytes up while they are read.
const MAX_TERMINAL_BYTES: u64 = 256 << 10;

/// The reading end of an output stream, and counts of what was read.
#[derive(Debug)]
pub(super) struct Source {
    pipe: Option<OwnedFd>,
    kind: Kind,
    destination: Destination,
    limit: u64,
    total: u64,
    spooled: u64,
    tail: Tail,
    lost: Option<String>,
    /// Why the last read failed.
    unread: Option<String>,
    full_reads: u8,
    /// The file system doesn't support `splice`: the keeper reads and writes.
    splice_unsupported: bool,
}

/// The kind of a stream.
#[derive(Debug)]
enum Kind {
    Pipe,
    Terminal(Option<Relay>),
}

/// Where bytes go.
#[derive(Debug)]
enum Destination {
    /// Into this file, up to the limit.
    File(File),
    /// Only into the tail. The file stays open, because an open file is locked against pruning.
    Full { file: Option<File> },
}

/// The result of one read.
#[derive(Debug)]
pub(super) enum Drained {
    /// Bytes `from..to` of the stream, the first `spooled - from` of which are in the file.
    Bytes { from: u64, to: u64, spooled: u64 },
    /// Nothing is there at the moment.
    Nothing,
    /// No process can write any more. Carries the pipe, the first time.
    End(Option<OwnedFd>),
}

impl Source {
    pub(super) fn new(pipe: OwnedFd, limit: u64) -> Self {
        Self::of(Some(pipe), Kind::Pipe, limit)
    }

    /// The keeper's end of a terminal. Its end of stream is the error `IO` after it was hung up.
    pub(super) fn terminal(master: OwnedFd, limit: u64) -> Self {
        Self::of(Some(master), Kind::Terminal(Relay::new().ok()), limit)
    }

    /// A stream that no process writes to.
    pub(super) fn ended(limit: u64) -> Self {
        Self::of(None, Kind::Pipe, limit)
    }

    fn of(pipe: Option<OwnedFd>, kind: Kind, limit: u64) -> Self {
        Self {
            pipe,
            kind,
            destination: Destination::Full { file: None },
            limit,
            total: 0,
            spooled: 0,
            tail: Tail::default(),
            lost: None,
            unread: None,
            full_reads: 0,
            splice_unsupported: false,
        }
    }

    /// Sets the file for the output, or why there is none.
    pub(super) fn set_file(&mut self, file: Result<File, String>) {
        match file {
            Ok(file) => self.destination = Destination::File(file),
            Err(reason) => {
                self.lost = Some(reason);
                self.destination = Destination::Full { file: None };
            }
        }
    }

    /// Its file.
    pub(super) fn file(&self) -> Option<&File> {
        match &self.destination {
            Destination::File(file) => Some(file),
            Destination::Full { file } => file.as_ref(),
        }
    }

    /// Has it go on in another file, which holds the same.
    pub(super) fn change_file(&mut self, file: File) {
        self.destination = match self.destination {
            Destination::File(_) => Destination::File(file),
            Destination::Full { .. } => Destination::Full { file: Some(file) },
        };
    }

    /// Has it write no more to its file, for this reason.
    pub(super) fn lose_file(&mut self, reason: String) {
        self.lost.get_or_insert(reason);
        self.close_when_full();
    }

    /// Takes its file. Nothing is written any more.
    pub(super) fn take_file(&mut self) -> Option<File> {
        match std::mem::replace(&mut self.destination, Destination::Full { file: None }) {
            Destination::File(file) => Some(file),
            Destination::Full { file } => file,
        }
    }

    pub(super) fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// The inode number of the pipe, which is the same for both ends.
    pub(super) fn number(&self) -> Option<u64> {
        self.pipe
            .as_ref()
            .filter(|_| matches!(self.kind, Kind::Pipe))
            .and_then(|pipe| rustix::fs::fstat(pipe).ok())
            .map(|stat| stat.st_ino)
    }

    /// What the standby needs: the descriptors that hold bytes, in the order of the stream; the file; and the limit on it.
    pub(super) fn standby_streams(&self) -> Vec<(BorrowedFd<'_>, BorrowedFd<'_>, u64)> {
        let (Some(pipe), Destination::File(file)) = (&self.pipe, &self.destination) else {
            return Vec::new();
        };
        let relay = match &self.kind {
            Kind::Terminal(Some(relay)) => Some(&relay.out),
            _ => None,
        };
        relay.into_iter().chain([pipe]).map(|from| (from.as_fd(), file.as_fd(), self.limit)).collect()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.pipe.is_none()
    }

    /// How many bytes are in the pipe at this moment.
    pub(super) fn waiting(&self) -> u64 {
        if matches!(self.kind, Kind::Terminal(_)) {
            return MAX_TERMINAL_BYTES;
        }
        self.pipe.as_ref().and_then(|pipe| rustix::io::ioctl_fionread(pipe).ok()).unwrap_or(0)
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Reads once. Bytes that don't go into the file are in `buffer` afterwards.
    pub(super) fn drain(&mut self, buffer: &mut [u8]) -> Drained {
        if self.pipe.is_none() {
            return Drained::End(None);
        }
        let from = self.total;
        for _ in 0..READ_ATTEMPTS {
            match self.splice_to_file().unwrap_or_else(|| self.copy_to_file(buffer)) {
                Ok(count @ 1..) => {
                    self.grow_pipe(count);
                    return Drained::Bytes { from, to: self.total, spooled: self.spooled };
                }
                Err(Errno::AGAIN) => return Drained::Nothing,
                Ok(_) => return Drained::End(self.pipe.take()),
                Err(Errno::IO) if self.is_hung_up() => return Drained::End(self.pipe.take()),
                // The bytes are still there, and the system may have been short of something for a moment.
                Err(error) => self.unread = Some(plain(&error.into())),
            }
        }
        // What can't be read is missing, and the caller is told so.
        self.lost = self.lost.take().or_else(|| self.unread.take());
        Drained::End(self.pipe.take())
    }

    /// Whether this is a terminal that no process has open any more.
    fn is_hung_up(&self) -> bool {
        let (Kind::Terminal(_), Some(master)) = (&self.kind, &self.pipe) else { return false };
        let mut polled = [PollFd::new(master, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // If the system can't say, the error counts as what it most likely is.
        rustix::io::retry_on_intr(|| rustix::event::poll(&mut polled, Some(&now))).is_err()
            || polled.iter().any(|polled| polled.revents().contains(PollFlags::HUP))
    }

    /// Has the kernel move bytes into the file. `None`: it can't, or the file is full.
    fn splice_to_file(&mut self) -> Option<Result<usize, Errno>> {
        let (Some(pipe), Destination::File(file), false) =
            (&self.pipe, &self.destination, self.splice_unsupported)
        else {
            return None;
        };
        let room = self.limit - self.spooled;
        let (from, filled) = match &self.kind {
            Kind::Pipe => (pipe, Err(Errno::AGAIN)),
            // No more than the file takes: `epoll` would not report bytes that stay in the relay.
            Kind::Terminal(Some(relay)) => (&relay.out, relay.fill(pipe, room)),
            Kind::Terminal(None) => return None,
        };
        match (splice::into_file(from, file, self.spooled, room), filled) {
            (Ok(count), _) => {
                self.total += count as u64;
                self.spooled += count as u64;
                self.close_when_full();
                Some(Ok(count))
            }
            (Err(Errno::AGAIN), Err(Errno::INVAL)) | (Err(Errno::INVAL), _) => {
                self.splice_unsupported = true;
                None
            }
            (Err(Errno::AGAIN), filled) => Some(filled),
            // A full disk must not stop the command: from here on, only the last bytes are remembered.
            (Err(error), _) => {
                self.lost = Some(plain(&error.into()));
                self.close_when_full();
                None
            }
        }
    }

    /// Reads bytes, and writes those that the file may take.
    fn copy_to_file(&mut self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let mut read = Err(Errno::AGAIN);
        if let Kind::Terminal(Some(relay)) = &self.kind {
            read = rustix::io::retry_on_intr(|| rustix::io::read(&relay.out, &mut *buffer));
        }
        if let (Err(_), Some(pipe)) = (read, &self.pipe) {
            read = rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut *buffer));
        }
        let bytes = buffer.get(..read?).unwrap_or_default();
        self.total += bytes.len() as u64;
        let kept = self.write_to_file(bytes);
        if let Some(rest) = bytes.get(kept..).filter(|rest| !rest.is_empty()) {
            self.tail.push(rest);
        }
        Ok(bytes.len())
    }

    /// Writes the bytes that the file may take. Returns their number.
    fn write_to_file(&mut self, bytes: &[u8]) -> usize {
        let Destination::File(file) = &self.destination else { return 0 };
        let room = usize::try_from(self.limit - self.spooled).unwrap_or(usize::MAX);
        let mut rest = bytes.get(..bytes.len().min(room)).unwrap_or_default();
        let mut written = 0;
        while !rest.is_empty() {
            match file.write_at(rest, self.spooled + written as u64) {
                Ok(count) if count > 0 => {
                    written += count;
                    rest = rest.get(count..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // As with a full disk in `splice_to_file`.
                short => {
                    self.lost = Some(
                        short.map_or_else(|error| plain(&error), |_| "the file takes no more".to_owned()),
                    );
                    break;
                }
            }
        }
        self.spooled += written as u64;
        self.close_when_full();
        written
    }

    /// Stops writing to the file when it has reached its limit or can't take more.
    fn close_when_full(&mut self) {
        if self.lost.is_none() && self.spooled < self.limit {
            return;
        }
        if let Destination::File(file) =
            std::mem::replace(&mut self.destination, Destination::Full { file: None })
        {
            self.destination = Destination::Full { file: Some(file) };
        }
    }

    fn grow_pipe(&mut self, read: usize) {
        if self.full_reads >= FULL_READS_BEFORE_LARGE_PIPE {
            return;
        }
        self.full_reads = if read >= 64 << 10 { self.full_reads + 1 } else { 0 };
        if let (FULL_READS_BEFORE_LARGE_PIPE, Some(pipe)) = (self.full_reads, &self.pipe) {
            // The kernel refuses when the user has too much memory in pipes. Then the pipe stays small.
            let _ = rustix::pipe::fcntl_setpipe_size(pipe, LARGE_PIPE_BYTES);
        }
    }

    /// The last bytes, when the file doesn't have them.
    pub(super) fn tail(&self) -> &[u8] {
        if self.spooled < self.total { self.tail.bytes() } else { &[] }
    }

    /// The stream at this moment.
    pub(super) fn output(&self) -> Output {
        Output {
            total: self.total,
            spooled: self.spooled,
            tail: self.tail().to_vec(),
            lost: self.lost.clone(),
        }
    }
}
