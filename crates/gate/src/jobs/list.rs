//! The list of jobs, with the state of each.

use std::time::Duration;

use serde::Serialize;
use shellgate_exec::{Exit, HeldJobs, Job, JobKind, Spool, State, Stream};
use shellgate_journal::{Millis, PastExecution, Query, Status};

use super::{Jobs, journal_error, report, usage};
use crate::ErrorObject;
use crate::answer::report::{exit_code, signal};
use crate::answer::signal_names::SignalName;
use crate::gate::session_error;
use crate::text::{last_line, last_line_in};

/// How long a job is listed after its end.
const LISTED_AFTER_END: Duration = Duration::from_secs(3_600);

/// How many ended jobs are listed at most.
pub const MAX_ENDED_LISTED: usize = 256;

/// The journal finds executions by their start. A job that ran longer than this before `LISTED_AFTER_END` is not listed.
const MAX_RUN_MS: Millis = 7 * 86_400_000;

/// How many executions are searched at most for ended jobs.
const MAX_SEARCHED_EXECUTIONS: usize = 1_000;

/// The longest command and the longest last line in a list.
const MAX_SHOWN_CHARS: usize = 400;

/// An execution that has just ended may be in no list yet: the keepers are asked this often, at this interval.
const MAX_ATTEMPTS: u32 = 4;
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// One job in the list.
#[derive(Clone, Debug, Serialize)]
pub struct JobSummary {
    /// Its id.
    pub id: String,
    /// Its session.
    pub session: String,
    /// Its state.
    pub status: State,
    /// `foreground`, `job` or `leftover`. One that has ended is a `job`.
    pub kind: JobKind,
    /// The command.
    pub command: String,
    /// The process id of its first process, as commands of its session know it.
    pub pid: Option<u32>,
    /// The machine's process id of its first process.
    pub host_pid: Option<u32>,
    /// How many of its processes live.
    pub processes: usize,
    /// Time since its start. One that has ended: how long it ran.
    pub age_ms: u64,
    /// Time since its last output.
    pub silence_ms: Option<u64>,
    /// CPU time.
    pub cpu_ms: Option<u64>,
    /// Memory in use.
    pub memory_bytes: Option<u64>,
    /// The ports that it listens on.
    pub ports: Vec<u16>,
    /// The exit code of its command, if it has exited.
    pub exit_code: Option<i32>,
    /// The signal that ended its command, if one did.
    pub signal: Option<SignalName>,
    /// How many bytes it wrote to standard output.
    pub stdout_bytes: u64,
    /// How many bytes it wrote to standard error.
    pub stderr_bytes: u64,
    /// Whether it waits for input from its terminal.
    pub waiting_for_input: bool,
    /// The last line of its output.
    pub last_line: String,
}

/// The jobs.
#[derive(Debug)]
pub struct JobList {
    /// All that are known.
    pub jobs: Vec<JobSummary>,
    /// That a keeper doesn't answer. It may hold other jobs.
    pub silent: Option<ErrorObject>,
}

impl Jobs<'_> {
    /// All running jobs, oldest first, then those that ended within the last hour.
    ///
    /// # Errors
    /// When a keeper's answer can't be understood, or the journal can't be read.
    pub fn list(&self) -> Result<JobList, ErrorObject> {
        let HeldJobs { jobs: held, silent } = self.jobs_of_keepers()?;
        let mut list = Vec::new();
        for job in &held {
            let id = job.id.to_string();
            let known = self.journal.execution(&id).map_err(|error| journal_error(&error))?;
            // A job without an entry in the journal has no session: it is listed only for all sessions.
            if known
                .as_ref()
                .map_or(self.sessions.journal_name().is_none(), |known| self.sessions.contains(known))
            {
                list.push(self.summarize_running(job, known.as_ref()));
            }
        }
        let ended = self.recently_ended()?;
        list.extend(
            ended
                .iter()
                .filter(|one| held.iter().all(|job| job.id.to_string() != one.id))
                .map(|one| self.summarize_ended(one)),
        );
        Ok(JobList { jobs: list, silent: silent.as_ref().map(session_error) })
    }

    /// The jobs that keepers hold. If the journal says that an execution runs and no keeper holds it, it has just ended:
    /// then its end is recorded, and the keepers are asked again.
    fn jobs_of_keepers(&self) -> Result<HeldJobs, ErrorObject> {
        let running =
            Query { session: self.session_name(), statuses: vec![Status::Running], ..Query::default() };
        for _ in 0..MAX_ATTEMPTS {
            let held = shellgate_exec::jobs(self.state).map_err(|error| session_error(&error))?;
            let open = self.journal.history(&running).map_err(|error| journal_error(&error))?;
            let is_silent = held.silent.is_some();
            if is_silent || open.iter().all(|one| held.jobs.iter().any(|job| job.id.to_string() == one.id)) {
                return Ok(held);
            }
            self.settle();
            std::thread::sleep(RETRY_INTERVAL);
        }
        shellgate_exec::jobs(self.state).map_err(|error| session_error(&error))
    }

    fn session_name(&self) -> Option<String> {
        self.sessions.journal_name().map(str::to_owned)
    }

    /// The jobs that ended lately, newest first.
    fn recently_ended(&self) -> Result<Vec<PastExecution>, ErrorObject> {
        let listed = Millis::try_from(LISTED_AFTER_END.as_millis()).unwrap_or(0);
        let since = crate::record::now().saturating_sub(listed);
        let query = Query {
            session: self.session_name(),
            since: Some(since.saturating_sub(MAX_RUN_MS)),
            limit: MAX_SEARCHED_EXECUTIONS,
            statuses: vec![
                Status::Completed,
                Status::Failed,
                Status::Canceled,
                Status::TimedOut,
                Status::Lost,
            ],
            ..Query::default()
        };
        let found = self.journal.history(&query).map_err(|error| journal_error(&error))?;
        let lately = |one: &PastExecution| {
            self.sessions.contains(one)
                && one.ended.as_ref().map_or(one.at >= since, |ended| ended.job && ended.ended_at >= since)
        };
        Ok(found.into_iter().filter(lately).take(MAX_ENDED_LISTED).collect())
    }

    /// A job that a keeper holds.
    pub(super) fn summarize_running(&self, job: &Job, known: Option<&PastExecution>) -> JobSummary {
        let pids: Vec<u32> = job.processes.iter().map(|process| process.pid).collect();
        let used = usage::measure(&pids);
        let first = || job.processes.first().map(|process| process.command.clone()).unwrap_or_default();
        JobSummary {
            id: job.id.to_string(),
            session: known.map(|known| known.session.clone()).unwrap_or_default(),
            status: job.state,
            kind: job.kind,
            command: known.and_then(text).unwrap_or_else(first),
            pid: job.session_pid,
            host_pid: job.pid,
            processes: job.processes.len(),
            age_ms: milliseconds(job.age),
            silence_ms: Some(milliseconds(job.silence)),
            cpu_ms: Some(used.cpu_ms),
            memory_bytes: Some(used.memory_bytes),
            ports: usage::ports(&pids),
            exit_code: exit_code(job.exit),
            signal: signal(job.exit),
            stdout_bytes: job.printed.stdout,
            stderr_bytes: job.printed.stderr,
            waiting_for_input: job.waiting_for_input,
            last_line: self.last_line(&job.id.to_string()),
        }
    }

    /// A job that no keeper holds.
    pub(super) fn summarize_ended(&self, execution: &PastExecution) -> JobSummary {
        let ended = execution.ended.as_ref();
        let ran = match ended {
            Some(ended) => ended.started_at.map(|started| ended.ended_at.saturating_sub(started)),
            None => report::run_time_of_lost(execution),
        };
        let exit = ended
            .and_then(|ended| ended.exit_code.map(Exit::Code).or_else(|| ended.signal.map(Exit::Signal)));
        // If the end was not recorded, the size of the files says how much was printed.
        let id = execution.id.parse().ok();
        let spool = id.and_then(|id| Spool::open(&self.state.spool(), id).ok());
        let file_size = |stream: Stream| Some(spool.as_ref()?.files.get(stream).metadata().ok()?.len());
        JobSummary {
            id: execution.id.clone(),
            session: execution.session.clone(),
            status: report::state(execution.status),
            kind: JobKind::Job,
            command: text(execution).unwrap_or_default(),
            pid: ended.and_then(|ended| ended.pid),
            host_pid: ended.and_then(|ended| ended.pid),
            processes: 0,
            age_ms: ran.and_then(|ran| u64::try_from(ran).ok()).unwrap_or(0),
            silence_ms: None,
            cpu_ms: None,
            memory_bytes: None,
            ports: Vec::new(),
            exit_code: exit_code(exit),
            signal: signal(exit),
            stdout_bytes: ended
                .map(|ended| ended.stdout.bytes)
                .or_else(|| file_size(Stream::Stdout))
                .unwrap_or(0),
            stderr_bytes: ended
                .map(|ended| ended.stderr.bytes)
                .or_else(|| file_size(Stream::Stderr))
                .unwrap_or(0),
            waiting_for_input: false,
            last_line: self.last_line(&execution.id),
        }
    }

    /// The last line of the stream that was written to last.
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
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
