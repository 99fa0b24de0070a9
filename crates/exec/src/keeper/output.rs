//! Reads the output of commands, and tells followers about it.

use std::time::Instant;

use super::event_loop::Keeper;
use super::events::{Interest, Token};
use super::lifecycle::{Event, Note};
use super::memory::MAX_MEMORY_BYTES;
use super::stream::Drained;
use super::tree::RunKey;
use crate::stored_end::now_ms;
use crate::wire::FromKeeper;
use crate::{PerStream, Stream};

/// How many reads one stream gets before the others.
const MAX_READS_AT_ONCE: usize = 8;

/// The result of one read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// Nothing.
    Nothing,
    /// The end of the stream: no process can write any more.
    End,
    /// Bytes, and there may be more.
    Some,
    /// Bytes, and the caller can't keep up.
    Paused,
}

impl Keeper {
    /// Begins to read the output of an execution that has started.
    pub(super) fn open_pipes(&mut self, key: RunKey) {
        let Some(run) = self.runs.get_mut(&key) else { return };
        let Some(sources) = &mut run.sources else { return };
        let Some(spool) = run.spool.take() else { return };
        let (stdout, stderr) = match spool {
            Ok(files) => (Ok(files.stdout), Ok(files.stderr)),
            Err(reason) => (Err(reason.clone()), Err(reason)),
        };
        sources.stdout.set_file(stdout);
        sources.stderr.set_file(stderr);
        for stream in Stream::BOTH {
            if let Some(pipe) = sources.get(stream).pipe() {
                // This fails only when the kernel is out of memory. The output is still read when the program exits.
                let _ = self.events.add(pipe, Token::Pipe(key, stream));
            }
        }
        if !run.lifecycle.ends_with_caller() {
            self.hand_to_standby(key);
        }
    }

    /// Reads new output of a command, with a limited number of reads.
    pub(super) fn read_output(&mut self, key: RunKey, stream: Stream) {
        for _ in 0..MAX_READS_AT_ONCE {
            match self.read_once(key, stream) {
                Read::Some => {}
                Read::End => {
                    return self.drive(key, Event::StreamClosed, Instant::now());
                }
                Read::Nothing | Read::Paused => return,
            }
        }
    }

    /// Reads what is in the pipes at this moment. After the program's exit that is all that it printed. A child that goes on
    /// printing can't keep the keeper here. The end of a stream is not reported to the lifecycle: the answer could be sent
    /// before the second stream is read. The caller of this function reports what happened instead.
    pub(super) fn drain_waiting(&mut self, key: RunKey) {
        for stream in Stream::BOTH {
            let source =
                self.runs.get(&key).and_then(|run| run.sources.as_ref()).map(|both| both.get(stream));
            let Some(until) = source.map(|source| source.total() + source.waiting()) else { continue };
            loop {
                let total = self
                    .runs
                    .get(&key)
                    .and_then(|run| run.sources.as_ref())
                    .map(|both| both.get(stream).total());
                // One more read than needed finds the end of the stream.
                let enough = total.is_none_or(|total| total > until);
                // Bytes are read even if the caller can't keep up: a pipe holds few.
                if enough || matches!(self.read_once(key, stream), Read::Nothing | Read::End) {
                    break;
                }
            }
        }
    }

    /// Reads once, and tells the caller and watchers.
    fn read_once(&mut self, key: RunKey, stream: Stream) -> Read {
        let Some(run) = self.runs.get_mut(&key) else { return Read::Nothing };
        let Some(sources) = &mut run.sources else { return Read::Nothing };
        let source = sources.get_mut(stream);
        let (from, to, spooled) = match source.drain(&mut self.buffer) {
            Drained::Bytes { from, to, spooled } => (from, to, spooled),
            Drained::Nothing => return Read::Nothing,
            Drained::End(pipe) => {
                // Closing it isn't enough: the standby process has a copy, so `epoll` would report the end again and
                // again.
                pipe.iter().for_each(|pipe| self.events.forget(pipe));
                return Read::End;
            }
        };
        run.lifecycle.note(Note::Output, Instant::now());
        if spooled > MAX_MEMORY_BYTES {
            self.save_output(key);
        }
        let Some(run) = self.runs.get_mut(&key) else { return Read::Nothing };
        let Some(sources) = &mut run.sources else { return Read::Nothing };
        let totals = PerStream { stdout: sources.stdout.total(), stderr: sources.stderr.total() };
        let mut before = totals;
        *before.get_mut(stream) = from;
        run.times.note(now_ms(), before);
        self.unpruned.bytes += to - from;
        let kept = spooled.clamp(from, to);
        let unkept = usize::try_from(kept - from).unwrap_or(0)..usize::try_from(to - from).unwrap_or(0);
        self.send_range_to_watchers(key, stream, from, kept);
        self.send_bytes_to_watchers(key, stream, kept, unkept.clone());
        let Some(run) = self.runs.get_mut(&key) else { return Read::Nothing };
        let Some(caller) = run.lifecycle.caller().filter(|_| run.is_followed()) else { return Read::Some };
        let Some(connection) = self.connections.get_mut(&caller) else { return Read::Some };
        if kept > from {
            connection.spooled(stream, from, kept);
        }
        if to > kept {
            let bytes = self.buffer.get(unkept).unwrap_or_default().to_vec();
            connection.send(&FromKeeper::Bytes { stream, offset: kept, bytes });
            if !connection.has_room()
                && let Some(pipe) = run.sources.as_ref().and_then(|sources| sources.get(stream).pipe())
            {
                run.lifecycle.note(Note::ReaderBehind, Instant::now());
                self.events.change(pipe, Token::Pipe(key, stream), Interest::None);
            }
        }
        let read = if run.lifecycle.is_reader_behind() { Read::Paused } else { Read::Some };
        self.adjust_interest(caller);
        read
    }

    /// Stops waiting for the pipes of `key`.
    pub(super) fn forget_pipes(&self, key: RunKey) {
        let sources = self.runs.get(&key).and_then(|run| run.sources.as_ref());
        for source in sources.into_iter().flat_map(|sources| sources.both()) {
            source.pipe().into_iter().for_each(|pipe| self.events.forget(pipe));
        }
    }

    /// Waits for the pipes of `key` again.
    pub(super) fn resume_pipes(&mut self, key: RunKey) {
        let Some(run) = self.runs.get_mut(&key).filter(|run| run.lifecycle.is_reader_behind()) else {
            return;
        };
        run.lifecycle.note(Note::ReaderCaughtUp, Instant::now());
        for stream in Stream::BOTH {
            if let Some(pipe) = run.sources.as_ref().and_then(|sources| sources.get(stream).pipe()) {
                self.events.change(pipe, Token::Pipe(key, stream), Interest::Read);
            }
        }
    }
}
