//! Which jobs there are, and how they do.

use std::time::Duration;

use serde::Serialize;
use shellgate_exec::{Exit, Job, JobKind, Spool, State, Stream};
use shellgate_journal::{Millis, PastExecution, Query, Status};

use super::{Jobs, standing, trouble, vitals};
use crate::ErrorObject;
use crate::answer::report::{exit_code, signal};
use crate::answer::signal_names::SignalName;
use crate::gate::session_error;
use crate::text::{last_line, last_line_in};

/// How long one that has ended is still listed.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// The most that are listed of those.
pub const MOST_ENDED: usize = 256;

/// How long before that one may have started, in milliseconds.
const OLDEST: Millis = 7 * 86_400_000;

/// How many executions are looked at to find them.
const MOST_LOOKED_AT: usize = 1_000;

/// The most of a command and of a line that a list shows.
const WIDEST: usize = 400;

/// How often, and after which time, it is looked again for one that is in no list.
const TRIES: u32 = 4;
const A_MOMENT: Duration = Duration::from_millis(5);

/// One job in the list.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its name.
    pub id: String,
    /// Its session.
    pub session: String,
    /// Where it stands.
    pub status: State,
    /// `foreground`, `job` or `leftover`; what has ended is a `job`.
    pub kind: JobKind,
    /// The command.
    pub command: String,
    /// The machine's number of its first process.
    pub pid: Option<u32>,
    /// How many processes live.
    pub processes: usize,
    /// Since its start; of one that has ended, how long it ran.
    pub age_ms: u64,
    /// Since it last printed something.
    pub silence_ms: Option<u64>,
    /// Time on a CPU.
    pub cpu_ms: Option<u64>,
    /// Memory in use.
    pub memory_bytes: Option<u64>,
    /// The ports that it listens on.
    pub ports: Vec<u16>,
    /// How its command ended, if it did.
    pub exit_code: Option<i32>,
    /// Or by which signal.
    pub signal: Option<SignalName>,
    /// How much it printed.
    pub stdout_bytes: u64,
    /// How much on the other stream.
    pub stderr_bytes: u64,
    /// Whether it waits for somebody to type.
    pub waiting_for_input: bool,
    /// The last line that it printed.
    pub last_line: String,
}

impl Jobs<'_> {
    /// All that run, oldest first, and then those that ended within the hour.
    ///
    /// # Errors
    /// When a keeper can't be understood or the record not be read.
    pub fn list(&self) -> Result<Vec<Listed>, ErrorObject> {
        let held = self.held_now()?;
        let mut list = Vec::new();
        for job in &held {
            let id = job.id.to_string();
            let known = self.journal.execution(&id).map_err(|error| trouble(&error))?;
            // One without an entry ran before its entry could be read, or without a record: it has no session.
            if known.as_ref().map_or(self.session.is_none(), |known| self.has(known)) {
                list.push(self.held(job, known.as_ref()));
            }
        }
        let ended = self.ended()?;
        list.extend(
            ended
                .iter()
                .filter(|one| held.iter().all(|job| job.id.to_string() != one.id))
                .map(|one| self.gone(one)),
        );
        Ok(list)
    }

    /// Those that somebody holds. One that ended a moment ago may be in no list yet: then a moment more.
    fn held_now(&self) -> Result<Vec<Job>, ErrorObject> {
        let running =
            Query { session: self.session.clone(), statuses: vec![Status::Running], ..Query::default() };
        for _ in 0..TRIES {
            let held = shellgate_exec::jobs(self.state).map_err(|error| session_error(&error))?;
            let open = self.journal.history(&running).map_err(|error| trouble(&error))?;
            if open.iter().all(|one| held.iter().any(|job| job.id.to_string() == one.id)) {
                return Ok(held);
            }
            self.settle();
            std::thread::sleep(A_MOMENT);
        }
        shellgate_exec::jobs(self.state).map_err(|error| session_error(&error))
    }

    /// Those that ended lately as jobs, newest first.
    fn ended(&self) -> Result<Vec<PastExecution>, ErrorObject> {
        let remembered = Millis::try_from(REMEMBERED.as_millis()).unwrap_or(0);
        let since = crate::record::now().saturating_sub(remembered);
        let query = Query {
            session: self.session.clone(),
            since: Some(since.saturating_sub(OLDEST)),
            limit: MOST_LOOKED_AT,
            statuses: vec![
                Status::Completed,
                Status::Failed,
                Status::Canceled,
                Status::TimedOut,
                Status::Lost,
            ],
            ..Query::default()
        };
        let found = self.journal.history(&query).map_err(|error| trouble(&error))?;
        let lately = |one: &PastExecution| {
            self.has(one)
                && one.ended.as_ref().map_or(one.at >= since, |ended| ended.job && ended.ended_at >= since)
        };
        Ok(found.into_iter().filter(lately).take(MOST_ENDED).collect())
    }

    pub(super) fn held(&self, job: &Job, known: Option<&PastExecution>) -> Listed {
        let pids: Vec<u32> = job.processes.iter().map(|process| process.pid).collect();
        let vitals = vitals::vitals(&pids);
        let first = || job.processes.first().map(|process| process.command.clone()).unwrap_or_default();
        Listed {
            id: job.id.to_string(),
            session: known.map(|known| known.session.clone()).unwrap_or_default(),
            status: job.state,
            kind: job.kind,
            command: known.and_then(text).unwrap_or_else(first),
            pid: job.pid,
            processes: job.processes.len(),
            age_ms: milliseconds(job.age),
            silence_ms: Some(milliseconds(job.silence)),
            cpu_ms: Some(vitals.cpu_ms),
            memory_bytes: Some(vitals.memory_bytes),
            ports: vitals::ports(&pids),
            exit_code: exit_code(job.exit),
            signal: signal(job.exit),
            stdout_bytes: job.printed.stdout,
            stderr_bytes: job.printed.stderr,
            waiting_for_input: job.waiting_for_input,
            last_line: self.last_line(&job.id.to_string()),
        }
    }

    pub(super) fn gone(&self, execution: &PastExecution) -> Listed {
        let ended = execution.ended.as_ref();
        let ran = match ended {
            Some(ended) => ended.started_at.map(|started| ended.ended_at.saturating_sub(started)),
            None => standing::lost_after(execution),
        };
        let exit = ended
            .and_then(|ended| ended.exit_code.map(Exit::Code).or_else(|| ended.signal.map(Exit::Signal)));
        // Where nobody knows an end, the files know how much was kept.
        let id = execution.id.parse().ok();
        let spool = id.and_then(|id| Spool::open(&self.state.spool(), id).ok());
        let kept = |stream: Stream| Some(spool.as_ref()?.files.get(stream).metadata().ok()?.len());
        Listed {
            id: execution.id.clone(),
            session: execution.session.clone(),
            status: standing::state(execution.status),
            kind: JobKind::Job,
            command: text(execution).unwrap_or_default(),
            pid: ended.and_then(|ended| ended.pid),
            processes: 0,
            age_ms: ran.and_then(|ran| u64::try_from(ran).ok()).unwrap_or(0),
            silence_ms: None,
            cpu_ms: None,
            memory_bytes: None,
            ports: Vec::new(),
            exit_code: exit_code(exit),
            signal: signal(exit),
            stdout_bytes: ended.map(|ended| ended.stdout.bytes).or_else(|| kept(Stream::Stdout)).unwrap_or(0),
            stderr_bytes: ended.map(|ended| ended.stderr.bytes).or_else(|| kept(Stream::Stderr)).unwrap_or(0),
            waiting_for_input: false,
            last_line: self.last_line(&execution.id),
        }
    }

    /// The last line of whichever stream was written to last.
    fn last_line(&self, id: &str) -> String {
        let Some(spool) = id.parse().ok().and_then(|id| Spool::open(&self.state.spool(), id).ok()) else {
            return String::new();
        };
        let written = |stream: Stream| {
            let metadata = spool.files.get(stream).metadata().ok().filter(|metadata| metadata.len() > 0)?;
            metadata.modified().ok()
        };
        let last = Stream::BOTH
            .into_iter()
            .filter_map(|stream| Some((written(stream)?, stream)))
            .max_by_key(|(at, _)| *at);
        let Some((_, stream)) = last else { return String::new() };
        let tail = self.tail(id, stream);
        shortened(if tail.is_empty() { last_line(spool.files.get(stream)) } else { last_line_in(&tail) })
    }
}

fn text(execution: &PastExecution) -> Option<String> {
    execution.asked.as_ref().map(|asked| shortened(asked.text.clone()))
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
