//! A running request.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use shellgate_exec as exec;
use shellgate_exec::{Stopper, Stream, Urgency};
use shellgate_journal::RecordedView;
use tracing::debug;

use crate::answer::artifacts::{self, Artifact};
use crate::answer::cost;
use crate::answer::report::Report;
use crate::answer::settings::AnswerSettings;
use crate::answer::summary::RequestSummary;
use crate::gate::Gate;
use crate::intake::request::{Detail, Format};
use crate::record::{self, ExecutionLog, KeptOutput, MAX_TEXT_BYTES};
use crate::root::Root;

/// An event of an execution.
#[derive(Debug)]
pub enum Event {
    /// The execution has a new state.
    State(exec::State),
    /// The command has printed something.
    Output {
        /// The stream.
        stream: Stream,
        /// The offset of the first byte in the stream.
        offset: u64,
        /// The raw bytes.
        bytes: Vec<u8>,
    },
    /// The answer. It is the last event.
    Ended(Box<Report>),
}

/// When the end is written into the journal. It is written once, however often the caller asks for the answer.
#[derive(Debug, Default)]
pub(crate) enum EndRecording {
    /// Before the caller gets the answer.
    #[default]
    AtOnce,
    /// When the caller calls [`Execution::record`].
    Later,
    /// The caller has the answer to this outcome, and has not called [`Execution::record`].
    Unwritten(Box<(exec::Outcome, RecordedView)>),
    /// It is written, or the keeper stores it.
    Done,
}

/// A running request. Dropping it before its answer stops the command, unless it runs in the background.
#[derive(Debug)]
pub struct Execution {
    pub(crate) inner: exec::RunHandle,
    pub(crate) asked: RequestSummary,
    pub(crate) answers: AnswerSettings,
    pub(crate) root: Root,
    /// Its entry in the journal.
    pub(crate) entry: Option<ExecutionLog>,
    pub(crate) end_recording: EndRecording,
    /// The artifacts at the end, once they were collected.
    pub(crate) artifacts: Option<Vec<Artifact>>,
    /// The chat that it belongs to, or the session of a trial. It must live as long as its execution.
    session: Option<exec::Session>,
    /// Whether it had ended before its caller followed it, who has not seen the end yet.
    pub(crate) unseen_end: bool,
}

impl Execution {
    /// A request that `gate` has started. `session`: its session, if that isn't the gate's.
    pub(crate) fn new(
        gate: &Gate,
        inner: exec::RunHandle,
        asked: RequestSummary,
        entry: Option<ExecutionLog>,
        session: Option<exec::Session>,
    ) -> Self {
        Self {
            inner,
            asked,
            answers: AnswerSettings::from(&gate.judge.settings),
            root: gate.judge.root.clone(),
            entry,
            end_recording: EndRecording::default(),
            artifacts: None,
            session,
            unseen_end: false,
        }
    }

    /// Its session, if that isn't the gate's.
    pub(crate) fn session(&self) -> Option<&exec::Session> {
        self.session.as_ref()
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> String {
        self.asked.id.clone()
    }

    /// Waits for the next event. After the end it returns the end again.
    ///
    /// # Errors
    /// When the keeper's answer can't be understood, or a spool file can't be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "waiting can fail, and an iterator that ends would hide it"
    )]
    pub fn next(&mut self) -> io::Result<Event> {
        let event = self.inner.next()?;
        Ok(self.translate(event))
    }

    /// The next event if there is one. If there is none, the descriptor becomes readable when there is. After the end there
    /// are no more events.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> io::Result<Option<Event>> {
        if std::mem::take(&mut self.unseen_end) {
            let outcome = self.inner.wait()?;
            return Ok(Some(Event::Ended(Box::new(self.report(*outcome)))));
        }
        let event = self.inner.try_next()?;
        Ok(event.map(|event| self.translate(event)))
    }

    /// Waits for the answer. Waiting again returns the same answer and writes nothing to the journal.
    ///
    /// # Errors
    /// When the keeper's answer can't be understood.
    pub fn wait(&mut self) -> io::Result<Report> {
        let outcome = self.inner.wait()?;
        Ok(self.report(*outcome))
    }

    /// Stops the command. The answer still comes.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn stop(&self, urgency: Urgency) -> io::Result<()> {
        self.inner.stop(urgency)
    }

    /// Continues the keeper if a command has suspended it. For a caller that has waited for an event for a while.
    pub fn continue_keeper(&self) {
        self.inner.continue_keeper();
    }

    /// Whether the terminal has taken the earlier input, so that more can be sent.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        self.inner.takes_input()
    }

    /// Types at its terminal without judging the input. Only for input that a person types.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn input(&mut self, input: exec::Input) -> io::Result<()> {
        self.inner.input(input)
    }

    /// Kills its processes without the keeper. For a keeper that doesn't answer.
    pub fn abandon(self) {
        self.inner.abandon();
    }

    /// A handle that can stop the command from another thread.
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

    /// Makes the caller get the answer before its end is recorded. The caller records it with [`record`](Self::record). If
    /// the caller dies before that, the keeper stores the end, and the next process that opens the journal records it.
    pub fn record_later(&mut self) {
        if matches!(self.end_recording, EndRecording::AtOnce) {
            self.end_recording = EndRecording::Later;
        }
    }

    /// Records the end after [`record_later`](Self::record_later). Takes as long as hashing the output.
    pub fn record(&mut self) {
        self.record_in_log();
        self.enter_long_log();
    }

    /// Records the end as [`record`](Self::record) does, but leaves it to the caller to [enter](Self::enter_long_log) a log that has
    /// grown long.
    pub fn record_in_log(&mut self) {
        if matches!(self.end_recording, EndRecording::Unwritten(_))
            && let EndRecording::Unwritten(unwritten) =
                std::mem::replace(&mut self.end_recording, EndRecording::Done)
        {
            let (outcome, answer) = *unwritten;
            self.record_end(&outcome, answer);
        }
    }

    /// Whether [`record_in_log`](Self::record_in_log) takes less than a millisecond: there is little output, and no other process
    /// writes the record.
    #[must_use]
    pub fn is_brief_to_record(&self) -> bool {
        self.inner.spool().is_in_memory()
            && self.entry.as_ref().is_some_and(|entry| entry.journal().is_free())
    }

    /// Whether the log of the record should be entered into its database.
    #[must_use]
    pub fn has_long_log(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.journal().has_long_log())
    }

    /// Enters the log of the record into its database, if it is long. Takes milliseconds.
    pub fn enter_long_log(&self) {
        self.entry.iter().for_each(ExecutionLog::enter_if_long);
    }

    fn record_end(&mut self, outcome: &exec::Outcome, answer: RecordedView) {
        let ends = outcome.state.is_final();
        let texts = self
            .entry
            .as_ref()
            .filter(|_| ends)
            .and_then(|_| record::short_texts(outcome, self.inner.spool()));
        if texts.is_none() {
            self.inner.save_output();
        }
        let output = texts.map_or_else(|| KeptOutput::Files(self.inner.spool()), KeptOutput::Texts);
        let answer = RecordedView { program: self.asked.writer.program(), ..answer };
        let written = self
            .entry
            .as_ref()
            .is_none_or(|entry| !ends || entry.ended(&self.asked, outcome, answer, &output));
        if written {
            self.inner.recorded();
        }
    }

    /// Whether the output can be kept after the answer: the answer has all of it, and names no file.
    fn may_save_later(&self, outcome: &exec::Outcome) -> bool {
        let printed = outcome.output.stdout.total + outcome.output.stderr.total;
        matches!(self.end_recording, EndRecording::Later)
            && outcome.state.is_final()
            && printed <= MAX_TEXT_BYTES
            && (self.asked.format, self.asked.detail) == (Format::Text, Detail::Minimal)
    }

    fn report(&mut self, outcome: exec::Outcome) -> Report {
        debug!(id = self.asked.id, state = ?outcome.state, exit = ?outcome.exit, "outcome received");
        if !self.may_save_later(&outcome) {
            self.inner.save_output();
        }
        let collect = || artifacts::collect(&self.asked.artifacts, &self.root);
        let artifacts = self.artifacts.get_or_insert_with(collect).clone();
        let report =
            Report::ended(&self.asked, &self.answers, outcome.clone(), self.inner.spool(), artifacts);
        match self.end_recording {
            EndRecording::AtOnce => {
                self.end_recording = EndRecording::Done;
                self.record_end(&outcome, cost::recorded(&report));
                self.enter_long_log();
            }
            EndRecording::Later => {
                let answer = cost::recorded(&report);
                self.end_recording = EndRecording::Unwritten(Box::new((outcome, answer)));
            }
            EndRecording::Unwritten(_) | EndRecording::Done => {}
        }
        report
    }
}

impl AsFd for Execution {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}
