//! Finding the keeper of a session, and starting it when there is none.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use shellgate_sandbox::fork::fork_detached;
use tracing::{debug, error, info};

use super::{KEEPER_ARGUMENT, LOG_VARIABLE, Session, SessionError, SessionKey, Starter};
use crate::circumstances;
use crate::keeper::{self, Address, KeeperConfig, Served};
use crate::outcome::plain;
use crate::state_folder::{StateError, StateFolder};
use crate::wire::{self, FromKeeper};

impl Session {
    fn address(&self) -> Result<Address, SessionError> {
        let folder = self.state.sockets();
        let name = format!("{}.{}.{}", self.key.own, circumstances::digest(), wire::VERSION);
        Ok(Address::new(&folder, name).map_err(|source| StateError::Unusable { path: folder, source })?)
    }

    /// Connects to the keeper, and starts it if there is none. `None`: the keeper that was started has exited already, because
    /// it has served another caller meanwhile.
    pub(super) fn connect(&self) -> Result<Option<OwnedFd>, SessionError> {
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
        self.forked.set(pid);
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

/// Takes the short name by which commands below a keeper recognise it.
fn take_keeper_name() {
    // It can't fail: the name is shorter than 16 bytes.
    let _ = rustix::thread::set_name(c"shellgate-keep");
}

/// What a keeper writes when it listens. Anything else is the reason why it doesn't.
const READY: &str = "ready";
