//! Output: out of the pipes, and word of it to whoever listens.

use std::time::Instant;

use super::event_loop::Keeper;
use super::events::{Interest, Token};
use super::lifecycle::{Event, Note};
use super::stream::Drained;
use super::tree::RunKey;
use crate::stored_end::now_ms;
use crate::wire::FromKeeper;
use crate::{PerStream, Stream};

/// How many reads one stream gets before the others have their turn.
const READS_PER_TURN: usize = 8;

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// Nothing.
    Nothing,
    /// The end: nobody can write any more.
    End,
    /// Bytes, and there may be more.
    Some,
    /// Bytes, and whoever reads them from us can't follow.
    EnoughForNow,
}

impl Keeper {
    /// Begins to read what an execution prints, now that it has started.
    pub(super) fn open_pipes(&mut self, key: RunKey) {
        let Some(run) = self.runs.get_mut(&key) else { return };
        let Some(sources) = &mut run.sources else { return };
        let Some(spool) = run.spool.take() else { return };
        let (stdout, stderr) = match spool {
            Ok(files) => (Ok(files.stdout), Ok(files.stderr)),
            Err(reason) => (Err(reason.clone()), Err(reason)),
        };
        sources.stdout.set_place(stdout);
        sources.stderr.set_place(stderr);
        for stream in Stream::BOTH {
            if let Some(pipe) = sources.get(stream).pipe() {
                // Failing here would need the kernel to be out of memory; the drain at the end still reads.
                let _ = self.events.add(pipe, Token::Pipe(key, stream));
            }
        }
        if !run.lifecycle.ends_with_caller() {
            self.hand_to_standby(key);
        }
    }

    /// Takes what the command has printed, a few reads of it.
    pub(super) fn pump(&mut self, key: RunKey, stream: Stream) {
        for _ in 0..READS_PER_TURN {
            match self.read_once(key, stream) {
                Read::Some => {}
                Read::End => {
                    return self.drive(key, Event::StreamClosed, Instant::now());
                }
                Read::Nothing | Read::EnoughForNow => return,
            }
        }
    }

    /// Takes what was in the pipes when we were called: after the program's end, that is all it printed. A child that
    /// goes on printing can't hold us here. Whoever calls looks at the execution afterwards: not at the end of the first
    /// stream, or the answer could go out before the second one is read.
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
                // One read more than needed notices the end of the stream.
                let enough = total.is_none_or(|total| total > until);
                // A reader that can't follow is no reason to leave bytes in the pipe now: it holds few.
                if enough || matches!(self.read_once(key, stream), Read::Nothing | Read::End) {
                    break;
                }
            }
        }
    }

    /// Reads once and tells whoever listens.
    fn read_once(&mut self, key: RunKey, stream: Stream) -> Read {
        let Some(run) = self.runs.get_mut(&key) else { return Read::Nothing };
        let Some(sources) = &mut run.sources else { return Read::Nothing };
        let source = sources.get_mut(stream);
        let (from, to, spooled) = match source.drain(&mut self.buffer) {
            Drained::Bytes { from, to, spooled } => (from, to, spooled),
            Drained::Nothing => return Read::Nothing,
            Drained::End(pipe) => {
                // Closing it isn't enough: our standby has a copy, and the end would wake us for ever.
                pipe.iter().for_each(|pipe| self.events.forget(pipe));
                return Read::End;
            }
        };
        run.lifecycle.note(Note::Output, Instant::now());
        let totals = PerStream { stdout: sources.stdout.total(), stderr: sources.stderr.total() };
        let mut before = totals;
        *before.get_mut(stream) = from;
        run.times.note(now_ms(), before);
        self.unpruned.bytes += to - from;
        let kept = spooled.clamp(from, to);
        let unkept = usize::try_from(kept - from).unwrap_or(0)..usize::try_from(to - from).unwrap_or(0);
        self.tell_watchers(key, stream, from, kept);
        self.show_watchers(key, stream, kept, unkept.clone());
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
        let read = if run.lifecycle.is_reader_behind() { Read::EnoughForNow } else { Read::Some };
        self.adjust_interest(caller);
        read
    }

    /// Listens to the pipes of `key` no longer.
    pub(super) fn forget_pipes(&self, key: RunKey) {
        let sources = self.runs.get(&key).and_then(|run| run.sources.as_ref());
        for source in sources.into_iter().flat_map(|sources| sources.both()) {
            source.pipe().into_iter().for_each(|pipe| self.events.forget(pipe));
        }
    }

    /// Listens to the pipes of `key` again.
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
