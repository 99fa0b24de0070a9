//! A session as front ends see it: a name, behind which a keeper is found or started.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::execution::Execution;
use crate::keeper::{self, Address, Duty, Served};
use crate::spool::Spool;
use crate::wire::{self, FromKeeper, ToKeeper, Urgency};
use crate::{ExecId, Spec};

/// The word that makes a program a keeper, when it is its first argument: see [`Starter::Exec`].
pub const KEEPER_ARGUMENT: &str = "keeper";

/// How long a session's keeper is looked for before we give up.
const PATIENCE: Duration = Duration::from_secs(10);

/// A folder that is ours alone, for sockets and output.
#[derive(Clone, Debug)]
pub struct StateFolder {
    path: PathBuf,
}

/// Why the state folder can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It can't be made or read.
    #[error("the state folder `{path}` can't be used: {source}")]
    Unusable {
        /// The folder, or the one in it that is the trouble.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It belongs to somebody else.
    #[error("the state folder `{path}` belongs to user {owner}, not to you")]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
}

impl StateFolder {
    /// Opens `path`, and makes it when it isn't there. Nobody else gets in: mode 0700.
    ///
    /// # Errors
    /// When it can't be made, or is somebody else's.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let folder = Self { path: path.to_owned() };
        match std::fs::metadata(folder.sockets()) {
            // Already looked after by an earlier call; the folder itself is checked each time all the same.
            Ok(_) => folder.check(path)?,
            Err(_) => {
                for path in [path.to_owned(), folder.sockets(), folder.spool()] {
                    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
                    made.map_err(|source| StateError::Unusable { path: path.clone(), source })?;
                    folder.check(&path)?;
                }
            }
        }
        Ok(folder)
    }

    fn check(&self, path: &Path) -> Result<(), StateError> {
        let unusable = |source| StateError::Unusable { path: path.to_owned(), source };
        let metadata = std::fs::metadata(path).map_err(unusable)?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(StateError::Foreign { path: path.to_owned(), owner: metadata.uid() });
        }
        if metadata.mode() & 0o077 != 0 {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).map_err(unusable)?;
        }
        Ok(())
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where output is kept.
    #[must_use]
    pub fn spool(&self) -> PathBuf {
        self.path.join("spool")
    }

    fn sockets(&self) -> PathBuf {
        self.path.join("sessions")
    }
}

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
}

impl Session {
    /// The session called `key`, a word that may be part of a file name.
    #[must_use]
    pub fn new(state: StateFolder, key: String, starter: Starter, keep_bytes: u64) -> Self {
        Self { state, key, starter, keep_bytes }
    }

    /// Where its state is.
    #[must_use]
    pub fn state(&self) -> &StateFolder {
        &self.state
    }

    /// Hands `spec` to the keeper, with `stdin` for the command if it is to have one.
    ///
    /// # Errors
    /// When the output has no place or no keeper can be had. Then nothing was started.
    pub fn start(&self, spec: Spec, stdin: Option<OwnedFd>) -> Result<Execution, SessionError> {
        let folder = self.state.spool();
        let spool =
            Spool::create(&folder, spec.id).map_err(|source| SessionError::Spool { folder, source })?;
        let (id, follow) = (spec.id, spec.follow);
        let message = ToKeeper::Start { spec: Box::new(spec), stdin: stdin.is_some() };
        let mut descriptors = vec![spool.files.stdout.as_fd(), spool.files.stderr.as_fd()];
        descriptors.extend(stdin.as_ref().map(AsFd::as_fd));
        match self.ask(&message, &descriptors) {
            Ok(line) => Ok(Execution::new(id, follow, line, spool)),
            Err(error) => {
                spool.discard();
                Err(error)
            }
        }
    }

    /// Stops everything that the session runs, and returns when it has ended: how many executions that were.
    ///
    /// # Errors
    /// When the keeper goes away meanwhile.
    pub fn stop(&self, urgency: Urgency) -> Result<u32, SessionError> {
        let Some(socket) = self.address()?.connect()? else { return Ok(0) };
        let mut line = Line::new(socket);
        line.send(&ToKeeper::StopSession(urgency), &[])?;
        loop {
            match line.next()? {
                Some(FromKeeper::SessionStopped { executions }) => return Ok(executions),
                Some(_) => {}
                None => return Ok(0),
            }
        }
    }

    /// Keeps the session's keeper in place until the returned value is dropped, so that the next call finds it.
    ///
    /// # Errors
    /// When no keeper can be had.
    pub fn hold(&self) -> Result<Hold, SessionError> {
        self.line(|_| Ok(())).map(Hold)
    }

    fn ask(
        &self,
        message: &ToKeeper,
        descriptors: &[std::os::fd::BorrowedFd<'_>],
    ) -> Result<Line, SessionError> {
        self.line(|line| line.send(message, descriptors))
    }

    /// A connection that the keeper has greeted, with `say` said on it. Said again when the keeper turns out to be
    /// leaving: it greets before it listens, so nothing was heard.
    fn line(&self, say: impl Fn(&mut Line) -> io::Result<()>) -> Result<Line, SessionError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut line = Line::new(self.connect()?);
            match say(&mut line).and_then(|()| line.next()) {
                Ok(Some(FromKeeper::Hello)) => return Ok(line),
                Err(error) if !is_gone(&error) => return Err(error.into()),
                _ if Instant::now() > until => {
                    return Err(SessionError::Keeper("it comes and goes without a word".to_owned()));
                }
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
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
            // The arguments of the front end are not the keeper's: see the module.
            let _ = shellgate_sandbox::title::blank_arguments(1);
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
    let state = StateFolder { path: PathBuf::from(state) };
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

/// A connection that keeps a keeper in place.
#[derive(Debug)]
pub struct Hold(#[expect(dead_code, reason = "held for its end, which the keeper notices")] Line);

/// A connection to a keeper.
#[derive(Debug)]
pub(crate) struct Line {
    socket: OwnedFd,
    frames: wire::Frames,
}

impl Line {
    fn new(socket: OwnedFd) -> Self {
        Self { socket, frames: wire::Frames::default() }
    }

    fn send(&mut self, message: &ToKeeper, descriptors: &[std::os::fd::BorrowedFd<'_>]) -> io::Result<()> {
        send(&self.socket, message, descriptors)
    }

    /// The next message, waiting for it; `None` at the end of the connection.
    pub(crate) fn next(&mut self) -> io::Result<Option<FromKeeper>> {
        self.receive(rustix::net::RecvFlags::empty())
    }

    /// The next message, if it is here.
    ///
    /// # Errors
    /// `WouldBlock` when it isn't.
    pub(crate) fn try_next(&mut self) -> io::Result<Option<FromKeeper>> {
        self.receive(rustix::net::RecvFlags::DONTWAIT)
    }

    fn receive(&mut self, flags: rustix::net::RecvFlags) -> io::Result<Option<FromKeeper>> {
        loop {
            if let Some(message) = self.frames.next()? {
                return Ok(Some(message));
            }
            match self.frames.receive(&self.socket, flags) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_gone(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof
    )
}

/// Sends a whole message.
pub(crate) fn send(
    socket: &OwnedFd,
    message: &ToKeeper,
    descriptors: &[std::os::fd::BorrowedFd<'_>],
) -> io::Result<()> {
    let bytes = wire::encode(message)?;
    let mut sent = 0;
    while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
        let descriptors = if sent == 0 { descriptors } else { &[] };
        match wire::send(socket.as_fd(), rest, descriptors) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The name of an execution to be, for whoever wants to know it before it starts.
#[must_use]
pub fn new_id() -> ExecId {
    ExecId::generate()
}
