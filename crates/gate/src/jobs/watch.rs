//! New output of a running job, as it comes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use shellgate_exec::{Input, Job, RunEvent, RunHandle, Stream, watch};

use super::{Jobs, parse};
use crate::ErrorObject;
use crate::gate::session_error;

/// Receives the output of a running job. Dropping it does not affect the job.
#[derive(Debug)]
pub struct JobWatcher {
    execution: RunHandle,
    /// The job when the watching began.
    pub job: Job,
}

impl Jobs<'_> {
    /// Watches a job. `None`: it has ended.
    ///
    /// # Errors
    /// `unknown_job` when there is none.
    pub fn watch(&self, id: &str) -> Result<Option<JobWatcher>, ErrorObject> {
        let id = parse(&self.find(id)?.id)?;
        let watched = watch(self.state, id).map_err(|error| session_error(&error))?;
        Ok(watched.map(|(job, execution)| JobWatcher { execution, job }))
    }
}

impl JobWatcher {
    /// The next output: its stream, its offset in the stream, and its bytes. `None`: the job has ended.
    ///
    /// # Errors
    /// When the keeper's answer can't be understood, or the file can't be read.
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

    /// The next event if there is one. If there is none, the descriptor becomes readable when there is.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> io::Result<Option<RunEvent>> {
        self.execution.try_next()
    }

    /// Whether the terminal has taken the earlier input, so that more can be sent.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        self.execution.takes_input()
    }

    /// Types at its terminal without judging the input. Only for input that a person types.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn input(&mut self, input: Input) -> io::Result<()> {
        self.execution.input(input)
    }
}

impl AsFd for JobWatcher {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.execution.as_fd()
    }
}
