//! What is typed: into the terminal, as fast as that takes it, and word of it to whoever typed.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::io::Errno;

use super::connection::ConnectionKey;
use super::event_loop::Keeper;
use super::events::Token;
use super::lifecycle::Note;
use super::tree::RunKey;
use crate::input::{Input, NotTaken};
use crate::wire::FromKeeper;
use crate::{ExecId, PartialLine};

/// What waits for a command that doesn't read. Beyond this, more is refused.
const MOST_WAITING: usize = 256 << 10;

/// The longest line that a terminal gives out whole: the kernel drops the rest.
const LONGEST_LINE: usize = 4095;

/// Ctrl-D.
const END_OF_FILE: u8 = 0x04;

/// The way into a command.
#[derive(Debug)]
pub(super) struct Inlet {
    to: OwnedFd,
    queue: VecDeque<u8>,
    /// How many bytes were written in all.
    written: u64,
    /// We wait for room.
    blocked: bool,
    partial_line: PartialLine,
    sequence: u64,
}

impl Inlet {
    pub(super) fn new(to: OwnedFd) -> Self {
        Self {
            to,
            queue: VecDeque::new(),
            written: 0,
            blocked: false,
            partial_line: PartialLine::default(),
            sequence: 0,
        }
    }

    /// The line that was begun and not finished.
    pub(super) fn partial_line(&self) -> &PartialLine {
        &self.partial_line
    }

    /// How many inputs there were.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Where the input will be when all that waits is written.
    fn end(&self) -> u64 {
        self.written + self.queue.len() as u64
    }

    /// Takes `bytes` in, or not at all.
    fn push(&mut self, bytes: &[u8], reader: Option<u32>) -> Result<(), NotTaken> {
        if self.queue.len() + bytes.len() > MOST_WAITING {
            return Err(NotTaken::Full);
        }
        self.queue.extend(bytes);
        self.partial_line = self.partial_line.typed(bytes, reader);
        self.sequence += 1;
        Ok(())
    }

    /// Writes what there is room for.
    fn flush(&mut self) -> Result<(), Errno> {
        while !self.queue.is_empty() {
            let (first, _) = self.queue.as_slices();
            match rustix::io::write(&self.to, first) {
                Ok(count) => {
                    self.written += count as u64;
                    drop(self.queue.drain(..count));
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Keeper {
    /// Somebody types.
    pub(super) fn take_input(&mut self, from: ConnectionKey, id: ExecId, input: Input) {
        let taken = self
            .run_called(id)
            .ok_or(NotTaken::Unknown)
            .and_then(|key| Ok((key, self.type_into(key, input)?)));
        let Some(connection) = self.connections.get_mut(&from) else { return };
        connection.greet();
        match taken {
            Ok((key, end)) => {
                connection.typing = Some((key, end));
                self.feed(key);
            }
            Err(reason) => {
                connection.send(&FromKeeper::Typed(Err(reason)));
                self.adjust_interest(from);
            }
        }
    }

    /// Up to which byte the input has to be written before it is taken.
    fn type_into(&mut self, key: RunKey, input: Input) -> Result<u64, NotTaken> {
        let run = self.runs.get_mut(&key).ok_or(NotTaken::Unknown)?;
        let terminal = run.terminal.as_mut().ok_or(match input {
            Input::Bytes { .. } | Input::End => NotTaken::Closed,
            Input::Resize(_) | Input::Suspend | Input::Continue => NotTaken::NoTerminal,
        })?;
        match input {
            Input::Resize(size) => terminal.resize(size).map_err(|_| NotTaken::Ended)?,
            Input::Suspend => {
                run.lifecycle.note(Note::Suspended, Instant::now());
                self.trees.suspend_top_processes(key);
                self.trees.suspend(key);
            }
            Input::Continue => {
                run.lifecycle.note(Note::Continued, Instant::now());
                self.trees.signal(key, rustix::process::Signal::CONT);
            }
            Input::End => terminal.inlet.push(&[END_OF_FILE], None)?,
            Input::Bytes { bytes, after, reader } => {
                if after.is_some_and(|after| after != terminal.inlet.sequence) {
                    return Err(NotTaken::Changed);
                }
                let begun = terminal.inlet.partial_line.text.len();
                if terminal.takes_lines() && longest_line(begun, &bytes) > LONGEST_LINE {
                    return Err(NotTaken::LongLine);
                }
                terminal.inlet.push(&bytes, reader)?;
            }
        }
        Ok(terminal.inlet.end())
    }

    /// Writes what the terminal takes of what was typed, and waits for room only while something waits.
    pub(super) fn feed(&mut self, key: RunKey) {
        let Some(terminal) = self.runs.get_mut(&key).and_then(|run| run.terminal.as_mut()) else { return };
        let inlet = &mut terminal.inlet;
        // An error here is the end of the terminal: those who wait hear of it when the execution is gone.
        let blocked = inlet.flush().is_ok() && !inlet.queue.is_empty();
        if blocked != inlet.blocked {
            inlet.blocked = match blocked {
                true => self.events.add_sink(&inlet.to, Token::Input(key)).is_ok(),
                false => {
                    self.events.forget(&inlet.to);
                    false
                }
            };
        }
        self.answer_input_senders(key);
    }

    /// Answers those whose words are taken, or will never be.
    pub(super) fn answer_input_senders(&mut self, key: RunKey) {
        let run = self.runs.get(&key);
        let written = run.and_then(|run| run.terminal.as_ref()).map(|terminal| terminal.inlet.written);
        let mut told = Vec::new();
        for (sender, connection) in &mut self.connections {
            let Some((_, end)) = connection.typing.filter(|(run, _)| *run == key) else { continue };
            let word = match written {
                Some(written) if written >= end => Ok(()),
                Some(_) => continue,
                None => Err(NotTaken::Ended),
            };
            connection.typing = None;
            connection.send(&FromKeeper::Typed(word));
            told.push(*sender);
        }
        told.into_iter().for_each(|sender| self.adjust_interest(sender));
    }

    /// Somebody wants to know who reads.
    pub(super) fn look_for(&mut self, from: ConnectionKey, id: ExecId) {
        let seen = self.run_called(id).and_then(|key| self.input_state(key)).map(Box::new);
        let Some(connection) = self.connections.get_mut(&from) else { return };
        connection.greet();
        connection.send(&FromKeeper::Seen(seen));
        self.adjust_interest(from);
    }
}

/// The longest line in `bytes`, the first of which goes on where `begun` bytes are.
fn longest_line(begun: usize, bytes: &[u8]) -> usize {
    let lines = bytes.split(|byte| matches!(byte, b'\r' | b'\n'));
    lines
        .enumerate()
        .map(|(at, line)| if at == 0 { begun + line.len() } else { line.len() })
        .max()
        .unwrap_or(0)
}
