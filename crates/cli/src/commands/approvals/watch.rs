//! `shellgate approvals watch`: waits for questions and shows each at this terminal, as `run` would.
//!
//! Between two questions the terminal is as it was. Ctrl-C ends it and leaves a question that is on the screen to others.
//! Without a terminal it prints questions and answers none.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use shellgate::approval::{Answer, QueueWait};
use shellgate::inside::{self, RestrictedAction};
use shellgate::journal::{AnswerResult, QuestionId, QueuedQuestion};
use shellgate::views::{QuestionView, QueuedQuestionView, outcome_text};
use shellgate::{Code, ErrorObject, GivenAnswer, RecordStore};

use crate::error::{CANCELED, CliError, READER_GONE};
use crate::output;
use crate::prompt::{self, AnswerSource, Terminal};
use crate::signals::Interrupts;

/// How often the record is checked for new questions.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How often questions are closed whose askers are gone.
const EXPIRE_INTERVAL: Duration = Duration::from_secs(1);
/// Rings the terminal's bell.
const BELL: &str = "\x07";

/// Shows questions until a signal ends it.
pub(super) fn watch(json: bool) -> Result<(), CliError> {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if json || !is_terminal {
        return print_questions();
    }
    inside::refuse(RestrictedAction::Answer)?;
    let mut watcher =
        Watcher { record: RecordStore::open(None)?, shown: HashSet::new(), expired: Cell::default() };
    output::print_note("waiting for questions; Ctrl-C ends it");
    loop {
        match watcher.next(true)? {
            Some(queued) => watcher.ask(&queued)?,
            None => return Err(CliError::Reported(CANCELED)),
        }
    }
}

/// Prints each question as a line of JSON.
fn print_questions() -> Result<(), CliError> {
    let mut watcher =
        Watcher { record: RecordStore::open(None)?, shown: HashSet::new(), expired: Cell::default() };
    while let Some(queued) = watcher.next(false)? {
        output::print_json(&json!(QueuedQuestionView::of(&queued)))?;
    }
    Err(CliError::Reported(READER_GONE))
}

struct Watcher {
    record: RecordStore,
    /// Questions that need not be shown again.
    shown: HashSet<QuestionId>,
    /// When questions of askers that are gone were last closed.
    expired: Cell<Option<Instant>>,
}

/// The wait for an answer from elsewhere to the question on the screen.
struct WatchedQuestion<'a> {
    watcher: &'a Watcher,
    queue: QueueWait,
}

impl AnswerSource for WatchedQuestion<'_> {
    fn recorded_answer(&self) -> Option<Answer> {
        // A record that can't be written may still be read.
        let _ = self.watcher.expire();
        self.queue.recorded_answer()
    }

    fn time_left(&self) -> Duration {
        self.queue.time_left()
    }
}

impl Watcher {
    /// Waits for the next question. `None`: a signal ended it, or the reader of our output has gone.
    fn next(&mut self, is_terminal: bool) -> Result<Option<QueuedQuestion>, CliError> {
        // On a terminal, signals are read while we wait, so that none ends us while the terminal is not as it was.
        let interrupts = is_terminal.then(Interrupts::listen).transpose().map_err(|error| failed(&error))?;
        loop {
            self.expire()?;
            let mut pending = self.record.pending()?;
            let waiting: HashSet<QuestionId> = pending.iter().map(|queued| queued.id).collect();
            self.shown.retain(|id| waiting.contains(id));
            pending.retain(|queued| !self.shown.contains(&queued.id));
            if !pending.is_empty() {
                let first = pending.swap_remove(0);
                self.shown.insert(first.id);
                return Ok(Some(first));
            }
            let has_ended = match &interrupts {
                Some(interrupts) => {
                    interrupts.wait_for_signal(POLL_INTERVAL).map_err(|error| failed(&error))?
                }
                None => reader_is_gone(),
            };
            if has_ended {
                return Ok(None);
            }
        }
    }

    /// Closes questions whose askers are gone, from time to time.
    fn expire(&self) -> Result<(), ErrorObject> {
        let now = Instant::now();
        if self.expired.get().is_some_and(|last| now.duration_since(last) < EXPIRE_INTERVAL) {
            return Ok(());
        }
        self.expired.set(Some(now));
        self.record.expire_questions()
    }

    /// Shows a question and gives the answer.
    fn ask(&self, queued: &QueuedQuestion) -> Result<(), CliError> {
        let view = QuestionView::of_queued(queued);
        let gone = || ErrorObject::new(Code::ApprovalUnavailable, "this process has no terminal");
        let mut terminal = Terminal::open().ok_or_else(gone)?;
        terminal.print(BELL).map_err(|error| failed(&error))?;
        let wait = WatchedQuestion { watcher: self, queue: self.record.wait_for(queued) };
        let shown = prompt::show(&mut terminal, &view, &wait, Answer::Canceled);
        let said = shown.map_err(|error| failed(&error))?.ok_or_else(gone)?;
        match &said {
            prompt::GivenAnswer::Here(Answer::Canceled | Answer::Unavailable) => {
                return Err(CliError::Reported(CANCELED));
            }
            prompt::GivenAnswer::Here(answer @ (Answer::Yes(_) | Answer::No(_))) => {
                let GivenAnswer { result, written } = match self.record.answer_and_tell(queued.id, answer) {
                    Ok(given) => given,
                    // Others still wait.
                    Err(error) => {
                        crate::error::show(&error);
                        return Ok(());
                    }
                };
                if let AnswerResult::TooLate(first) = result {
                    let first = outcome_text(&first);
                    output::print_message(&format!("question {} was answered before: {first}", queued.id));
                    return Ok(());
                }
                prompt::print_summary(&mut terminal, &view, &said).map_err(|error| failed(&error))?;
                if let Some(written) = written {
                    output::print_note(&output::escape(&written.way_back()));
                }
            }
            _ => prompt::print_summary(&mut terminal, &view, &said).map_err(|error| failed(&error))?,
        }
        Ok(())
    }
}

/// Sleeps, or returns true as soon as the reader of our output has gone.
fn reader_is_gone() -> bool {
    let out = io::stdout();
    let mut polled = [PollFd::new(&out, PollFlags::empty())];
    let timeout = Timespec::try_from(POLL_INTERVAL).ok();
    // A signal that interrupts it has ended us already, or doesn't matter.
    let ready = poll(&mut polled, timeout.as_ref()).is_ok_and(|ready| ready > 0);
    ready
        && polled
            .iter()
            .any(|polled| polled.revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL))
}

fn failed(error: &io::Error) -> CliError {
    ErrorObject::new(Code::ApprovalUnavailable, format!("the terminal can't be used: {error}")).into()
}
