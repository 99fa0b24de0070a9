//! A session as front ends see it: a name, behind which a keeper is found or started.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::Access;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::Spec;
use crate::execution::Execution;
use crate::keeper::{self, Address, Duty, Served};
use crate::line::{Line, Pool};
use crate::outcome::plain;
use crate::spool::Spool;
use crate::state_folder::{StateError, StateFolder};
use crate::wire::{self, FromKeeper, ToKeeper, Urgency};

/// The word that makes a program a keeper, when it is its first argument: see [`Starter::Exec`].
pub const KEEPER_ARGUMENT: &str = "keeper";

/// How long a session's keeper is looked for before we give up.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a keeper is started when there is none.
#[derive(Clone, Debug)]
pub enum Starter {
    /// By a fork of this process. For a small program of one thread: costs a tenth of a millisecond.
    Fork,
    /// By running this program with [`KEEPER_ARGUMENT`]; it calls [`keeper_main`]. For everybody else: a fork of a
    /// large process costs many times that, and of one with threads isn't safe.
    Exec(PathBuf),
}

/// Why the session can't be reached.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The state folder is in the way.
    #[error(transparent)]
    State(#[from] StateError),
    /// The output has no place.
    #[error("no file for the output can be made in `{folder}`: {source}")]
    Spool {
        /// Where it should have been.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The keeper doesn't start.
    #[error("the keeper can't be started: {0}")]
    Keeper(String),
    /// The keeper doesn't answer.
    #[error("the keeper can't be reached: {0}")]
    Connection(#[from] io::Error),
}

/// A session.
#[derive(Debug)]
pub struct Session {
    state: StateFolder,
    key: String,
    starter: Starter,
    keep_bytes: u64,
    pool: Option<Pool>,
}

impl Session {
    /// The session called `key`, a word that may be part of a file name.
    #[must_use]
    pub fn new(state: StateFolder, key: String, starter: Starter, keep_bytes: u64) -> Self {
        Self { state, key, starter, keep_bytes, pool: None }
    }

    /// The same, for more than one call: finds or starts the keeper now, and keeps it in place until the session is
    /// dropped.
    ///
    /// # Errors
    /// When no keeper can be had.
    pub fn kept(mut self) -> Result<Self, SessionError> {
        let pool = Pool::default();
        pool.give_back(self.ask(&ToKeeper::Hold, &[])?);
        self.pool = Some(pool);
        Ok(self)
    }

    /// Hands `spec` to the keeper, with `stdin` for the command if it is to have one.
    ///
    /// # Errors
    /// When the output has no place or no keeper can be had. Then nothing was started.
    pub fn start(&self, spec: Spec, stdin: Option<OwnedFd>) -> Result<Execution, SessionError> {
        let folder = self.state.spool();
        if let Err(errno) = rustix::fs::access(&folder, Access::WRITE_OK | Access::EXEC_OK) {
            return Err(SessionError::Spool { folder, source: errno.into() });
        }
        let (id, follow) = (spec.id, spec.follow);
        let message = ToKeeper::Start { spec: Box::new(spec), stdin: stdin.is_some() };
        let stdin: Vec<BorrowedFd<'_>> = stdin.as_ref().map(AsFd::as_fd).into_iter().collect();
        let mut line = self.ask(&message, &stdin)?;
        // While the command starts. What is wrong with the connection shows when the answer is read.
        let spool = match Spool::create(&folder, id) {
            Ok(spool) => {
                let files = [spool.files.stdout.as_fd(), spool.files.stderr.as_fd()];
                let _ = line.send(&ToKeeper::Spool(Ok(())), &files);
                spool
            }
            Err(error) => {
                let _ = line.send(&ToKeeper::Spool(Err(plain(&error))), &[]);
                Spool::nowhere()?
            }
        };
        Ok(Execution::new(id, follow, line, self.pool.clone(), spool))
    }

    /// Stops everything that the session runs, and returns when it has ended: how many executions that were.
    ///
    /// # Errors
    /// When the keeper can't be understood.
    pub fn stop(&self, urgency: Urgency) -> Result<u32, SessionError> {
        let Some(socket) = self.address()?.connect()? else { return Ok(0) };
        let mut line = Line::new(socket);
        // A keeper that leaves meanwhile had nothing to stop.
        if line.send(&ToKeeper::StopSession(urgency), &[]).is_err() {
            return Ok(0);
        }
        loop {
            match line.next() {
                Ok(Some(FromKeeper::SessionStopped { executions })) => return Ok(executions),
                Ok(Some(_)) => {}
                Ok(None) => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(0),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Says `message` on a connection that is free, or on a new one. A keeper that was leaving when we connected resets
    /// the connection with our words unread: then we ask again.
    fn ask(&self, message: &ToKeeper, descriptors: &[BorrowedFd<'_>]) -> Result<Line, SessionError> {
        while let Some(mut line) = self.pool.as_ref().and_then(Pool::take) {
            // One whose keeper is gone takes nothing any more.
            if line.send(message, descriptors).is_ok() {
                return Ok(line);
            }
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let mut line = Line::new(self.connect()?);
            match line.send(message, descriptors).and_then(|()| line.next()) {
                Ok(Some(FromKeeper::Elsewhere)) => {}
                Ok(Some(first)) => {
                    line.put_back(first);
                    return Ok(line);
                }
                Ok(None) => return Err(SessionError::Keeper("it ended before it answered".to_owned())),
                Err(error) if was_unheard(&error) => {}
                Err(error) => return Err(error.into()),
            }
            if Instant::now() > until {
                return Err(SessionError::Keeper("it comes and goes without a word".to_owned()));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn address(&self) -> Result<Address, SessionError> {
        let folder = self.state.sockets();
        let name = format!("{}.{}", self.key, wire::VERSION);
        Ok(Address::new(&folder, name).map_err(|source| StateError::Unusable { path: folder, source })?)
    }

    fn connect(&self) -> Result<OwnedFd, SessionError> {
        let address = self.address()?;
        if let Some(socket) = address.connect()? {
            return Ok(socket);
        }
        match &self.starter {
            Starter::Fork => self.fork(address),
            Starter::Exec(program) => {
                self.exec(program)?;
                address.connect()?.ok_or_else(|| SessionError::Keeper("it left at once".to_owned()))
            }
        }
    }

    fn fork(&self, address: Address) -> Result<OwnedFd, SessionError> {
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(io::Error::from)?;
        let spool = self.state.spool();
        let keep_bytes = self.keep_bytes;
        let forked = shellgate_sandbox::detach::fork(move || {
            if shellgate_sandbox::detach::detach(&[theirs.as_fd(), address.as_fd()]).is_err() {
                return 1;
            }
            let _ = rustix::thread::set_name(c"shellgate-keep");
            let duty = Duty { address, first: Some(theirs), spool, keep_bytes };
            i32::from(keeper::serve(duty, || {}).is_err())
        });
        forked.map_err(|error| SessionError::Keeper(error.to_string()))?;
        Ok(ours)
    }

    /// The program returns when its keeper listens, or when another one does.
    fn exec(&self, program: &Path) -> Result<(), SessionError> {
        let mut command = Command::new(program);
        command.arg(KEEPER_ARGUMENT).arg(self.state.path()).arg(&self.key).arg(self.keep_bytes.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(SessionError::Keeper(format!("`{}` ended with {status}", program.display()))),
            Err(error) => Err(SessionError::Keeper(format!("`{}`: {error}", program.display()))),
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
    let session = Session::new(state, key.to_owned(), Starter::Fork, keep_bytes);
    let Ok(address) = session.address() else { return 3 };
    let Ok((ready, told)) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC) else { return 3 };
    let spool = session.state.spool();
    let forked = shellgate_sandbox::detach::fork(move || {
        if shellgate_sandbox::detach::detach(&[told.as_fd(), address.as_fd()]).is_err() {
            return 1;
        }
        let _ = rustix::thread::set_name(c"shellgate-keep");
        let duty = Duty { address, first: None, spool, keep_bytes };
        let served = keeper::serve(duty, || {
            let _ = rustix::io::write(&told, b"+");
        });
        if matches!(served, Ok(Served::Elsewhere)) {
            let _ = rustix::io::write(&told, b"+");
        }
        0
    });
    let mut byte = [0];
    match forked {
        Ok(_) => i32::from(!matches!(rustix::io::read(&ready, &mut byte), Ok(1))),
        Err(_) => 3,
    }
}

/// Whether the other side closed the connection with our words unread.
fn was_unheard(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}
