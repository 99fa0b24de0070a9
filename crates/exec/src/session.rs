//! A session as front ends see it: a name, behind which a keeper is found or started.

mod starting;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::Access;
use tracing::{debug, warn};

use crate::forked::{Forked, KEEPER_CHECK_INTERVAL};
use crate::keeper_connection::{KeeperConnection, Pool};
use crate::keepers;
use crate::outcome::plain;
use crate::run_handle::RunHandle;
use crate::spool::{Spool, memory_files};
use crate::state_folder::{StateError, StateFolder};
use crate::wire::{FromKeeper, SentParts, SpoolKind, ToKeeper, Urgency};
use crate::{Mode, PerStream, Spec};

pub use starting::keeper_main;

/// The first argument that makes a program a keeper: see [`Starter::Exec`]. No host has a subcommand of this name.
pub const KEEPER_ARGUMENT: &str = "--shellgate-keeper";

/// The variable that says which events a program of shellgate logs.
pub const LOG_VARIABLE: &str = "SHELLGATE_LOG";

/// How long connecting to a session's keeper is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How a keeper is started when there is none.
#[derive(Clone, Debug)]
pub enum Starter {
    /// By a fork of this process. For a small program of one thread: costs a tenth of a millisecond.
    Fork,
    /// By running a program with [`KEEPER_ARGUMENT`]; it calls [`keeper_main`]. For all others: a fork of a
    /// large process costs many times that, and of one with threads isn't safe.
    Exec {
        /// The program.
        program: PathBuf,
        /// The level of its log, unless the environment has one: the value of [`LOG_VARIABLE`].
        log: Option<&'static str>,
    },
}

/// Why the session can't be reached.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The state folder can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The files for output can't be created.
    #[error("no file for the output can be created in `{folder}`: {}", plain(source))]
    Spool {
        /// The folder for output.
        folder: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The keeper doesn't start.
    #[error("the keeper can't be started: {0}")]
    Keeper(String),
    /// A keeper doesn't answer in time.
    #[error("the keeper with process id {keeper} doesn't answer, and may hold commands")]
    Silent {
        /// Its process id; 0 if it isn't known.
        keeper: u32,
    },
    /// A keeper was told to start a command, and doesn't answer in time.
    #[error(
        "the keeper with process id {keeper} doesn't answer; the command may have run, wholly or in part"
    )]
    Unanswered {
        /// Its process id; 0 if it isn't known.
        keeper: u32,
    },
    /// A keeper didn't answer to a stop in time, and was killed.
    #[error("the keeper with process id {keeper} didn't answer and was killed; its commands end with it")]
    Killed {
        /// Its process id; 0 if it isn't known.
        keeper: u32,
    },
    /// The connection to the keeper is broken.
    #[error("the keeper can't be reached: {}", plain(.0))]
    Connection(#[from] io::Error),
}

/// The prefixes of socket names by which the keepers of a session are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKey {
    /// For the session itself. May be part of a file name.
    pub own: String,
    /// For every session below it.
    pub below: String,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    state: StateFolder,
    key: SessionKey,
    starter: Starter,
    keep_bytes: u64,
    pool: Option<Pool>,
    forked: Arc<Forked>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.forked.reap();
    }
}

impl Session {
    /// The session whose keepers are found by `key`.
    #[must_use]
    pub fn new(state: StateFolder, key: SessionKey, starter: Starter, keep_bytes: u64) -> Self {
        Self { state, key, starter, keep_bytes, pool: None, forked: Arc::default() }
    }

    /// Prepares the session for more than one call: finds or starts the keeper now. It doesn't exit before the session is
    /// dropped.
    ///
    /// # Errors
    /// When no keeper can be found or started.
    pub fn kept(mut self) -> Result<Self, SessionError> {
        let pool = Pool::default();
        pool.give_back(self.ask(&mut ToKeeper::Hold, &[])?);
        self.pool = Some(pool);
        Ok(self)
    }

    /// Whether a keeper is connected and idle, so that a start waits for nothing.
    #[must_use]
    pub fn has_idle_connection(&self) -> bool {
        self.pool.as_ref().is_some_and(Pool::has_one)
    }

    /// Has the keeper prepare a start that may follow soon and is like the last one, while the caller finds out whether it will.
    pub fn make_ready(&self) {
        if let Some(pool) = &self.pool {
            pool.tell_next(&ToKeeper::MakeReady);
        }
    }

    /// Submits `spec` to the keeper, with `stdin` for the command if it has one.
    ///
    /// # Errors
    /// When the output files can't be created, or no keeper can be found or started. Then nothing was started.
    pub fn start(&self, spec: Spec, stdin: Option<OwnedFd>) -> Result<RunHandle, SessionError> {
        let folder = self.state.spool();
        if let Err(errno) = rustix::fs::access(&folder, Access::WRITE_OK | Access::EXEC_OK) {
            return Err(SessionError::Spool { folder, source: errno.into() });
        }
        let (id, follow) = (spec.id, spec.follow);
        let is_brief = matches!(spec.mode, Mode::Foreground { .. }) && spec.terminal.is_none();
        let in_memory = is_brief.then(|| self.memory_files()).flatten();
        let in_memory = in_memory.map(|files| Spool::in_memory(files, &folder, id));
        let (spool, made) = match in_memory.map_or_else(|| Spool::create(&folder, id), Ok) {
            Ok(spool) if spool.is_in_memory() => (spool, Ok(SpoolKind::Memory)),
            Ok(spool) => (spool, Ok(SpoolKind::Folder)),
            Err(error) => (Spool::nowhere()?, Err(plain(&error))),
        };
        let mut descriptors: Vec<BorrowedFd<'_>> = stdin.as_ref().map(AsFd::as_fd).into_iter().collect();
        if made.is_ok() {
            descriptors.extend([spool.files.stdout.as_fd(), spool.files.stderr.as_fd()]);
        }
        let (spec, parts) = (Box::new(spec), SentParts::default());
        let mut message = ToKeeper::Start { spec, parts, stdin: stdin.is_some(), spool: made };
        match self.ask(&mut message, &descriptors) {
            Ok(connection) => {
                let handle =
                    RunHandle::new((id, follow), connection, self.pool.clone(), self.forked.clone(), spool);
                Ok(handle.with_folder(folder))
            }
            Err(error) => {
                warn!(%id, %error, "not handed to a keeper");
                spool.remove();
                Err(error)
            }
        }
    }

    /// Files in memory for the output of one execution.
    fn memory_files(&self) -> Option<PerStream<File>> {
        self.pool.as_ref().and_then(Pool::take_memory_files).or_else(|| memory_files().ok())
    }

    /// Stops all executions of the session and of the sessions below it, and returns when they have ended. The result is
    /// their number.
    ///
    /// # Errors
    /// When a keeper's answer is invalid or late.
    pub fn stop(&self, urgency: Urgency) -> Result<u32, SessionError> {
        let (own, below) = (format!("{}.", self.key.own), self.key.below.as_str());
        keepers::stop(&self.state, urgency, |name| name.starts_with(&own) || name.starts_with(below))
    }

    /// Sends `message` on an idle connection or on a new one. A keeper that was about to exit resets the connection without
    /// reading the message. Then this connects again.
    fn ask(
        &self,
        message: &mut ToKeeper,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<KeeperConnection, SessionError> {
        while let Some(mut connection) = self.pool.as_ref().and_then(Pool::take) {
            // Sending fails when the keeper of that connection is gone.
            if connection.send_request(message, descriptors).is_ok() {
                connection.continue_keeper();
                return Ok(connection);
            }
        }
        let until = Instant::now() + CONNECT_TIMEOUT;
        let mut pause = FIRST_PAUSE;
        loop {
            let Some(socket) = self.connect()? else {
                debug!("the keeper has exited again: starts another one");
                pause_before(until, &mut pause)?;
                continue;
            };
            keepers::wake(&socket);
            let mut connection = KeeperConnection::new(socket);
            let sent = connection.send_request(message, descriptors);
            let is_sent = sent.is_ok();
            // A keeper that was started at the last moment has its time, too.
            let answered = until.max(Instant::now() + KEEPER_CHECK_INTERVAL);
            match sent.and_then(|()| self.first_answer(&mut connection, answered)) {
                Ok(Some(FromKeeper::Elsewhere)) => {}
                Ok(Some(FromKeeper::Unable(reason))) => return Err(SessionError::Keeper(reason)),
                Ok(Some(first)) => {
                    connection.put_back(first);
                    return Ok(connection);
                }
                // It read our message and died. What it had done by then is found out by the handle of the execution.
                Ok(None) => return Ok(connection),
                Err(error) if was_unread(&error) => debug!("the keeper was about to exit: connects again"),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    let keeper = keepers::keeper_of(connection.socket()).unwrap_or(0);
                    return Err(match is_sent {
                        true => SessionError::Unanswered { keeper },
                        false => SessionError::Silent { keeper },
                    });
                }
                // The keeper may have started the command: the handle of the execution finds out.
                Err(error) if is_sent => {
                    warn!(%error, "the keeper's first answer can't be read");
                    return Ok(connection);
                }
                Err(error) => return Err(error.into()),
            }
            pause_before(until, &mut pause)?;
        }
    }

    /// Waits for the first answer. The command may suspend the keeper before that.
    fn first_answer(
        &self,
        connection: &mut KeeperConnection,
        until: Instant,
    ) -> io::Result<Option<FromKeeper>> {
        loop {
            match connection.next_before(until.min(Instant::now() + KEEPER_CHECK_INTERVAL)) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut && Instant::now() < until => {
                    self.forked.continue_keeper(connection.socket());
                }
                answer => return answer,
            }
        }
    }
}

/// The first pause between two tries to reach a keeper.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// Waits before the next try, each time for longer: a keeper that can't work on this machine would be started a thousand times.
///
/// # Errors
/// When there were tries for too long.
fn pause_before(until: Instant, pause: &mut Duration) -> Result<(), SessionError> {
    if Instant::now() > until {
        return Err(SessionError::Keeper("it exits before it answers, again and again".to_owned()));
    }
    std::thread::sleep(*pause);
    *pause = (*pause * 2).min(MAX_PAUSE);
    Ok(())
}

/// Whether the keeper closed the connection without reading the message.
fn was_unread(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
