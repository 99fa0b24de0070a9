//! A run in progress, as its caller holds it.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use crate::keeper_connection::{KeeperConnection, Pool, send};
use crate::outcome::{Failure, Outcome, Output};
use crate::session::Forked;
use crate::spool::Spool;
use crate::wire::{FromKeeper, ToKeeper, Urgency};
use crate::{ExecId, Follow, Input, PerStream, State, Stream};

/// The longest piece of output that one event carries.
const LONGEST_PIECE: u64 = 64 << 10;

/// Something that happened.
#[derive(Debug)]
pub enum RunEvent {
    /// The execution moved on.
    State(State),
    /// It printed something.
    Output {
        /// Where.
        stream: Stream,
        /// How many bytes came before on that stream.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// It is answered. Nothing follows.
    Ended(Box<Outcome>),
}

/// A run in progress.
///
/// Read [`next`](Self::next) until [`RunEvent::Ended`], or [`wait`](Self::wait) for it. Dropping a foreground execution
/// before that stops it.
#[derive(Debug)]
pub struct RunHandle {
    id: ExecId,
    /// `None` after the end.
    connection: Option<KeeperConnection>,
    /// The connection on which the end was told, until that is written down.
    told: Option<KeeperConnection>,
    pool: Option<Pool>,
    keeper: Arc<Forked>,
    spool: Spool,
    pending: VecDeque<Pending>,
    /// What was typed last isn't taken yet.
    typing: bool,
}

/// What the keeper has told and the caller has not seen.
#[derive(Debug)]
enum Pending {
    RunEvent(RunEvent),
    /// Output that lies in the file: read when its turn comes.
    Range(Stream, u64, u64),
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
        let queued = (follow == Follow::Closely).then_some(Pending::RunEvent(RunEvent::State(State::Queued)));
        let pending = queued.into_iter().collect();
        Self { id, connection: Some(connection), told: None, pool, keeper, spool, pending, typing: false }
    }

    /// Somebody else's execution: its output from now on, and its end. Dropping it changes nothing.
    pub(crate) fn watched(id: ExecId, connection: KeeperConnection, spool: Spool) -> Self {
        let pending = VecDeque::new();
        Self {
            id,
            connection: Some(connection),
            told: None,
            pool: None,
            keeper: Arc::default(),
            spool,
            pending,
            typing: false,
        }
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

    /// The next event, waiting for it.
    ///
    /// # Errors
    /// When the keeper talks nonsense or a spool file can't be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "waiting can fail, and an iterator that ends would hide it"
    )]
    pub fn next(&mut self) -> io::Result<RunEvent> {
        loop {
            if let Some(event) = self.ready()? {
                return Ok(event);
            }
            let message = self.connection.as_mut().map_or(Ok(None), KeeperConnection::next);
            self.take(message)?;
        }
    }

    /// The next event, if there is one. When there is none, wait until [`as_fd`](AsFd::as_fd) is readable.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn try_next(&mut self) -> io::Result<Option<RunEvent>> {
        loop {
            if let Some(event) = self.ready()? {
                return Ok(Some(event));
            }
            // After the end nothing follows.
            let Some(connection) = self.connection.as_mut() else { return Ok(None) };
            match connection.try_next() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                message => self.take(message)?,
            }
        }
    }

    /// Waits for the answer and passes over everything before it.
    ///
    /// # Errors
    /// When the keeper talks nonsense.
    pub fn wait(&mut self) -> io::Result<Box<Outcome>> {
        loop {
            self.pending.retain(|pending| matches!(pending, Pending::RunEvent(RunEvent::Ended(_))));
            if let RunEvent::Ended(outcome) = self.next()? {
                return Ok(outcome);
            }
        }
    }

    /// A handle that stops it, also from another thread.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn stopper(&self) -> io::Result<Stopper> {
        let socket =
            self.connection.as_ref().map(|connection| connection.socket().try_clone()).transpose()?;
        Ok(Stopper { id: self.id, socket: socket.map(Arc::new) })
    }

    /// Stops it. The answer still comes, with all output until then.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn stop(&self, urgency: Urgency) -> io::Result<()> {
        match &self.connection {
            Some(connection) => send(connection.socket(), &ToKeeper::Stop(self.id, urgency), &[]),
            None => Ok(()),
        }
    }

    /// Whether what was typed before is taken, so that more may come.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        !self.typing && self.connection.is_some()
    }

    /// Types at its terminal. What it can't take is lost, as at any terminal.
    ///
    /// # Errors
    /// When the keeper can't be reached.
    pub fn input(&mut self, input: Input) -> io::Result<()> {
        let Some(connection) = &self.connection else { return Ok(()) };
        self.typing |= !matches!(input, Input::Resize(_));
        send(connection.socket(), &ToKeeper::Type(self.id, input), &[])
    }

    /// Says that its end is written down, or need not be. Whoever goes away without it leaves the end with the keeper,
    /// for others to write down.
    pub fn recorded(&mut self) {
        let Some(mut connection) = self.told.take() else { return };
        match self.pool.take() {
            // Its next use says it.
            Some(pool) => pool.give_back(connection),
            None => drop(connection.send(&ToKeeper::Recorded, &[])),
        }
    }

    /// Ends its processes without the keeper, which doesn't answer: by the mark that they carry.
    pub fn abandon(self) {
        crate::sys::processes::end_tagged(&[self.id.tag().get()]);
    }

    /// What can be told without asking the keeper.
    fn ready(&mut self) -> io::Result<Option<RunEvent>> {
        let (stream, from, to) = match self.pending.pop_front() {
            None => return Ok(None),
            Some(Pending::RunEvent(event)) => return Ok(Some(event)),
            Some(Pending::Range(stream, from, to)) => (stream, from, to),
        };
        let end = to.min(from + LONGEST_PIECE);
        let mut bytes = vec![0; usize::try_from(end - from).unwrap_or(0)];
        let read = read_at(self.spool.files.get(stream), &mut bytes, from)?;
        // Short when somebody made the file shorter: what is gone is gone.
        bytes.truncate(read);
        if end < to {
            self.pending.push_front(Pending::Range(stream, end, to));
        }
        Ok(Some(RunEvent::Output { stream, offset: from, bytes }))
    }

    fn take(&mut self, message: io::Result<Option<FromKeeper>>) -> io::Result<()> {
        let message = match message {
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => None,
            message => message?,
        };
        let pending = match message {
            Some(FromKeeper::State(state)) => Pending::RunEvent(RunEvent::State(state)),
            Some(FromKeeper::Spooled { stream, from, to }) => Pending::Range(stream, from, to),
            Some(FromKeeper::Bytes { stream, offset, bytes }) => {
                Pending::RunEvent(RunEvent::Output { stream, offset, bytes })
            }
            Some(FromKeeper::Ended { outcome, last }) => {
                self.keeper.set_last(last);
                self.told = self.connection.take();
                Pending::RunEvent(RunEvent::Ended(outcome))
            }
            Some(
                FromKeeper::Hello
                | FromKeeper::Elsewhere
                | FromKeeper::SessionStopped { .. }
                | FromKeeper::Stopped(_)
                | FromKeeper::Executions(_)
                | FromKeeper::Jobs(_)
                | FromKeeper::Watched(_)
                | FromKeeper::Released(_)
                | FromKeeper::Seen(_),
            ) => {
                return Ok(());
            }
            Some(FromKeeper::Typed(_)) => {
                self.typing = false;
                return Ok(());
            }
            Some(FromKeeper::Unable(message)) => {
                self.connection = None;
                let failure = Failure::NoProcess { message };
                Pending::RunEvent(RunEvent::Ended(Box::new(self.without_answer(failure))))
            }
            None => {
                self.connection = None;
                // Nobody answers for its processes any more, so they end here.
                crate::sys::processes::end_tagged(&[self.id.tag().get()]);
                Pending::RunEvent(RunEvent::Ended(Box::new(self.without_answer(Failure::KeeperLost))))
            }
        };
        self.pending.push_back(pending);
        Ok(())
    }

    /// There is no answer: what the files hold is what there is.
    fn without_answer(&self, failure: Failure) -> Outcome {
        let output = |stream: Stream| {
            let length = self.spool.files.get(stream).metadata().map_or(0, |metadata| metadata.len());
            Output { total: length, spooled: length, ..Output::default() }
        };
        Outcome {
            state: State::Failed,
            pid: None,
            exit: None,
            failure: Some(failure),
            clock: None,
            limit: None,
            output: PerStream { stdout: output(Stream::Stdout), stderr: output(Stream::Stderr) },
            background: Vec::new(),
            duration: std::time::Duration::ZERO,
            waiting_for_input: false,
        }
    }
}

/// Ends what an execution left, wherever it is: for when its keeper is gone. By the mark that its processes carry, which is
/// a number that nobody else has.
pub fn end_leftovers(id: ExecId) {
    crate::sys::processes::end_tagged(&[id.tag().get()]);
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
        if let Some(connection) = &self.connection {
            // Closing our descriptor isn't enough: a stopper may hold another.
            let _ = rustix::net::shutdown(connection.socket(), rustix::net::Shutdown::Both);
        }
    }
}

impl AsFd for RunHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // After the end there is nothing to wait for, and a file is always readable.
        self.connection
            .as_ref()
            .map_or(self.spool.files.stdout.as_fd(), |connection| connection.socket().as_fd())
    }
}

/// Stops an execution from elsewhere.
#[derive(Clone, Debug)]
pub struct Stopper {
    id: ExecId,
    socket: Option<Arc<OwnedFd>>,
}

impl Stopper {
    /// Stops it. An execution that has ended takes no notice.
    pub fn stop(&self, urgency: Urgency) {
        if let Some(socket) = &self.socket {
            let _ = send(socket, &ToKeeper::Stop(self.id, urgency), &[]);
        }
    }
}
