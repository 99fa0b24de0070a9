//! One output stream of one execution: out of the pipe, into the file.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;

use rustix::io::Errno;

use super::splice::{self, Relay};
use crate::outcome::{Output, plain};
use crate::spool::Tail;

/// A pipe holds 64 KiB unless asked for more; a command that fills it again and again gets one this large, which
/// saves most of the switches between writer and reader. Not asked for at once, because a user may only have so many
/// pages in pipes.
const LARGE_PIPE: usize = 1 << 20;

/// How many full reads in a row make a command a heavy writer.
const HEAVY: u8 = 4;

/// More than a terminal holds. The kernel tells less than that: it moves bytes on while we read.
const MOST_IN_A_TERMINAL: u64 = 256 << 10;

/// The reading end of a command's stream, and what has come out of it.
#[derive(Debug)]
pub(super) struct Source {
    pipe: Option<OwnedFd>,
    kind: Kind,
    place: Place,
    limit: u64,
    total: u64,
    spooled: u64,
    tail: Tail,
    lost: Option<String>,
    full_reads: u8,
    /// The kernel can't move bytes into this file, so we carry them.
    carries: bool,
}

/// What bytes come out of.
#[derive(Debug)]
enum Kind {
    Pipe,
    Terminal(Option<Relay>),
}

/// Where bytes go.
#[derive(Debug)]
enum Place {
    /// Into this file, up to the limit.
    File(File),
    /// Nowhere any more. The file stays open: whoever holds it open has it locked against being pruned.
    Full { _file: Option<File> },
}

/// What one read gave.
#[derive(Debug)]
pub(super) enum Drained {
    /// Bytes `from..to` of the stream, the first `spooled - from` of which are in the file.
    Bytes { from: u64, to: u64, spooled: u64 },
    /// Nothing at the moment.
    Nothing,
    /// Nobody can write any more. With the pipe, the first time.
    End(Option<OwnedFd>),
}

impl Source {
    pub(super) fn new(pipe: OwnedFd, limit: u64) -> Self {
        Self::of(Some(pipe), Kind::Pipe, limit)
    }

    /// Our end of a terminal. Where it has an end, reading is an error, which is as good.
    pub(super) fn terminal(master: OwnedFd, limit: u64) -> Self {
        Self::of(Some(master), Kind::Terminal(Relay::new().ok()), limit)
    }

    /// A stream that nobody writes to.
    pub(super) fn ended(limit: u64) -> Self {
        Self::of(None, Kind::Pipe, limit)
    }

    fn of(pipe: Option<OwnedFd>, kind: Kind, limit: u64) -> Self {
        Self {
            pipe,
            kind,
            place: Place::Full { _file: None },
            limit,
            total: 0,
            spooled: 0,
            tail: Tail::default(),
            lost: None,
            full_reads: 0,
            carries: false,
        }
    }

    /// Says where bytes go.
    pub(super) fn set_place(&mut self, place: Result<File, String>) {
        match place {
            Ok(file) => self.place = Place::File(file),
            Err(reason) => {
                self.lost = Some(reason);
                self.place = Place::Full { _file: None };
            }
        }
    }

    pub(super) fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// The number that both ends of the pipe have.
    pub(super) fn number(&self) -> Option<u64> {
        self.pipe
            .as_ref()
            .filter(|_| matches!(self.kind, Kind::Pipe))
            .and_then(|pipe| rustix::fs::fstat(pipe).ok())
            .map(|stat| stat.st_ino)
    }

    /// What a standby needs: what bytes are in, in the order they come out; the file; and how much that may hold.
    pub(super) fn standby_streams(&self) -> Vec<(BorrowedFd<'_>, BorrowedFd<'_>, u64)> {
        let (Some(pipe), Place::File(file)) = (&self.pipe, &self.place) else { return Vec::new() };
        let relay = match &self.kind {
            Kind::Terminal(Some(relay)) => Some(&relay.out),
            _ => None,
        };
        relay.into_iter().chain([pipe]).map(|from| (from.as_fd(), file.as_fd(), self.limit)).collect()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.pipe.is_none()
    }

    /// How many bytes wait in the pipe right now.
    pub(super) fn waiting(&self) -> u64 {
        if matches!(self.kind, Kind::Terminal(_)) {
            return MOST_IN_A_TERMINAL;
        }
        self.pipe.as_ref().and_then(|pipe| rustix::io::ioctl_fionread(pipe).ok()).unwrap_or(0)
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Takes what is there, once. Bytes that don't go into the file are in `buffer` then.
    pub(super) fn drain(&mut self, buffer: &mut [u8]) -> Drained {
        if self.pipe.is_none() {
            return Drained::End(None);
        }
        let from = self.total;
        match self.move_over().unwrap_or_else(|| self.carry_over(buffer)) {
            Ok(count @ 1..) => {
                self.grow_pipe(count);
                Drained::Bytes { from, to: self.total, spooled: self.spooled }
            }
            Err(Errno::AGAIN) => Drained::Nothing,
            Ok(_) | Err(_) => Drained::End(self.pipe.take()),
        }
    }

    /// Has the kernel move bytes into the file, if it can and the file takes more.
    fn move_over(&mut self) -> Option<Result<usize, Errno>> {
        let (Some(pipe), Place::File(file), false) = (&self.pipe, &self.place, self.carries) else {
            return None;
        };
        let room = self.limit - self.spooled;
        let (from, filled) = match &self.kind {
            Kind::Pipe => (pipe, Err(Errno::AGAIN)),
            // No more than the file takes: what were left in the relay would have nobody to say that it is there.
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
                self.carries = true;
                None
            }
            (Err(Errno::AGAIN), filled) => Some(filled),
            // A full disk must not stop the command: from here on only the end is remembered.
            (Err(error), _) => {
                self.lost = Some(plain(&error.into()));
                self.close_when_full();
                None
            }
        }
    }

    /// Reads, and writes what the file may take.
    fn carry_over(&mut self, buffer: &mut [u8]) -> Result<usize, Errno> {
        let mut read = Err(Errno::AGAIN);
        if let Kind::Terminal(Some(relay)) = &self.kind {
            read = rustix::io::retry_on_intr(|| rustix::io::read(&relay.out, &mut *buffer));
        }
        if let (Err(_), Some(pipe)) = (read, &self.pipe) {
            read = rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut *buffer));
        }
        let bytes = buffer.get(..read?).unwrap_or_default();
        self.total += bytes.len() as u64;
        let kept = self.spool(bytes);
        if let Some(rest) = bytes.get(kept..).filter(|rest| !rest.is_empty()) {
            self.tail.push(rest);
        }
        Ok(bytes.len())
    }

    /// Writes what the file may take, and says how much that was.
    fn spool(&mut self, bytes: &[u8]) -> usize {
        let Place::File(file) = &self.place else { return 0 };
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
                // As with a full disk above.
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

    /// Writes no more into the file once it has all that it may have, or can't take more.
    fn close_when_full(&mut self) {
        if self.lost.is_none() && self.spooled < self.limit {
            return;
        }
        if let Place::File(file) = std::mem::replace(&mut self.place, Place::Full { _file: None }) {
            self.place = Place::Full { _file: Some(file) };
        }
    }

    fn grow_pipe(&mut self, read: usize) {
        if self.full_reads >= HEAVY {
            return;
        }
        self.full_reads = if read >= 64 << 10 { self.full_reads + 1 } else { 0 };
        if let (HEAVY, Some(pipe)) = (self.full_reads, &self.pipe) {
            // Refused when the user has too many pages in pipes already: then it stays as it is.
            let _ = rustix::pipe::fcntl_setpipe_size(pipe, LARGE_PIPE);
        }
    }

    /// The last bytes, when the file doesn't have them.
    pub(super) fn unkept(&self) -> &[u8] {
        if self.spooled < self.total { self.tail.bytes() } else { &[] }
    }

    /// The stream as it stands.
    pub(super) fn output(&self) -> Output {
        Output {
            total: self.total,
            spooled: self.spooled,
            tail: self.unkept().to_vec(),
            lost: self.lost.clone(),
        }
    }
}
