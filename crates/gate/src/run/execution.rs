//! A request that runs.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use shellgate_exec as exec;
use shellgate_exec::{Stopper, Stream, Urgency};

use crate::answer::artifacts::{self, Artifact};
use crate::answer::report::Report;
use crate::answer::summary::RequestSummary;
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

/// When the end is written into the record. That happens once, however often the end is told.
#[derive(Debug, Default)]
pub(crate) enum End {
    /// Before the caller is told.
    #[default]
    AtOnce,
    /// When the caller calls [`Execution::record`].
    Later,
    /// The caller was told this outcome and has not called [`Execution::record`].
    Unwritten(Box<exec::Outcome>),
    /// It is written, or left with the keeper.
    Done,
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
    pub(crate) end: End,
    /// The artifacts at the end, once that was told.
    pub(crate) artifacts: Option<Vec<Artifact>>,
    /// The session, when it is not the gate's own: as long as its execution is there, so is it.
    pub(crate) _chat: Option<exec::Session>,
}

impl Execution {
    /// Its name.
    #[must_use]
    pub fn id(&self) -> String {
        self.asked.id.clone()
    }

    /// The next event, waiting for it. After the end: the end again.
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

    /// The next event, if there is one; else wait until the descriptor is readable. After the end there is none.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> io::Result<Option<Event>> {
        let event = self.inner.try_next()?;
        Ok(event.map(|event| self.translate(event)))
    }

    /// Waits for the answer. Waiting again returns the same answer, and writes nothing into the record.
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
        if matches!(self.end, End::AtOnce) {
            self.end = End::Later;
        }
    }

    /// Writes down the end that was told. Takes as long as hashing the output does.
    pub fn record(&mut self) {
        if let End::Unwritten(outcome) = &self.end {
            let outcome = outcome.clone();
            self.end = End::Done;
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
            End::AtOnce => {
                self.end = End::Done;
                self.write(&outcome);
            }
            End::Later => self.end = End::Unwritten(Box::new(outcome.clone())),
            End::Unwritten(_) | End::Done => {}
        }
        let collect = || artifacts::collect(&self.asked.artifacts, &self.root);
        let artifacts = self.artifacts.get_or_insert_with(collect).clone();
        Report::ended(&self.asked, &self.limits, outcome, self.inner.spool(), artifacts)
    }
}

impl AsFd for Execution {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}
