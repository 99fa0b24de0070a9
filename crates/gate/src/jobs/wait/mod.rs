//! Waiting for a job: for its end, a line of output, a port or silence.
//!
//! A [`Waiter`] sleeps on the keeper's socket, and output and ends wake it. A port has no event to sleep on: for a port it
//! polls the kernel's list of listeners, which takes some microseconds.

mod control;
mod line_search;
mod waiter;

use std::time::{Duration, Instant};

use regex::bytes::Regex;
use serde::Serialize;
use shellgate_exec::{Outcome, PerStream, Stream};
use shellgate_journal::{PastExecution, Status};

pub use control::WaitControl;

use self::line_search::LineSearch;
use self::waiter::{Waiter, unreadable};
use super::report::unsettled;
use super::{Jobs, journal_error, trim_carriage_return};
use crate::ErrorObject;
use crate::answer::report::Report;
use crate::intake::request::Detail;
use crate::record::settle;

/// How often the record is read for the end of an execution that no keeper holds.
const END_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long the record may fail to be settled before that is told.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);

/// What to wait for. The job's end always ends the wait; of the other conditions, the first that is met.
#[derive(Clone, Debug, Default)]
pub struct WaitConditions {
    /// A line that matches this pattern.
    pub pattern: Option<Regex>,
    /// Where the search for the pattern begins in each stream. Default: at the start.
    pub from: PerStream<u64>,
    /// A port that the job listens on.
    pub port: Option<Port>,
    /// This long without output.
    pub silence: Option<Duration>,
    /// The longest time to wait.
    pub timeout: Option<Duration>,
}

/// A port to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Any port.
    Any,
    /// The port with this number.
    Is(u16),
}

/// Why a wait ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum WaitResult {
    /// The job has ended.
    Ended,
    /// A line matched the pattern.
    Matched {
        /// The line.
        line: String,
        /// Its stream.
        stream: &'static str,
        /// Where the next search begins in that stream.
        next: u64,
    },
    /// The job listens on the port.
    Listening {
        /// All ports that it listens on.
        ports: Vec<u16>,
    },
    /// The job was silent for the time given.
    Silent,
    /// No condition was met in time.
    TimedOut,
    /// The caller canceled the wait.
    Canceled,
}

/// The result of a wait, and the job after it.
#[derive(Debug)]
pub struct WaitReport {
    /// Why the wait ended.
    pub result: WaitResult,
    /// The job's report.
    pub report: Report,
}

/// How a wait begins.
enum WaitStart {
    /// A keeper holds the execution.
    Running(Box<Waiter>),
    /// It has ended.
    Ended,
    /// It has ended, and its end can't be recorded.
    Unrecorded(Box<Outcome>),
    /// The wait ended before that was known.
    Over(WaitResult),
}

impl Jobs<'_> {
    /// Waits until one of the conditions is met for a job.
    ///
    /// # Errors
    /// `unknown_job` when there is no such job.
    pub fn wait(
        &self,
        id: &str,
        conditions: WaitConditions,
        control: Option<&WaitControl>,
    ) -> Result<WaitReport, ErrorObject> {
        let execution = self.find(id)?;
        let mut found_in_tails = None;
        let mut told = None;
        let result = match self.begin_wait(&execution, &conditions, control)? {
            WaitStart::Over(result) => result,
            WaitStart::Running(mut waiter) => loop {
                if let Some(result) = waiter.check(self, control)? {
                    told = waiter.into_outcome();
                    break result;
                }
                // The line is not in the files. They may be full, so the tails are searched, once.
                let found = found_in_tails.get_or_insert_with(|| self.search_tails(&execution, &conditions));
                if let Some(result) = found.take() {
                    break result;
                }
                if control.is_some_and(WaitControl::is_canceled) {
                    break WaitResult::Canceled;
                }
                waiter.sleep(control)?;
            },
            // The job has ended: only its output can still be searched.
            WaitStart::Unrecorded(outcome) => {
                told = Some(outcome);
                self.search_output(&execution, &conditions)?.unwrap_or(WaitResult::Ended)
            }
            WaitStart::Ended => self.search_output(&execution, &conditions)?.unwrap_or(WaitResult::Ended),
        };
        Ok(WaitReport { result, report: self.report_after_wait(&execution, told)? })
    }

    /// The report of a job after a wait. An end that the keeper told counts, also when it can't be recorded.
    fn report_after_wait(
        &self,
        execution: &PastExecution,
        told: Option<Box<Outcome>>,
    ) -> Result<Report, ErrorObject> {
        let recorded = self.report(&execution.id, Detail::Minimal);
        match told {
            Some(told) if !recorded.as_ref().is_ok_and(|report| report.status.is_final()) => {
                self.report_told(execution, *told, Detail::Minimal)
            }
            _ => recorded,
        }
    }

    /// Finds the keeper of an execution, or its end. For a moment there may be neither: no keeper has taken the execution
    /// yet, or its caller is about to record its end.
    fn begin_wait(
        &self,
        execution: &PastExecution,
        conditions: &WaitConditions,
        control: Option<&WaitControl>,
    ) -> Result<WaitStart, ErrorObject> {
        let deadline = conditions.timeout.map(|timeout| Instant::now() + timeout);
        let mut unsettled_since = None;
        loop {
            let remaining = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let conditions = WaitConditions { timeout: remaining, ..conditions.clone() };
            if let Some(waiter) = Waiter::begin(self, execution, conditions)? {
                return Ok(WaitStart::Running(Box::new(waiter)));
            }
            let settled = settle(self.journal, self.state);
            let now = self.journal.execution(&execution.id).map_err(|error| journal_error(&error))?;
            if now.is_none_or(|now| now.status != Status::Running) {
                return Ok(WaitStart::Ended);
            }
            if let Err(error) = settled {
                if let Some(outcome) = self.stored_outcome(&execution.id) {
                    return Ok(WaitStart::Unrecorded(Box::new(outcome)));
                }
                // Other processes may use the record or hold the keeper up for a moment.
                if unsettled_since.get_or_insert_with(Instant::now).elapsed() > SETTLE_TIMEOUT {
                    return Err(unsettled(&execution.id, &error));
                }
            }
            if remaining == Some(Duration::ZERO) {
                return Ok(WaitStart::Over(WaitResult::TimedOut));
            }
            if control.is_some_and(WaitControl::is_canceled) {
                return Ok(WaitStart::Over(WaitResult::Canceled));
            }
            std::thread::sleep(END_POLL_INTERVAL.min(remaining.unwrap_or(END_POLL_INTERVAL)));
        }
    }

    /// Searches the output of an ended job for the pattern.
    fn search_output(
        &self,
        execution: &PastExecution,
        conditions: &WaitConditions,
    ) -> Result<Option<WaitResult>, ErrorObject> {
        let Some(pattern) = &conditions.pattern else { return Ok(None) };
        let Ok(spool) = self.spool(execution) else { return Ok(None) };
        for mut search in LineSearch::both(conditions) {
            let file = spool.files.get(search.stream());
            let found = search.search_file(file, pattern).map_err(|error| unreadable(&error))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(self.search_tails(execution, conditions))
    }

    /// Searches the last bytes of streams that were longer than their files may be.
    fn search_tails(&self, execution: &PastExecution, conditions: &WaitConditions) -> Option<WaitResult> {
        let pattern = conditions.pattern.as_ref()?;
        let spool = self.spool(execution).ok()?;
        Stream::BOTH.into_iter().find_map(|stream| {
            let kept = spool.files.get(stream).metadata().map_or(0, |metadata| metadata.len());
            // A search from the end of the file continues an earlier one, which has searched the tail.
            let continues = *conditions.from.get(stream) >= kept;
            let tail = if !continues { self.tail(&execution.id, stream) } else { Vec::new() };
            let mut lines = tail.split(|byte| *byte == b'\n').map(trim_carriage_return);
            let line = lines.find(|line| pattern.is_match(line))?;
            Some(WaitResult::Matched { line: crate::text::one_line(line), stream: stream.name(), next: kept })
        })
    }
}
