//! One wait for a running job.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use shellgate_exec::{Job, Outcome, RunEvent, RunHandle, Stream, watch};
use shellgate_journal::PastExecution;

use super::line_search::LineSearch;
use super::{Port, WaitConditions, WaitControl, WaitResult};
use crate::gate::session_error;
use crate::jobs::listeners::listeners;
use crate::jobs::{Jobs, parse, usage};
use crate::{Code, ErrorObject};

/// How often the list of listening sockets is read.
const PORT_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A wait for a job that a keeper holds.
#[derive(Debug)]
pub(super) struct Waiter {
    execution: RunHandle,
    conditions: WaitConditions,
    searches: [LineSearch; 2],
    job: Job,
    last_output: Instant,
    deadline: Option<Instant>,
    /// All listening sockets at the last poll, of any process.
    sockets: Option<Vec<u64>>,
    /// A match in output that no file holds.
    unspooled_match: Option<WaitResult>,
    /// How the job ended, as its keeper told.
    ended: Option<Box<Outcome>>,
}

impl Waiter {
    /// Begins to watch an execution. `None`: no keeper holds it, so it has ended.
    pub(super) fn begin(
        jobs: &Jobs<'_>,
        execution: &PastExecution,
        conditions: WaitConditions,
    ) -> Result<Option<Self>, ErrorObject> {
        let watched = watch(jobs.state, parse(&execution.id)?).map_err(|error| session_error(&error))?;
        let Some((job, execution)) = watched else { return Ok(None) };
        let now = Instant::now();
        Ok(Some(Self {
            execution,
            searches: LineSearch::both(&conditions),
            last_output: now.checked_sub(job.silence).unwrap_or(now),
            deadline: conditions.timeout.map(|timeout| now + timeout),
            sockets: None,
            unspooled_match: None,
            job,
            conditions,
            ended: None,
        }))
    }

    /// How the job ended, if its keeper has told.
    pub(super) fn into_outcome(self) -> Option<Box<Outcome>> {
        self.ended
    }

    /// Takes the events that have come, and checks each condition.
    pub(super) fn check(
        &mut self,
        jobs: &Jobs<'_>,
        control: Option<&WaitControl>,
    ) -> Result<Option<WaitResult>, ErrorObject> {
        while let Some(event) = self.execution.try_next().map_err(|error| unreadable(&error))? {
            match event {
                RunEvent::Output { stream, offset, bytes } => {
                    self.last_output = Instant::now();
                    if let Some(control) = control {
                        control.pass_on(&bytes);
                    }
                    self.search_unspooled(stream, offset, &bytes)?;
                }
                RunEvent::Ended(outcome) => self.ended = Some(outcome),
                RunEvent::State(_) => {}
            }
        }
        if let Some(found) = self.unspooled_match.take() {
            return Ok(Some(found));
        }
        if let Some(pattern) = self.conditions.pattern.clone() {
            let files = &self.execution.spool().files;
            for search in &mut self.searches {
                let found = search.search_file(files.get(search.stream()), &pattern);
                if let Some(found) = found.map_err(|error| unreadable(&error))? {
                    return Ok(Some(found));
                }
            }
        }
        if self.ended.is_some() {
            return Ok(Some(WaitResult::Ended));
        }
        if let Some(ports) = self.wanted_ports(jobs)? {
            return Ok(Some(WaitResult::Listening { ports }));
        }
        let now = Instant::now();
        if self.conditions.silence.is_some_and(|silence| now >= self.last_output + silence) {
            return Ok(Some(WaitResult::Silent));
        }
        Ok(self.deadline.is_some_and(|deadline| now >= deadline).then_some(WaitResult::TimedOut))
    }

    /// Searches output that no file holds. Output that a file holds is searched in the file.
    fn search_unspooled(&mut self, stream: Stream, offset: u64, bytes: &[u8]) -> Result<(), ErrorObject> {
        let Some(pattern) = self.conditions.pattern.as_ref().filter(|_| self.unspooled_match.is_none())
        else {
            return Ok(());
        };
        let file = self.execution.spool().files.get(stream);
        let kept = file.metadata().map_or(0, |metadata| metadata.len());
        let mut searches = self.searches.iter_mut();
        let Some(search) = searches.find(|search| search.stream() == stream && offset >= kept) else {
            return Ok(());
        };
        self.unspooled_match = match search.search_file(file, pattern).map_err(|error| unreadable(&error))? {
            Some(found) => Some(found),
            None => search.search_bytes(bytes, pattern),
        };
        Ok(())
    }

    /// The ports that the job listens on, if the wanted one is among them.
    fn wanted_ports(&mut self, jobs: &Jobs<'_>) -> Result<Option<Vec<u16>>, ErrorObject> {
        let Some(wanted) = self.conditions.port else { return Ok(None) };
        let Some(first) = self.job.processes.first().map(|process| process.pid) else { return Ok(None) };
        // If no process has begun to listen since the last poll, the job hasn't either.
        let sockets = Some(listeners(first).into_keys().collect());
        if sockets == self.sockets {
            return Ok(None);
        }
        self.sockets = sockets;
        let held = shellgate_exec::jobs(jobs.state).map_err(|error| session_error(&error))?;
        if let Some(job) = held.jobs.into_iter().find(|job| job.id == self.job.id) {
            self.job = job;
        }
        let pids: Vec<u32> = self.job.processes.iter().map(|process| process.pid).collect();
        let ports = usage::ports(&pids);
        let listens = match wanted {
            Port::Any => !ports.is_empty(),
            Port::Is(port) => ports.contains(&port),
        };
        Ok(listens.then_some(ports))
    }

    /// Sleeps until a condition may be met.
    pub(super) fn sleep(&self, control: Option<&WaitControl>) -> Result<(), ErrorObject> {
        let now = Instant::now();
        let silent_at = self.conditions.silence.map(|silence| self.last_output + silence);
        let next_poll = self.conditions.port.map(|_| now + PORT_POLL_INTERVAL);
        let wake_at = [self.deadline, silent_at, next_poll].into_iter().flatten().min();
        let timeout = wake_at.and_then(|wake| Timespec::try_from(wake.saturating_duration_since(now)).ok());
        let mut polled = vec![PollFd::new(&self.execution, PollFlags::IN)];
        polled.extend(control.map(WaitControl::poll_fd));
        match rustix::event::poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(unreadable(&errno.into())),
        }
    }
}

pub(super) fn unreadable(error: &io::Error) -> ErrorObject {
    ErrorObject::new(Code::KeeperLost, format!("the job can't be followed: {error}"))
}
