//! A session as front ends see it: a name, behind which a keeper is found or started.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::Access;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use shellgate_sandbox::fork::fork_detached;
use tracing::{debug, error, info, warn};

use crate::keeper::{self, Address, KeeperConfig, Served};
use crate::keeper_connection::{KeeperConnection, Pool};
use crate::keepers;
use crate::outcome::plain;
use crate::run_handle::RunHandle;
use crate::spool::Spool;
use crate::state_folder::{StateError, StateFolder};
use crate::sys::processes;
use crate::wire::{self, FromKeeper, ToKeeper, Urgency};
use crate::{Spec, circumstances};

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

/// How long a keeper may send nothing before it is looked at: a command may have suspended it.
pub(crate) const KEEPER_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A keeper that this process forked, and has to reap.
#[derive(Debug, Default)]
pub(crate) struct Forked {
    pid: OnceLock<Pid>,
    /// It exits when this process closes its connection.
    last: AtomicBool,
}

impl Forked {
    /// Continues the keeper at the other end of a connection, if a command has suspended it.
    pub(crate) fn continue_keeper(&self, socket: &OwnedFd) {
        keepers::wake(socket);
        // The socket of a keeper that this process forked doesn't tell who is at its other end.
        if let Some(pid) = self.pid.get() {
            processes::signal_keeper(pid.as_raw_nonzero().get().unsigned_abs(), Signal::CONT);
        }
    }

    pub(crate) fn set_last(&self, last: bool) {
        self.last.store(last, Ordering::Relaxed);
    }
}

impl Drop for Session {
    /// A keeper without executions exits a moment after its last connection was closed. This waits for that moment and reaps
    /// it: in a container whose first process doesn't reap, it would stay in the process table for ever.
    fn drop(&mut self) {
        let Some(pid) = self.forked.pid.get().filter(|_| self.forked.last.load(Ordering::Relaxed)) else {
            return;
        };
        if let Ok(keeper) = rustix::process::pidfd_open(*pid, PidfdFlags::empty()) {
            let timeout = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            // A keeper that has not exited by then, or is not our child any more, is left alone.
            let _ = rustix::event::poll(&mut [PollFd::new(&keeper, PollFlags::IN)], Some(&timeout));
            // One that still runs after the timeout is not reaped.
            let _ = rustix::process::waitpid(Some(*pid), WaitOptions::NOHANG);
        }
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
        pool.give_back(self.ask(&ToKeeper::Hold, &[])?);
        self.pool = Some(pool);
        Ok(self)
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
        let (spool, made) = match Spool::create(&folder, id) {
            Ok(spool) => (spool, Ok(())),
            Err(error) => (Spool::nowhere()?, Err(plain(&error))),
        };
        let mut descriptors: Vec<BorrowedFd<'_>> = stdin.as_ref().map(AsFd::as_fd).into_iter().collect();
        if made.is_ok() {
            descriptors.extend([spool.files.stdout.as_fd(), spool.files.stderr.as_fd()]);
        }
        let message = ToKeeper::Start { spec: Box::new(spec), stdin: stdin.is_some(), spool: made };
        match self.ask(&message, &descriptors) {
            Ok(connection) => {
                Ok(RunHandle::new((id, follow), connection, self.pool.clone(), self.forked.clone(), spool))
            }
            Err(error) => {
                warn!(%id, %error, "not handed to a keeper");
                spool.remove();
                Err(error)
            }
        }
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
        message: &ToKeeper,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<KeeperConnection, SessionError> {
        while let Some(mut connection) = self.pool.as_ref().and_then(Pool::take) {
            // Sending fails when the keeper of that connection is gone.
            if connection.send(message, descriptors).is_ok() {
                connection.continue_keeper();
                return Ok(connection);
            }
        }
        let until = Instant::now() + CONNECT_TIMEOUT;
        loop {
            let Some(socket) = self.connect()? else {
                debug!("the keeper has exited again: starts another one");
                pause_before(until)?;
                continue;
            };
            keepers::wake(&socket);
            let mut connection = KeeperConnection::new(socket);
            let sent = connection.send(message, descriptors);
            let is_sent = sent.is_ok();
            match sent.and_then(|()| self.first_answer(&mut connection, until)) {
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
                    return Err(SessionError::Silent { keeper });
                }
                // The keeper may have started the command: the handle of the execution finds out.
                Err(error) if is_sent => {
                    warn!(%error, "the keeper's first answer can't be read");
                    return Ok(connection);
                }
                Err(error) => return Err(error.into()),
            }
            pause_before(until)?;
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

    fn address(&self) -> Result<Address, SessionError> {
        let folder = self.state.sockets();
        let name = format!("{}.{}.{}", self.key.own, circumstances::digest(), wire::VERSION);
        Ok(Address::new(&folder, name).map_err(|source| StateError::Unusable { path: folder, source })?)
    }

    /// Connects to the keeper, and starts it if there is none. `None`: the keeper that was started has exited already, because
    /// it has served another caller meanwhile.
    fn connect(&self) -> Result<Option<OwnedFd>, SessionError> {
        let address = self.address()?;
        if let Some(socket) = address.connect()? {
            debug!(socket = address.name(), "connected to the keeper");
            return Ok(Some(socket));
        }
        info!(socket = address.name(), starter = ?self.starter, "starts a keeper");
        match &self.starter {
            Starter::Fork => self.fork(address).map(Some),
            Starter::Exec { program, log } => {
                self.exec(program, *log)?;
                Ok(address.connect()?)
            }
        }
    }

    fn fork(&self, address: Address) -> Result<OwnedFd, SessionError> {
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(io::Error::from)?;
        let (folder, name) = address.into_parts();
        let data = (name, self.state.spool(), self.state.ends(), self.keep_bytes);
        let forked = fork_detached([theirs, folder], data, |[theirs, folder], data| {
            let (name, spool, ends, keep_bytes) = data;
            take_keeper_name();
            let first = theirs.try_clone().ok();
            let address = Address::from_parts(folder, name);
            let config = KeeperConfig { address, first, spool, ends, keep_bytes };
            let word = match keeper::serve(config, || {}) {
                Ok(Served::ToTheEnd) => return 0,
                Ok(Served::Elsewhere) => FromKeeper::Elsewhere,
                Err(error) => {
                    error!(%error, "the keeper can't go on");
                    FromKeeper::Unable(plain(&error))
                }
            };
            if let Ok(bytes) = wire::encode(&word) {
                // A front end that is gone needs no answer.
                let _ = wire::send(theirs.as_fd(), &bytes, &[]);
            }
            1
        });
        let pid = forked.map_err(|error| SessionError::Keeper(plain(&error)))?;
        // A session that forks a second keeper reaps only the first one.
        let _ = self.forked.pid.set(pid);
        Ok(ours)
    }

    /// The program returns when its keeper listens, or when another one does.
    fn exec(&self, program: &Path, log: Option<&str>) -> Result<(), SessionError> {
        let mut command = Command::new(program);
        command
            .arg(KEEPER_ARGUMENT)
            .arg(self.state.path())
            .arg(&self.key.own)
            .arg(self.keep_bytes.to_string());
        command.stdin(Stdio::null()).stderr(Stdio::null());
        if let Some(level) = log.filter(|_| std::env::var_os(LOG_VARIABLE).is_none()) {
            command.env(LOG_VARIABLE, level);
        }
        match command.output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) if !output.stdout.is_empty() => {
                Err(SessionError::Keeper(String::from_utf8_lossy(&output.stdout).into_owned()))
            }
            Ok(output) => {
                Err(SessionError::Keeper(format!("`{}` ended with {}", program.display(), output.status)))
            }
            Err(error) => Err(SessionError::Keeper(format!("`{}`: {}", program.display(), plain(&error)))),
        }
    }
}

/// Runs as the keeper of a session: for a program that was started with [`KEEPER_ARGUMENT`] and `arguments` behind it.
/// Returns the exit code, in the process that was started, once the keeper it forked off listens.
#[must_use]
pub fn keeper_main(arguments: &[std::ffi::OsString]) -> i32 {
    let [state, key, keep_bytes] = arguments else { return 2 };
    let (Some(key), Some(keep_bytes)) =
        (key.to_str(), keep_bytes.to_str().and_then(|text| text.parse().ok()))
    else {
        return 2;
    };
    let Ok(state) = StateFolder::open(Path::new(state)) else { return 3 };
    let key = SessionKey { own: key.to_owned(), below: format!("{key}-") };
    let session = Session::new(state, key, Starter::Fork, keep_bytes);
    let Ok(address) = session.address() else { return 3 };
    let Ok((ready, told)) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC) else { return 3 };
    let (folder, name) = address.into_parts();
    let data = (name, session.state.spool(), session.state.ends(), keep_bytes);
    let forked = fork_detached([told, folder], data, |[told, folder], data| {
        let (name, spool, ends, keep_bytes) = data;
        take_keeper_name();
        let address = Address::from_parts(folder, name);
        let config = KeeperConfig { address, first: None, spool, ends, keep_bytes };
        let told = RefCell::new(Some(File::from(told)));
        let tell = |word: &str| {
            if let Some(mut told) = told.take() {
                // A starter that is gone needs no answer.
                let _ = told.write_all(word.as_bytes());
            }
        };
        match keeper::serve(config, || tell(READY)) {
            Ok(Served::ToTheEnd) => {}
            Ok(Served::Elsewhere) => tell(READY),
            Err(error) => {
                error!(%error, "the keeper can't go on");
                tell(&plain(&error));
            }
        }
        0
    });
    if forked.is_err() {
        return 3;
    }
    let mut word = String::new();
    // What was read before an error is compared below.
    let _ = File::from(ready).read_to_string(&mut word);
    if word == READY {
        return 0;
    }
    // For the front end that started us, which reads it. One that is gone needs no answer.
    let _ = rustix::io::write(rustix::stdio::stdout(), word.as_bytes());
    3
}

/// Waits a moment before the next try.
///
/// # Errors
/// When there were tries for too long.
fn pause_before(until: Instant) -> Result<(), SessionError> {
    if Instant::now() > until {
        return Err(SessionError::Keeper("it exits before it answers, again and again".to_owned()));
    }
    std::thread::sleep(Duration::from_millis(1));
    Ok(())
}

/// Takes the short name by which commands below a keeper recognise it.
fn take_keeper_name() {
    // It can't fail: the name is shorter than 16 bytes.
    let _ = rustix::thread::set_name(c"shellgate-keep");
}

/// What a keeper writes when it listens. Anything else is the reason why it doesn't.
const READY: &str = "ready";

/// Whether the keeper closed the connection without reading the message.
fn was_unread(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
