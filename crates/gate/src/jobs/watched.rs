//! What a job prints from now on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use shellgate_exec::{Input, Job, RunEvent, RunHandle, Stream, watch};

use super::{Jobs, parse};
use crate::ErrorObject;
use crate::gate::session_error;

/// A job that is watched. Letting go of it changes nothing.
#[derive(Debug)]
pub struct Watched {
    execution: RunHandle,
    /// How it stood at first.
    pub job: Job,
}

impl Jobs<'_> {
    /// Watches one; `None` when it has ended.
    ///
    /// # Errors
    /// `unknown_job` when there is none.
    pub fn watch(&self, id: &str) -> Result<Option<Watched>, ErrorObject> {
        let id = parse(&self.find(id)?.id)?;
        let watched = watch(self.state, id).map_err(|error| session_error(&error))?;
        Ok(watched.map(|(job, execution)| Watched { execution, job }))
    }
}

impl Watched {
    /// What it printed next: where, how many bytes came before, and what. `None` after its end.
    ///
    /// # Errors
    /// When the keeper can't be understood or the file not be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "waiting can fail, and an iterator that ends would hide it"
    )]
    pub fn next(&mut self) -> io::Result<Option<(Stream, u64, Vec<u8>)>> {
        loop {
            match self.execution.next()? {
                RunEvent::Output { stream, offset, bytes } => return Ok(Some((stream, offset, bytes))),
                RunEvent::Ended(_) => return Ok(None),
                RunEvent::State(_) => {}
            }
        }
    }

    /// The same, if there is something: else wait until the descriptor is readable.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> io::Result<Option<RunEvent>> {
        self.execution.try_next()
    }
}

impl Watched {
    /// Whether what was typed before is taken, so that more may come.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        self.execution.takes_input()
    }

    /// Types at its terminal, as the person whose machine it is: nothing is judged.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn input(&mut self, input: Input) -> io::Result<()> {
        self.execution.input(input)
    }
}

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.execution.as_fd()
    }
}
