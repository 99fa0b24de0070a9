//! Writes input to terminals, as fast as they take it, and answers the senders.

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

/// How much input may wait for a command that doesn't read. More is refused.
const MAX_QUEUED_BYTES: usize = 256 << 10;

/// The longest line that a terminal passes on in line mode. The kernel drops the rest.
const MAX_LINE_BYTES: usize = 4095;

/// Ctrl-D.
const END_OF_FILE: u8 = 0x04;

/// Input for a terminal.
#[derive(Debug)]
pub(super) struct InputQueue {
    to: OwnedFd,
    queue: VecDeque<u8>,
    /// How many bytes were written to the terminal so far.
    written: u64,
    /// Whether the keeper waits until the terminal takes more.
    blocked: bool,
    partial_line: PartialLine,
    sequence: u64,
}

impl InputQueue {
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

    /// The line that was typed and not finished with Enter.
    pub(super) fn partial_line(&self) -> &PartialLine {
        &self.partial_line
    }

    /// How many inputs came so far.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// How many bytes will have been written when the queue is empty.
    fn end(&self) -> u64 {
        self.written + self.queue.len() as u64
    }

    /// Queues all of `bytes`, or nothing.
    fn push(&mut self, bytes: &[u8], reader: Option<u32>) -> Result<(), NotTaken> {
        if self.queue.len() + bytes.len() > MAX_QUEUED_BYTES {
            return Err(NotTaken::Full);
        }
        self.queue.extend(bytes);
        self.partial_line = self.partial_line.typed(bytes, reader);
        self.sequence += 1;
        Ok(())
    }

    /// Writes what the terminal takes.
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
    /// Handles input from a front end.
    pub(super) fn take_input(&mut self, from: ConnectionKey, id: ExecId, input: Input) {
        let taken = self
            .find_run(id)
            .ok_or(NotTaken::Unknown)
            .and_then(|key| Ok((key, self.queue_input(key, input)?)));
        let Some(connection) = self.connections.get_mut(&from) else { return };
        connection.confirm();
        match taken {
            Ok((key, end)) => {
                connection.typing = Some((key, end));
                self.flush_input(key);
            }
            Err(reason) => {
                connection.send(&FromKeeper::Typed(Err(reason)));
                self.adjust_interest(from);
            }
        }
    }

    /// Queues input, and returns the number of bytes after which it is taken.
    fn queue_input(&mut self, key: RunKey, input: Input) -> Result<u64, NotTaken> {
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
            Input::End => terminal.input_queue.push(&[END_OF_FILE], None)?,
            Input::Bytes { bytes, after, reader } => {
                if after.is_some_and(|after| after != terminal.input_queue.sequence) {
                    return Err(NotTaken::Changed);
                }
                let begun = terminal.input_queue.partial_line.text.len();
                if terminal.takes_lines() && longest_line(begun, &bytes) > MAX_LINE_BYTES {
                    return Err(NotTaken::LongLine);
                }
                terminal.input_queue.push(&bytes, reader)?;
            }
        }
        Ok(terminal.input_queue.end())
    }

    /// Writes queued input. Waits for the terminal to take more only while input is queued.
    pub(super) fn flush_input(&mut self, key: RunKey) {
        let Some(terminal) = self.runs.get_mut(&key).and_then(|run| run.terminal.as_mut()) else { return };
        let input_queue = &mut terminal.input_queue;
        // An error means that the terminal is closed. The senders are answered when the execution has ended.
        let blocked = input_queue.flush().is_ok() && !input_queue.queue.is_empty();
        if blocked != input_queue.blocked {
            input_queue.blocked = match blocked {
                true => self.events.add_sink(&input_queue.to, Token::Input(key)).is_ok(),
                false => {
                    self.events.forget(&input_queue.to);
                    false
                }
            };
        }
        self.answer_input_senders(key);
    }

    /// Answers the senders whose input was taken, or can't be taken any more.
    pub(super) fn answer_input_senders(&mut self, key: RunKey) {
        let run = self.runs.get(&key);
        let written = run.and_then(|run| run.terminal.as_ref()).map(|terminal| terminal.input_queue.written);
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

    /// Sends the state of an execution's input to a front end.
    pub(super) fn describe_input(&mut self, from: ConnectionKey, id: ExecId) {
        let seen = self.find_run(id).and_then(|key| self.input_state(key)).map(Box::new);
        let Some(connection) = self.connections.get_mut(&from) else { return };
        connection.confirm();
        connection.send(&FromKeeper::InputState(seen));
        self.adjust_interest(from);
    }
}

/// The length of the longest line in `bytes`, the first of which continues a line of `begun` bytes.
fn longest_line(begun: usize, bytes: &[u8]) -> usize {
    let lines = bytes.split(|byte| matches!(byte, b'\r' | b'\n'));
    lines
        .enumerate()
        .map(|(at, line)| if at == 0 { begun + line.len() } else { line.len() })
        .max()
        .unwrap_or(0)
}
