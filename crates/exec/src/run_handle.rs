//! The caller's handle on an execution.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tracing::{error, warn};

use crate::forked::{Forked, KEEPER_CHECK_INTERVAL};
use crate::keeper_connection::{KeeperConnection, Pool, send};
use crate::outcome::{Failure, Outcome, Output};
use crate::spool::Spool;
use crate::sys::processes;
use crate::wire::{FromKeeper, ToKeeper, Urgency};
use crate::{ExecId, Follow, Input, PerStream, State, Stream};

/// How much output one event carries at most.
const MAX_EVENT_BYTES: u64 = 64 << 10;

/// Something that happened to an execution.
#[derive(Debug)]
pub enum RunEvent {
    /// It has a new state.
    State(State),
    /// It printed something.
    Output {
        /// The stream.
        stream: Stream,
        /// The number of bytes before these on that stream.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The answer. No other event follows.
    Ended(Box<Outcome>),
}

/// An execution that runs.
///
/// Read [`next`](Self::next) until [`RunEvent::Ended`], or [`wait`](Self::wait) for it. Dropping a foreground execution
/// before that stops it.
#[derive(Debug)]
pub struct RunHandle {
    id: ExecId,
    progress: Progress,
    /// The connection on which the keeper told the end, until the caller has recorded that end.
    unrecorded: Option<KeeperConnection>,
    pool: Option<Pool>,
    keeper: Arc<Forked>,
    spool: Spool,
    /// The folder for output, where output in memory is saved.
    folder: PathBuf,
    pending: VecDeque<Pending>,
    /// The keeper has not confirmed the last input.
    typing: bool,
}

/// Whether the keeper has answered.
#[derive(Debug)]
enum Progress {
    /// The keeper has not answered yet.
    Running(KeeperConnection),
    /// The answer. It stays, so that waiting again gives the same.
    Ended(Box<Outcome>),
}

/// An event that the keeper has sent and the caller has not seen.
#[derive(Debug)]
enum Pending {
    Event(RunEvent),
    /// Output in the spool file. It is read when its turn comes.
    Range(Stream, u64, u64),
    /// The end, which [`Progress`] has.
    End,
}

impl RunHandle {
    pub(crate) fn new(
        spec: (ExecId, Follow),
        connection: KeeperConnection,
        pool: Option<Pool>,
        keeper: Arc<Forked>,
        spool: Spool,
    ) -> Self {
        let (id, follow) = spec;
        let queued = (follow == Follow::Closely).then_some(Pending::Event(RunEvent::State(State::Queued)));
        let pending = queued.into_iter().collect();
        let progress = Progress::Running(connection);
        let folder = PathBuf::new();
        Self { id, progress, unrecorded: None, pool, keeper, spool, folder, pending, typing: false }
    }

    /// The same handle, whose output is saved in a folder.
    pub(crate) fn with_folder(mut self, folder: PathBuf) -> Self {
        self.folder = folder;
        self
    }

    /// An execution that another front end started: its output from now on, and its end. Dropping this handle doesn't
    /// stop it.
    pub(crate) fn watched(id: ExecId, connection: KeeperConnection, spool: Spool) -> Self {
        Self::new((id, Follow::Quietly), connection, None, Arc::default(), spool)
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> ExecId {
        self.id
    }

    /// The files that hold its output.
    #[must_use]
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// Gives its output files if it is still in memory. The caller does this before it records the end, or tells where the files
    /// are. Where it fails, [`Spool::paths`] says that there are none.
    pub fn save_output(&mut self) {
        if let Err(error) = self.spool.save(&self.folder, self.id) {
            warn!(id = %self.id, %error, "the output can't be saved");
        }
    }

    /// The next event, waiting for it. After the end: the end again.
    ///
    /// # Errors
    /// When a message of the keeper is invalid, or a spool file can't be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "waiting can fail, and an iterator that ends would hide it"
    )]
    pub fn next(&mut self) -> io::Result<RunEvent> {
        loop {
            if let Some(event) = self.take_pending()? {
                return Ok(event);
            }
            match &mut self.progress {
                Progress::Running(connection) => {
                    let message = connection.next_before(Instant::now() + KEEPER_CHECK_INTERVAL);
                    self.receive_or_continue(message)?;
                }
                Progress::Ended(outcome) => return Ok(RunEvent::Ended(outcome.clone())),
            }
        }
    }

    /// The next event, if there is one. When there is none, wait until [`as_fd`](AsFd::as_fd) is readable. After the end
    /// there is none.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> io::Result<Option<RunEvent>> {
        loop {
            if let Some(event) = self.take_pending()? {
                return Ok(Some(event));
            }
            let Progress::Running(connection) = &mut self.progress else { return Ok(None) };
            match connection.try_next() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                message => self.receive(message)?,
            }
        }
    }

    /// Waits for the answer and skips all events before it. Waiting again returns the same outcome.
    ///
    /// # Errors
    /// When a message of the keeper is invalid.
    pub fn wait(&mut self) -> io::Result<Box<Outcome>> {
        loop {
            self.pending.clear();
            match &mut self.progress {
                Progress::Running(connection) => {
                    let message = connection.next_before(Instant::now() + KEEPER_CHECK_INTERVAL);
                    self.receive_or_continue(message)?;
                }
                Progress::Ended(outcome) => return Ok(outcome.clone()),
            }
        }
    }

    /// Lets the caller see states and output of an execution that has ended, as if it had followed it closely. Of output that
    /// is in no file, only the kept tail is shown.
    pub fn replay(&mut self) {
        let Progress::Ended(outcome) = &self.progress else { return };
        self.pending.clear();
        let states = [State::Queued, State::Starting, State::Running];
        self.pending.extend(states.map(|state| Pending::Event(RunEvent::State(state))));
        for stream in Stream::BOTH {
            let Output { total, spooled, tail, .. } = outcome.output.get(stream);
            if *spooled > 0 {
                self.pending.push_back(Pending::Range(stream, 0, *spooled));
            }
            if total > spooled && !tail.is_empty() {
                let offset = total.saturating_sub(tail.len() as u64);
                let bytes = tail.clone();
                self.pending.push_back(Pending::Event(RunEvent::Output { stream, offset, bytes }));
            }
        }
        self.pending.push_back(Pending::End);
    }

    /// The connection to the keeper, until the end.
    fn connection(&self) -> Option<&KeeperConnection> {
        match &self.progress {
            Progress::Running(connection) => Some(connection),
            Progress::Ended(_) => None,
        }
    }

    /// A handle that can stop it from another thread.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn stopper(&self) -> io::Result<Stopper> {
        let socket = self.connection().map(|connection| connection.socket().try_clone()).transpose()?;
        Ok(Stopper { id: self.id, socket: socket.map(Arc::new) })
    }

    /// Stops it. The answer follows, with all output until then.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn stop(&self, urgency: Urgency) -> io::Result<()> {
        match self.connection() {
            Some(connection) => send(connection.socket(), &ToKeeper::Stop(self.id, urgency), &[]),
            None => Ok(()),
        }
    }

    /// Continues the keeper if a command has suspended it. For a caller that has waited for an event for a while.
    pub fn continue_keeper(&self) {
        if let Some(connection) = self.connection() {
            self.keeper.continue_keeper(connection.socket());
        }
    }

    /// Takes a message, or continues the keeper when none came in time.
    fn receive_or_continue(&mut self, message: io::Result<Option<FromKeeper>>) -> io::Result<()> {
        match message {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                self.continue_keeper();
                Ok(())
            }
            message => self.receive(message),
        }
    }

    /// Whether the last input was taken, so that more can be sent.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        !self.typing && self.connection().is_some()
    }

    /// Sends input to its terminal. Input that the terminal can't take is lost, as with any terminal.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn input(&mut self, input: Input) -> io::Result<()> {
        let Progress::Running(connection) = &self.progress else { return Ok(()) };
        self.typing |= !matches!(input, Input::Resize(_));
        send(connection.socket(), &ToKeeper::Type(self.id, input), &[])
    }

    /// Tells the keeper that the record has its end, or doesn't need it. Without this the keeper stores the end, and the next
    /// front end that opens the record writes it there.
    pub fn recorded(&mut self) {
        let Some(mut connection) = self.unrecorded.take() else { return };
        match self.pool.take() {
            // The next request on this connection tells the keeper.
            Some(pool) => {
                pool.give_back(connection);
                pool.prepare_next();
            }
            // A keeper that can't be told stores an end that the record already has. That does no harm.
            None => drop(connection.send(&ToKeeper::Recorded, &[])),
        }
    }

    /// Kills its processes, found by their tag, when the keeper doesn't answer.
    pub fn abandon(self) {
        warn!(id = %self.id, "the keeper doesn't answer: kills its processes by their tag");
        processes::end_tagged(&[self.id.tag().get()]);
    }

    /// The first event that the keeper has sent and the caller has not seen.
    fn take_pending(&mut self) -> io::Result<Option<RunEvent>> {
        let (stream, from, to) = match (self.pending.pop_front(), &self.progress) {
            (Some(Pending::Event(event)), _) => return Ok(Some(event)),
            (Some(Pending::End), Progress::Ended(outcome)) => {
                return Ok(Some(RunEvent::Ended(outcome.clone())));
            }
            (Some(Pending::Range(stream, from, to)), _) => (stream, from, to),
            (Some(Pending::End), Progress::Running(_)) | (None, _) => return Ok(None),
        };
        let end = to.min(from + MAX_EVENT_BYTES);
        let mut bytes = vec![0; usize::try_from(end - from).unwrap_or(0)];
        let read = read_at(self.spool.files.get(stream), &mut bytes, from)?;
        // Short when another process has truncated the file.
        bytes.truncate(read);
        if end < to {
            self.pending.push_front(Pending::Range(stream, end, to));
        }
        Ok(Some(RunEvent::Output { stream, offset: from, bytes }))
    }

    fn receive(&mut self, message: io::Result<Option<FromKeeper>>) -> io::Result<()> {
        let message = match message {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => None,
            message => message?,
        };
        match message {
            Some(FromKeeper::State(state)) => {
                self.pending.push_back(Pending::Event(RunEvent::State(state)));
            }
            Some(FromKeeper::Saved) => match Spool::open(&self.folder, self.id) {
                Ok(saved) => self.spool = saved,
                // Its beginning is still in memory.
                Err(error) => warn!(id = %self.id, %error, "its output was saved and can't be read"),
            },
            Some(FromKeeper::Spooled { stream, from, to }) => {
                self.pending.push_back(Pending::Range(stream, from, to));
            }
            Some(FromKeeper::Bytes { stream, offset, bytes }) => {
                self.pending.push_back(Pending::Event(RunEvent::Output { stream, offset, bytes }));
            }
            Some(FromKeeper::Ended { outcome, last }) => {
                self.keeper.set_last(last);
                self.unrecorded = self.end(outcome);
            }
            Some(FromKeeper::Unable(message)) => {
                warn!(id = %self.id, %message, "the keeper can't run it");
                self.end(self.without_answer(Failure::NoProcess { message }));
            }
            None => {
                error!(id = %self.id, "the keeper is lost: kills its processes by their tag");
                // No keeper will kill its processes, so the caller does.
                processes::end_tagged(&[self.id.tag().get()]);
                self.end(self.without_answer(Failure::KeeperLost));
            }
            Some(FromKeeper::Typed(_)) => self.typing = false,
            Some(
                FromKeeper::Hello
                | FromKeeper::Elsewhere
                | FromKeeper::SessionStopped { .. }
                | FromKeeper::Stopped(_)
                | FromKeeper::Executions(_)
                | FromKeeper::Jobs(_)
                | FromKeeper::Watched(_)
                | FromKeeper::Released(_)
                | FromKeeper::InputState(_),
            ) => {}
        }
        Ok(())
    }

    /// Ends the run, and returns the connection that is free now.
    fn end(&mut self, outcome: Box<Outcome>) -> Option<KeeperConnection> {
        self.pending.push_back(Pending::End);
        match std::mem::replace(&mut self.progress, Progress::Ended(outcome)) {
            Progress::Running(connection) => Some(connection),
            Progress::Ended(_) => None,
        }
    }

    /// The outcome when the keeper gives none: its output is what the spool files hold.
    fn without_answer(&self, failure: Failure) -> Box<Outcome> {
        let output = |stream: Stream| {
            let length = self.spool.files.get(stream).metadata().map_or(0, |metadata| metadata.len());
            Output { total: length, spooled: length, ..Output::default() }
        };
        Box::new(Outcome {
            state: State::Failed,
            pid: None,
            session_pid: None,
            exit: None,
            failure: Some(failure),
            clock: None,
            limit: None,
            output: PerStream { stdout: output(Stream::Stdout), stderr: output(Stream::Stderr) },
            background: Vec::new(),
            duration: std::time::Duration::ZERO,
            waiting_for_input: false,
            unconfined: None,
            denials: None,
            effects: None,
        })
    }
}

/// Kills the processes of an execution whose keeper is gone. They are found by their tag, a number that no other
/// execution has.
pub fn end_leftovers(id: ExecId) {
    processes::end_tagged(&[id.tag().get()]);
}

/// Whether a keeper holds processes of an execution, though it may be out of reach: its socket was removed, or it belongs to
/// another state folder of which this one is a copy.
#[must_use]
pub fn is_kept_out_of_reach(id: ExecId) -> bool {
    processes::has_process_with_keeper(id.tag())
}

/// Those of the executions that have processes, though no keeper holds them. `executions` is only asked for them if there are such
/// processes.
#[must_use]
pub fn abandoned(executions: impl FnOnce() -> Vec<ExecId>) -> Vec<ExecId> {
    let tags = processes::tags_without_keeper();
    if tags.is_empty() {
        return Vec::new();
    }
    let mut executions = executions();
    executions.retain(|id| tags.contains(&id.tag()));
    executions
}

fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + read as u64) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        if let Some(connection) = self.connection() {
            // Closing our descriptor isn't enough: a stopper may have a copy. An error means that it is closed already.
            let _ = rustix::net::shutdown(connection.socket(), rustix::net::Shutdown::Both);
        }
    }
}

impl AsFd for RunHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // After the end there is nothing to wait for, and a file is always readable. A caller that has not seen the end yet
        // may want to wait for it, which not every way of waiting can do with a file.
        let connection = self.connection().or(self.unrecorded.as_ref());
        connection.map_or(self.spool.files.stdout.as_fd(), |connection| connection.socket().as_fd())
    }
}

/// Stops an execution from another thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    id: ExecId,
    socket: Option<Arc<OwnedFd>>,
}

impl Stopper {
    /// Stops it. Has no effect on an execution that has ended.
    pub fn stop(&self, urgency: Urgency) {
        if let Some(socket) = &self.socket {
            // A keeper that can't be reached has exited, and its executions with it.
            let _ = send(socket, &ToKeeper::Stop(self.id, urgency), &[]);
        }
    }
}

#[cfg(test)]
mod tests;
