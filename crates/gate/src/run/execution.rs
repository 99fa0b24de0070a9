//! A request that runs.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use shellgate_exec as exec;
use shellgate_exec::{Stopper, Stream, Urgency};

use crate::answer::report::{Report, RequestSummary};
use crate::record::ExecutionLog;
use crate::root::Root;
use crate::settings::Limits;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// The execution moved on.
    State(exec::State),
    /// It printed something: the bytes as they were.
    Output {
        /// Where.
        stream: Stream,
        /// How many bytes came before on that stream.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// The answer. Nothing follows.
    Ended(Box<Report>),
}

/// When the end is written down.
#[derive(Debug, Default)]
pub(crate) enum End {
    /// Before it is told.
    #[default]
    AtOnce,
    /// When [`Execution::record`] is called.
    Later,
    /// The same, and this is it.
    Unwritten(Box<exec::Outcome>),
}

/// A request that runs. Dropping it before its answer stops it, unless it is in the background.
#[derive(Debug)]
pub struct Execution {
    pub(crate) inner: exec::RunHandle,
    pub(crate) asked: RequestSummary,
    pub(crate) limits: Limits,
    pub(crate) root: Root,
    /// Its entry in the record.
    pub(crate) entry: Option<ExecutionLog>,
    /// Its end, when that is to be written down later.
    pub(crate) end: End,
    /// The session, when it is not the gate's own: as long as its execution is there, so is it.
    pub(crate) _chat: Option<exec::Session>,
}

impl Execution {
    /// Its name.
    #[must_use]
    pub fn id(&self) -> String {
        self.asked.id.clone()
    }

    /// The next event, waiting for it.
    ///
    /// # Errors
    /// When the keeper can't be understood or a spool file not be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "waiting can fail, and an iterator that ends would hide it"
    )]
    pub fn next(&mut self) -> io::Result<Event> {
        let event = self.inner.next()?;
        Ok(self.translate(event))
    }

    /// The next event, if there is one; else wait until the descriptor is readable.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> io::Result<Option<Event>> {
        let event = self.inner.try_next()?;
        Ok(event.map(|event| self.translate(event)))
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// When the keeper can't be understood.
    pub fn wait(&mut self) -> io::Result<Report> {
        let outcome = self.inner.wait()?;
        Ok(self.report(*outcome))
    }

    /// Stops it; the answer still comes.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn stop(&self, urgency: Urgency) -> io::Result<()> {
        self.inner.stop(urgency)
    }

    /// Whether what was typed before is taken, so that more may come.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        self.inner.takes_input()
    }

    /// Types at its terminal, as the person who runs it: nothing is judged.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn input(&mut self, input: exec::Input) -> io::Result<()> {
        self.inner.input(input)
    }

    /// Ends its processes without the keeper, which doesn't answer.
    pub fn abandon(self) {
        self.inner.abandon();
    }

    /// A handle that stops it from elsewhere.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn stopper(&self) -> io::Result<Stopper> {
        self.inner.stopper()
    }

    fn translate(&mut self, event: exec::RunEvent) -> Event {
        match event {
            exec::RunEvent::State(state) => Event::State(state),
            exec::RunEvent::Output { stream, offset, bytes } => Event::Output { stream, offset, bytes },
            exec::RunEvent::Ended(outcome) => Event::Ended(Box::new(self.report(*outcome))),
        }
    }

    /// From now on, the end is told before it is written down: [`record`](Self::record) does that. Whoever doesn't get to it
    /// leaves the end with the keeper, for others to write down.
    pub fn record_later(&mut self) {
        self.end = End::Later;
    }

    /// Writes down the end that was told. Takes as long as hashing the output does.
    pub fn record(&mut self) {
        if let End::Unwritten(outcome) = std::mem::replace(&mut self.end, End::Later) {
            self.write(&outcome);
        }
    }

    fn write(&mut self, outcome: &exec::Outcome) {
        let ends = outcome.state.is_final();
        let written = self
            .entry
            .as_ref()
            .is_none_or(|entry| !ends || entry.ended(&self.asked, outcome, self.inner.spool()));
        if written {
            self.inner.recorded();
        }
    }

    fn report(&mut self, outcome: exec::Outcome) -> Report {
        match self.end {
            End::AtOnce => self.write(&outcome),
            End::Later | End::Unwritten(_) => self.end = End::Unwritten(Box::new(outcome.clone())),
        }
        let artifacts = crate::answer::artifacts::collect(&self.asked.artifacts, &self.root);
        Report::ended(&self.asked, &self.limits, outcome, self.inner.spool(), artifacts)
    }
}

impl AsFd for Execution {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}
