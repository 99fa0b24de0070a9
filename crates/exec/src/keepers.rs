//! Asks all keepers of this user at once: what they hold, or to stop it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tracing::warn;

use crate::ExecId;
use crate::job::Job;
use crate::keeper::Address;
use crate::keeper_connection::KeeperConnection;
use crate::proc;
use crate::run_handle::{RunHandle, end_leftovers, is_kept_out_of_reach};
use crate::session::SessionError;
use crate::spool::Spool;
use crate::state_folder::{StateError, StateFolder};
use crate::sys::processes::{self, KeeperProcess};
use crate::wire::{self, FromKeeper, ToKeeper, Urgency};

/// Stops one execution and its leftover processes, and returns when all have ended. The result says whether a keeper
/// held it.
///
/// # Errors
/// When a keeper's answer is invalid or late.
pub fn stop_execution(state: &StateFolder, id: ExecId, urgency: Urgency) -> Result<bool, SessionError> {
    let mut stopped = false;
    let Asked { told, failed } = ask(state, &ToKeeper::StopThis(id, urgency), |_| true)?;
    for connection in told {
        let answer = stop_answer(connection, |message| match message {
            FromKeeper::Stopped(held) => Some(held),
            _ => None,
        });
        stopped |= answer?.unwrap_or_default();
    }
    // Its keeper can't be told, but ends it when its processes have ended.
    if !stopped && is_kept_out_of_reach(id) && !unreachable_keepers(state, |_| true).is_empty() {
        end_leftovers(id);
        return Ok(true);
    }
    failed.filter(|_| !stopped).map_or(Ok(stopped), Err)
}

/// Stops all executions of this user, and returns when they have ended. The result is their number.
///
/// # Errors
/// When a keeper's answer is invalid or late.
pub fn stop_all(state: &StateFolder, urgency: Urgency) -> Result<u32, SessionError> {
    stop(state, urgency, |_| true)
}

/// The executions that the keepers of this user hold and that have not ended. `None` when there is a keeper of another
/// version of shellgate, which can't be asked.
///
/// # Errors
/// When a keeper's answer is invalid or late.
pub fn held_executions(state: &StateFolder) -> Result<Option<Vec<ExecId>>, SessionError> {
    if has_foreign_keeper(state) {
        return Ok(None);
    }
    let mut held = Vec::new();
    for connection in ask(state, &ToKeeper::ListExecutions, |_| true)?.all()? {
        let answer = answer(connection, |message| match message {
            FromKeeper::Executions(ids) => Some(ids),
            _ => None,
        });
        held.extend(answer?.unwrap_or_default());
    }
    Ok(Some(held))
}

/// Whether there is a keeper of another version.
fn has_foreign_keeper(state: &StateFolder) -> bool {
    let (folder, end) = (state.sockets(), format!(".{}", wire::VERSION));
    // What can't be looked at may be one.
    let Ok(entries) = std::fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) else {
        return true;
    };
    let mut names = entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok());
    names.any(|name| {
        let connect = || Address::new(&folder, name.clone())?.connect();
        !name.ends_with(&end) && connect().map_or(true, |keeper| keeper.is_some())
    })
}

/// The executions that the keepers of this user hold, oldest first, with all details.
///
/// # Errors
/// When a keeper's answer is invalid or late.
pub fn jobs(state: &StateFolder) -> Result<HeldJobs, SessionError> {
    let mut jobs = Vec::new();
    let Asked { told, failed: mut silent } = ask(state, &ToKeeper::Jobs, |_| true)?;
    for connection in told {
        let answer = answer(connection, |message| match message {
            FromKeeper::Jobs(jobs) => Some(jobs),
            _ => None,
        });
        match answer {
            // A keeper that doesn't answer must not hide the jobs of the others.
            Err(error @ SessionError::Silent { .. }) => silent = Some(error),
            answer => jobs.extend(answer?.unwrap_or_default()),
        }
    }
    jobs.sort_by_key(|job| job.id);
    let unreachable = || {
        unreachable_keepers(state, |_| true).first().map(|keeper| SessionError::Silent { keeper: *keeper })
    };
    Ok(HeldJobs { jobs, silent: unreachable().or(silent) })
}

/// The keepers to whom their socket doesn't lead any more, of those whose sockets have a wanted name. One that exits removes its
/// socket itself, and is gone soon.
fn unreachable_keepers(state: &StateFolder, wanted: impl Fn(&str) -> bool) -> Vec<u32> {
    let until = Instant::now() + EXIT_TIMEOUT;
    let is_reached = |keeper: &KeeperProcess| {
        let address = Address::new(&state.sockets(), keeper.socket.clone());
        match address.and_then(|address| address.connect()) {
            Ok(socket) => socket.is_some_and(|socket| keeper_of(socket) == Some(keeper.pid)),
            // What fails for another reason says nothing about the keeper.
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::TimedOut
            ),
        }
    };
    loop {
        let keepers = processes::keepers_of(state.path()).into_iter();
        let keepers = keepers.filter(|keeper| wanted(&keeper.socket) && !is_reached(keeper));
        let keepers: Vec<u32> = keepers.map(|keeper| keeper.pid).collect();
        if keepers.is_empty() || Instant::now() > until {
            return keepers;
        }
        std::thread::sleep(EXIT_POLL_INTERVAL);
    }
}

/// How long a keeper may take to exit once it has removed its socket.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// What the keepers of this user hold.
#[derive(Debug)]
pub struct HeldJobs {
    /// Oldest first.
    pub jobs: Vec<Job>,
    /// That a keeper doesn't answer. It may hold others.
    pub silent: Option<SessionError>,
}

impl HeldJobs {
    /// The job with this id. `None`: no keeper holds it.
    ///
    /// # Errors
    /// When none of the keepers that answered holds it, and one didn't answer.
    pub fn find(self, id: ExecId) -> Result<Option<Job>, SessionError> {
        let found = self.jobs.into_iter().find(|job| job.id == id);
        match (found, self.silent) {
            (None, Some(silent)) => Err(silent),
            (found, _) => Ok(found),
        }
    }
}

/// Follows an execution that another front end started: its state now, then its output and its end. `None` when no
/// keeper holds it.
///
/// # Errors
/// When a keeper's answer is invalid or late.
pub fn watch(state: &StateFolder, id: ExecId) -> Result<Option<(Job, RunHandle)>, SessionError> {
    let Asked { told, failed } = ask(state, &ToKeeper::Watch(id), |_| true)?;
    for mut connection in told {
        let watched = answer_on(&mut connection, ANSWER_TIMEOUT, |message| match message {
            FromKeeper::Watched(job) => Some(job),
            _ => None,
        });
        if let Some(job) = watched?.flatten() {
            let spool = Spool::open(&state.spool(), id).or_else(|_| Spool::nowhere())?;
            return Ok(Some((*job, RunHandle::watched(id, connection, spool))));
        }
    }
    failed.map_or(Ok(None), Err)
}

/// Answers the caller of an execution, which goes on as a job. The result says whether a keeper held it.
///
/// # Errors
/// When a keeper's answer is invalid or late.
pub fn release(state: &StateFolder, id: ExecId) -> Result<bool, SessionError> {
    let mut released = false;
    let Asked { told, failed } = ask(state, &ToKeeper::Release(id), |_| true)?;
    for connection in told {
        let answer = answer(connection, |message| match message {
            FromKeeper::Released(held) => Some(held),
            _ => None,
        });
        released |= answer?.unwrap_or_default();
    }
    failed.filter(|_| !released).map_or(Ok(released), Err)
}

/// Stops all executions of the keepers whose socket has a wanted name. The result is their number.
pub(crate) fn stop(
    state: &StateFolder,
    urgency: Urgency,
    wanted: impl Fn(&str) -> bool,
) -> Result<u32, SessionError> {
    // Asks all before waiting for the first, because stopping takes each of them some time.
    let Asked { told, failed } = ask(state, &ToKeeper::StopSession(urgency), &wanted)?;
    let stopped: Vec<Result<u32, SessionError>> = told
        .into_iter()
        .map(|connection| {
            let answer = stop_answer(connection, |message| match message {
                FromKeeper::SessionStopped { executions } => Some(executions),
                _ => None,
            });
            answer.map(Option::unwrap_or_default)
        })
        .collect();
    let unreachable = unreachable_keepers(state, wanted);
    unreachable.iter().for_each(|keeper| kill(*keeper));
    // All are waited for before the first error is told.
    let stopped: u32 = stopped.into_iter().sum::<Result<_, _>>()?;
    let killed = unreachable.first().map(|keeper| SessionError::Killed { keeper: *keeper });
    killed.or(failed).map_or(Ok(stopped), Err)
}

/// Keepers that were sent a message.
pub(crate) struct Asked {
    pub(crate) told: Vec<KeeperConnection>,
    /// Why one of the keepers could not be told.
    pub(crate) failed: Option<SessionError>,
}

impl Asked {
    /// The connections, if all could be told.
    fn all(self) -> Result<Vec<KeeperConnection>, SessionError> {
        self.failed.map_or(Ok(self.told), Err)
    }
}

/// Sends `message` to every keeper whose socket has a wanted name. A keeper that exits meanwhile is left out.
pub(crate) fn ask(
    state: &StateFolder,
    message: &ToKeeper,
    wanted: impl Fn(&str) -> bool,
) -> Result<Asked, SessionError> {
    let folder = state.sockets();
    let unusable = |source| StateError::Unusable { path: state.sockets(), source };
    let end = format!(".{}", wire::VERSION);
    let mut asked = Asked { told: Vec::new(), failed: None };
    for entry in std::fs::read_dir(&folder).map_err(unusable)? {
        let name = entry.map_err(unusable)?.file_name();
        let Some(name) = name.to_str().filter(|name| wanted(name) && name.ends_with(&end)) else { continue };
        let address = Address::new(&folder, name.to_owned()).map_err(unusable)?;
        // One that can't be told doesn't keep the others from being told.
        match tell(&address, message) {
            Ok(connection) => asked.told.extend(connection),
            Err(error) => asked.failed = Some(error.into()),
        }
    }
    Ok(asked)
}

/// Sends a message to the keeper of a socket. `None`: there is none, or it exits.
fn tell(address: &Address, message: &ToKeeper) -> io::Result<Option<KeeperConnection>> {
    let Some(socket) = address.connect()? else {
        address.sweep();
        return Ok(None);
    };
    wake(&socket);
    let mut connection = KeeperConnection::new(socket);
    match connection.send(message, &[]) {
        Ok(()) => Ok(Some(connection)),
        Err(error) if exits(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a message can't be sent because the keeper exits.
pub(crate) fn exits(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// How long a keeper may take to answer. A command can suspend its keeper again and again.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a keeper may take to stop all executions: more than the graces after `SIGTERM` and `SIGKILL` together.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// Continues a keeper that a command has suspended: it could not answer.
pub(crate) fn wake(socket: &OwnedFd) {
    if let Some(keeper) =
        keeper_of(socket).filter(|pid| proc::of(*pid).stat().is_some_and(|stat| stat.letter == b'T'))
    {
        processes::signal_keeper(keeper, Signal::CONT);
    }
}

/// The process id of the keeper at the other end.
pub(crate) fn keeper_of(socket: impl AsFd) -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(socket).ok()?;
    let pid = peer.pid.as_raw_nonzero().get().unsigned_abs();
    processes::is_keeper(pid).then_some(pid)
}

/// Kills a keeper that doesn't answer to a stop. Its executions end with it.
fn kill_keeper(connection: &KeeperConnection) {
    keeper_of(connection.socket()).into_iter().for_each(kill);
}

fn kill(keeper: u32) {
    warn!(keeper, "the keeper doesn't answer: kills it");
    processes::signal_keeper(keeper, Signal::KILL);
}

/// Waits for the message that `take` wants. `None` when the keeper exits instead.
fn answer<T>(
    mut connection: KeeperConnection,
    take: impl Fn(FromKeeper) -> Option<T>,
) -> Result<Option<T>, SessionError> {
    answer_on(&mut connection, ANSWER_TIMEOUT, take)
}

/// The same for a stop. A keeper that doesn't answer in time is killed.
fn stop_answer<T>(
    mut connection: KeeperConnection,
    take: impl Fn(FromKeeper) -> Option<T>,
) -> Result<Option<T>, SessionError> {
    match answer_on(&mut connection, STOP_TIMEOUT, take) {
        Err(SessionError::Silent { keeper }) => {
            kill_keeper(&connection);
            Err(SessionError::Killed { keeper })
        }
        answer => answer,
    }
}

/// The same on a connection that is used again, within `timeout`.
fn answer_on<T>(
    connection: &mut KeeperConnection,
    timeout: Duration,
    take: impl Fn(FromKeeper) -> Option<T>,
) -> Result<Option<T>, SessionError> {
    let until = Instant::now() + timeout;
    loop {
        match connection.next_before(until) {
            Ok(Some(message)) => {
                if let Some(taken) = take(message) {
                    return Ok(Some(taken));
                }
            }
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(SessionError::Silent { keeper: keeper_of(connection.socket()).unwrap_or(0) });
            }
            Err(error) => return Err(error.into()),
        }
    }
}
