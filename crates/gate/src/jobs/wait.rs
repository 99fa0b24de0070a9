//! Waiting for something to happen to a job: its end, a line, a port, silence.
//!
//! A [`Wait`] sleeps on the keeper's socket: output and ends wake it, nothing else does. Only a port has no event to sleep
//! on; for one the kernel's list is read now and then, which costs some microseconds.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::Serialize;
use shellgate_exec::{self as exec, Job, Stream, watch};
use shellgate_journal::PastExecution;

use super::listeners::listeners;
use super::{Jobs, parse, vitals};
use crate::answer::report::Report;
use crate::gate::session_error;
use crate::intake::request::Detail;
use crate::{Code, ErrorObject};

/// How often the list of ports is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A line that is longer is looked at in parts.
const LONGEST_LINE: usize = 64 << 10;

/// What to wait for. The end always counts; of the others, whichever comes first.
#[derive(Clone, Debug, Default)]
pub struct Until {
    /// A line in which this is found.
    pub pattern: Option<Regex>,
    /// Where the search begins in each stream. Default: at the start.
    pub from: exec::PerStream<u64>,
    /// A port that it listens on.
    pub port: Option<Port>,
    /// So long without output.
    pub silence: Option<Duration>,
    /// For no longer than this.
    pub timeout: Option<Duration>,
}

/// Which port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Any.
    Any,
    /// This one.
    Is(u16),
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum WaitResult {
    /// It has ended.
    Ended,
    /// This line was printed.
    Matched {
        /// The line.
        line: String,
        /// On this stream.
        stream: &'static str,
        /// And the next search begins here.
        next: u64,
    },
    /// It listens.
    Listening {
        /// On these ports.
        ports: Vec<u16>,
    },
    /// It was silent for as long as was asked.
    Silent,
    /// Nothing of that happened in time.
    TimedOut,
    /// Whoever waited no longer wants to know.
    Canceled,
}

/// What happened, and how the job stands.
#[derive(Debug)]
pub struct WaitReport {
    /// What happened.
    pub met: WaitResult,
    /// How it stands.
    pub report: Report,
}

/// Whoever waits, from the outside: says that nobody wants the answer any more, and may hear what is printed meanwhile.
pub struct Cancel {
    event: OwnedFd,
    hears: Option<Hears>,
}

type Hears = Box<dyn Fn(&[u8]) + Send + Sync>;

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").field("event", &self.event).finish_non_exhaustive()
    }
}

impl Cancel {
    /// One that has not been said.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let flags = rustix::event::EventfdFlags::CLOEXEC | rustix::event::EventfdFlags::NONBLOCK;
        Ok(Self { event: rustix::event::eventfd(0, flags)?, hears: None })
    }

    /// The same for somebody who wants to hear what the job prints from now on.
    #[must_use]
    pub fn hearing(self, hears: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self { hears: Some(Box::new(hears)), ..self }
    }

    /// Says it.
    pub fn cancel(&self) {
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }

    pub(super) fn was_said(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut [PollFd::new(&self.event, PollFlags::IN)], Some(&now))
            .is_ok_and(|ready| ready > 0)
    }
}

/// One wait.
#[derive(Debug)]
struct Wait {
    execution: exec::RunHandle,
    until: Until,
    scans: [Scan; 2],
    job: Job,
    last_output: Instant,
    deadline: Option<Instant>,
    /// The listening sockets that were there at the last look, ours or not.
    sockets: Option<Vec<u64>>,
    /// Found in what no file keeps.
    heard: Option<WaitResult>,
    over: bool,
}

impl Jobs<'_> {
    /// Waits until something of `until` happens to a job.
    ///
    /// # Errors
    /// `unknown_job` when there is none.
    pub fn wait(&self, id: &str, until: Until, cancel: Option<&Cancel>) -> Result<WaitReport, ErrorObject> {
        let execution = self.find(id)?;
        let mut printed_before = None;
        let met = match self.begin_wait(&execution, until.clone())? {
            Some(mut wait) => loop {
                if let Some(met) = wait.look(self, cancel)? {
                    break met;
                }
                // Not found in the files: they may be full.
                let before = printed_before.get_or_insert_with(|| self.found_at_the_end(&execution, &until));
                if let Some(met) = before.take() {
                    break met;
                }
                if cancel.is_some_and(Cancel::was_said) {
                    break WaitResult::Canceled;
                }
                wait.sleep(cancel)?;
            },
            // It has ended: only what it printed can still be looked for.
            None => self.found_afterwards(&execution, &until)?.unwrap_or(WaitResult::Ended),
        };
        Ok(WaitReport { met, report: self.report(&execution.id, Detail::Minimal)? })
    }

    /// A wait for an execution that somebody holds.
    fn begin_wait(&self, execution: &PastExecution, until: Until) -> Result<Option<Wait>, ErrorObject> {
        let watched = watch(self.state, parse(&execution.id)?).map_err(|error| session_error(&error))?;
        let Some((job, watched)) = watched else { return Ok(None) };
        let now = Instant::now();
        Ok(Some(Wait {
            execution: watched,
            scans: Scan::both(&until),
            last_output: now.checked_sub(job.silence).unwrap_or(now),
            deadline: until.timeout.map(|timeout| now + timeout),
            sockets: None,
            heard: None,
            job,
            until,
            over: false,
        }))
    }

    fn found_afterwards(
        &self,
        execution: &PastExecution,
        until: &Until,
    ) -> Result<Option<WaitResult>, ErrorObject> {
        let Some(pattern) = &until.pattern else { return Ok(None) };
        let Ok(spool) = self.spool(execution) else { return Ok(None) };
        for mut scan in Scan::both(until) {
            let met =
                scan.go_on(spool.files.get(scan.stream), pattern).map_err(|error| unreadable(&error))?;
            if met.is_some() {
                return Ok(met);
            }
        }
        Ok(self.found_at_the_end(execution, until))
    }

    /// Looks for a pattern in the ends of streams that were too much for their files, when the search begins before.
    fn found_at_the_end(&self, execution: &PastExecution, until: &Until) -> Option<WaitResult> {
        let pattern = until.pattern.as_ref()?;
        let spool = self.spool(execution).ok()?;
        Stream::BOTH.into_iter().find_map(|stream| {
            let kept = spool.files.get(stream).metadata().map_or(0, |metadata| metadata.len());
            let tail =
                if *until.from.get(stream) < kept { self.tail(&execution.id, stream) } else { Vec::new() };
            let line =
                tail.split(|byte| *byte == b'\n').map(unreturned).find(|line| pattern.is_match(line))?;
            Some(WaitResult::Matched { line: crate::text::one_line(line), stream: stream.name(), next: kept })
        })
    }
}

impl Wait {
    /// What has happened by now.
    fn look(&mut self, jobs: &Jobs<'_>, cancel: Option<&Cancel>) -> Result<Option<WaitResult>, ErrorObject> {
        while let Some(event) = self.execution.try_next().map_err(|error| unreadable(&error))? {
            match event {
                exec::RunEvent::Output { stream, offset, bytes } => {
                    self.last_output = Instant::now();
                    if let Some(hears) = cancel.and_then(|cancel| cancel.hears.as_ref()) {
                        hears(&bytes);
                    }
                    self.hear(stream, offset, &bytes)?;
                }
                exec::RunEvent::Ended(_) => self.over = true,
                exec::RunEvent::State(_) => {}
            }
        }
        if let Some(met) = self.heard.take() {
            return Ok(Some(met));
        }
        if let Some(pattern) = self.until.pattern.clone() {
            let files = &self.execution.spool().files;
            for scan in &mut self.scans {
                let met = scan.go_on(files.get(scan.stream), &pattern);
                if let Some(met) = met.map_err(|error| unreadable(&error))? {
                    return Ok(Some(met));
                }
            }
        }
        if self.over {
            return Ok(Some(WaitResult::Ended));
        }
        if let Some(ports) = self.ports(jobs)? {
            return Ok(Some(WaitResult::Listening { ports }));
        }
        let now = Instant::now();
        if self.until.silence.is_some_and(|silence| now >= self.last_output + silence) {
            return Ok(Some(WaitResult::Silent));
        }
        Ok(self.deadline.is_some_and(|deadline| now >= deadline).then_some(WaitResult::TimedOut))
    }

    /// Looks for the pattern in bytes that no file keeps. Those that a file has are looked for there.
    fn hear(&mut self, stream: Stream, offset: u64, bytes: &[u8]) -> Result<(), ErrorObject> {
        let Some(pattern) = self.until.pattern.as_ref().filter(|_| self.heard.is_none()) else {
            return Ok(());
        };
        let file = self.execution.spool().files.get(stream);
        let kept = file.metadata().map_or(0, |metadata| metadata.len());
        let Some(scan) = self.scans.iter_mut().find(|scan| scan.stream == stream && offset >= kept) else {
            return Ok(());
        };
        self.heard = scan.go_on(file, pattern).map_err(|error| unreadable(&error))?;
        if self.heard.is_none() {
            scan.line.extend_from_slice(bytes);
            self.heard = scan.whole_lines(pattern).or_else(|| scan.rest(pattern));
        }
        Ok(())
    }

    /// The ports that it listens on, when those are waited for and it does.
    fn ports(&mut self, jobs: &Jobs<'_>) -> Result<Option<Vec<u16>>, ErrorObject> {
        let Some(wanted) = self.until.port else { return Ok(None) };
        let Some(network) = self.job.processes.first().map(|process| process.pid) else { return Ok(None) };
        // Nobody listens who didn't at the last look: then there is nothing to look for.
        let sockets = Some(listeners(network).into_keys().collect());
        if sockets == self.sockets {
            return Ok(None);
        }
        self.sockets = sockets;
        let held = exec::jobs(jobs.state).map_err(|error| session_error(&error))?;
        if let Some(job) = held.into_iter().find(|job| job.id == self.job.id) {
            self.job = job;
        }
        let pids: Vec<u32> = self.job.processes.iter().map(|process| process.pid).collect();
        let ports = vitals::ports(&pids);
        let met = match wanted {
            Port::Any => !ports.is_empty(),
            Port::Is(port) => ports.contains(&port),
        };
        Ok(met.then_some(ports))
    }

    /// Sleeps until something may have happened.
    fn sleep(&self, cancel: Option<&Cancel>) -> Result<(), ErrorObject> {
        let now = Instant::now();
        let silent = self.until.silence.map(|silence| self.last_output + silence);
        let look = self.until.port.map(|_| now + LOOK);
        let wake = [self.deadline, silent, look].into_iter().flatten().min();
        let timeout = wake.and_then(|wake| Timespec::try_from(wake.saturating_duration_since(now)).ok());
        let mut waited = vec![PollFd::new(&self.execution, PollFlags::IN)];
        waited.extend(cancel.map(|cancel| PollFd::new(&cancel.event, PollFlags::IN)));
        match rustix::event::poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(unreadable(&errno.into())),
        }
    }
}

/// A search through one stream that goes on where it stopped.
#[derive(Debug)]
struct Scan {
    stream: Stream,
    /// The start of the line that has not ended.
    at: u64,
    /// That line, as far as it is known.
    line: Vec<u8>,
}

impl Scan {
    fn both(until: &Until) -> [Self; 2] {
        Stream::BOTH.map(|stream| Self { stream, at: *until.from.get(stream), line: Vec::new() })
    }

    /// Looks at what came since. A line that has not ended counts too: a question waits at the end of one.
    fn go_on(&mut self, file: &std::fs::File, pattern: &Regex) -> io::Result<Option<WaitResult>> {
        use std::os::unix::fs::FileExt as _;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let known = self.line.len();
            let read = file.read_at(&mut buffer, self.at + known as u64)?;
            self.line.extend_from_slice(buffer.get(..read).unwrap_or_default());
            if let Some(met) = self.whole_lines(pattern) {
                return Ok(Some(met));
            }
            if read == 0 || self.line.len() > LONGEST_LINE {
                let found = self.rest(pattern);
                if read == 0 || found.is_some() {
                    return Ok(found);
                }
            }
        }
    }

    /// Looks at the lines that have ended.
    fn whole_lines(&mut self, pattern: &Regex) -> Option<WaitResult> {
        while let Some(end) = memchr::memchr(b'\n', &self.line) {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            self.at += line.len() as u64;
            let met = self.matched(line.get(..end).unwrap_or_default(), pattern);
            if met.is_some() {
                return met;
            }
        }
        None
    }

    /// Looks at the line that has not.
    fn rest(&mut self, pattern: &Regex) -> Option<WaitResult> {
        let met = self.matched(&self.line, pattern);
        if met.is_some() || self.line.len() > LONGEST_LINE {
            self.at += self.line.len() as u64;
            self.line.clear();
        }
        met.map(|met| self.ends_here(met))
    }

    fn matched(&self, line: &[u8], pattern: &Regex) -> Option<WaitResult> {
        let line = unreturned(line);
        pattern.is_match(line).then(|| WaitResult::Matched {
            line: crate::text::one_line(line),
            stream: self.stream.name(),
            next: self.at,
        })
    }

    fn ends_here(&self, met: WaitResult) -> WaitResult {
        match met {
            WaitResult::Matched { line, stream, .. } => WaitResult::Matched { line, stream, next: self.at },
            met => met,
        }
    }
}

/// A line of a terminal ends in a carriage return, which is no part of it.
#[must_use]
pub fn unreturned(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn unreadable(error: &io::Error) -> ErrorObject {
    ErrorObject::new(Code::KeeperLost, format!("the job can't be followed: {error}"))
}
