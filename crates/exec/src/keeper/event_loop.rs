//! The keeper's data and its event loop.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use shellgate_sandbox::signals::{Signal, SignalFd};
use shellgate_sandbox::spawn::Spawner;
use tracing::{debug, info, warn};

use super::confined::Confined;
use super::connection::{Connection, ConnectionKey, Received};
use super::ends_folder::EndsFolder;
use super::events::{Events, Interest, Token};
use super::guard::Guard;
use super::lifecycle::Queue;
use super::orphans::Recognised;
use super::prune::{self, Unpruned};
use super::run::Run;
use super::socket::SessionSocket;
use super::spares::Spares;
use super::standby::Standby;
use super::start::Pipes;
use super::tree::{Reaped, RunKey, Trees};
use super::{KeeperConfig, Served};
use crate::circumstances::raise_own_limits;
use crate::outcome::{Exit, plain};
use crate::reserve;
use crate::wire::{FromKeeper, Urgency};
use crate::{SoftLimits, State};

/// How long a new keeper waits for its first connection.
const FIRST_CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the listener is left alone after a connection could not be taken.
const LISTEN_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The keeper's whole state.
pub(super) struct Keeper {
    /// The keeper's own limits, which a command inherits unless its caller's differ.
    pub(super) limits: SoftLimits,
    pub(super) events: Events,
    signals: SignalFd,
    pub(super) connections: HashMap<ConnectionKey, Connection>,
    /// In the order of their submission.
    pub(super) runs: BTreeMap<RunKey, Run>,
    pub(super) queue: Queue,
    /// Standard input of executions that have not started.
    pub(super) stdins: HashMap<RunKey, OwnedFd>,
    pub(super) trees: Trees,
    /// The result of the last search for orphans, as long as nothing has changed.
    pub(super) recognised: Option<Recognised>,
    /// Whether orphans in the pod ended between the last look at them and their claim.
    pub(super) orphans_vanish: bool,
    /// Whether the pod was suspended since its events were taken. That takes events, too.
    pub(super) pod_was_suspended: bool,
    /// Children that were reaped and not reported to their executions.
    pub(super) dead: Vec<(RunKey, Reaped, Exit)>,
    /// The standby process, while there are jobs.
    pub(super) standby: Option<Standby>,
    pub(super) spawner: Spawner,
    /// What starts confined commands.
    pub(super) confined: Confined,
    /// Answers commands that are traced.
    pub(super) guard: Guard,
    pub(super) null: OwnedFd,
    /// Pipes for the next command.
    pub(super) ready_pipes: Option<Pipes>,
    pub(super) spares: Spares,
    /// When the listener is looked at again, after a connection could not be taken.
    listens_again_at: Option<Instant>,
    /// When children are waited for again, after that failed.
    pub(super) reaps_again_at: Option<Instant>,
    pub(super) buffer: Vec<u8>,
    last_key: u64,
    /// What was written since the spool was last pruned.
    pub(super) unpruned: Unpruned,
    pub(super) spool: PathBuf,
    /// Folder for the ends of executions whose caller has gone.
    pub(super) ends: EndsFolder,
    pub(super) keep_bytes: u64,
}

pub(super) fn serve(config: KeeperConfig, ready: impl FnOnce()) -> io::Result<Served> {
    let KeeperConfig { address, first, spool, ends, keep_bytes } = config;
    // No other user may open the sockets, whatever umask the keeper inherited. Commands get the umask of their caller.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    raise_own_limits();
    let name = address.name().to_owned();
    let Some(socket) = SessionSocket::take(address)? else {
        debug!(socket = %name, "another keeper has the session");
        return Ok(Served::Elsewhere);
    };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let events = Events::new()?;
    let signals = SignalFd::open(&[Signal::Child, Signal::Terminate, Signal::Interrupt, Signal::HangUp])?;
    events.add(&signals, Token::Signals)?;
    events.add(socket.listener(), Token::Listener)?;
    let mut keeper = Keeper {
        limits: SoftLimits::current(),
        events,
        signals,
        connections: HashMap::new(),
        runs: BTreeMap::new(),
        queue: Queue::default(),
        stdins: HashMap::new(),
        trees: Trees::default(),
        dead: Vec::new(),
        recognised: None,
        orphans_vanish: false,
        pod_was_suspended: false,
        standby: None,
        spawner: Spawner::default(),
        confined: Confined::default(),
        guard: Guard::default(),
        ready_pipes: None,
        null: rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?,
        spares: Spares::new(),
        listens_again_at: None,
        reaps_again_at: None,
        buffer: vec![0; 256 << 10],
        last_key: 0,
        unpruned: Unpruned::default(),
        spool,
        ends: EndsFolder::open(&ends)?,
        keep_bytes,
    };
    keeper.spares.refill(keeper.null.as_fd());
    reserve::fill(keeper.ends.path());
    info!(socket = %name, "keeper started");
    let first_connection_by = (first.is_none()).then(|| Instant::now() + FIRST_CONNECTION_TIMEOUT);
    if let Some(first) = first {
        keeper.accept(first);
    }
    ready();
    keeper.serve(socket, first_connection_by)?;
    info!(socket = %name, "keeper ends");
    Ok(Served::ToTheEnd)
}

impl Keeper {
    fn serve(
        &mut self,
        mut socket: SessionSocket,
        mut first_connection_by: Option<Instant>,
    ) -> io::Result<()> {
        loop {
            // Before waiting, not after: a front end may have closed its connection already, and no event would follow.
            while first_connection_by.is_none() && self.is_idle() {
                match socket.leave() {
                    Ok(()) => {
                        if self.unpruned.is_due_at_exit(self.keep_bytes) {
                            // The next keeper prunes what this one could not.
                            let _ = prune::prune(&self.spool, self.keep_bytes);
                        }
                        self.confined.end();
                        return Ok(());
                    }
                    Err((kept, caller)) => {
                        socket = kept;
                        self.accept(caller);
                    }
                }
            }
            let deadline = self
                .runs
                .values()
                .flat_map(|run| run.lifecycle.deadline().into_iter().chain(run.saves_at()))
                .chain(first_connection_by)
                .chain(self.listens_again_at)
                .chain(self.reaps_again_at)
                .chain(self.confined.ready_until())
                .min();
            let mut ready = self.events.wait(deadline)?;
            // A caller may send one request on an open connection and the next on a new one. The keeper takes them in that
            // order, although `epoll` may name the listener first.
            ready.sort_by_key(|token| *token == Token::Listener);
            self.recognised = None;
            for token in ready {
                match token {
                    // One connection at a time: a caller that sends requests quickly would keep the keeper in a loop here,
                    // and its earlier requests on open connections would wait.
                    Token::Listener => {
                        if let Some(caller) = self.next_caller(&socket) {
                            first_connection_by = None;
                            self.accept(caller);
                        }
                    }
                    Token::Signals => self.take_signals()?,
                    Token::Connection(key) => self.serve_connection(key),
                    Token::Pipe(key, stream) => self.read_output(key, stream),
                    Token::Input(key) => self.flush_input(key),
                    Token::Pod => self.take_pod_events(),
                    Token::Refusals(launcher) => self.take_refusals(launcher),
                }
            }
            let now = Instant::now();
            first_connection_by = first_connection_by.filter(|until| *until > now);
            self.tick(now);
            self.save_old_output(now);
            self.confined.dismiss_late(now);
            self.recover(&socket, now);
            if std::mem::take(&mut self.pod_was_suspended) {
                self.take_pod_events();
            }
            self.report_dead();
            self.start_queued();
        }
    }

    /// The next connection. Without a descriptor for it, the spare ones are given up; without these, the listener is left
    /// alone for a while, because it would wake the keeper again and again.
    fn next_caller(&mut self, socket: &SessionSocket) -> Option<OwnedFd> {
        let mut accepted = socket.accept();
        if accepted.is_err() && self.spares.release() {
            warn!("no descriptor is left for a connection: uses the spare ones");
            accepted = socket.accept();
        }
        accepted.unwrap_or_else(|error| {
            warn!(%error, "a connection can't be taken yet");
            self.events.change(socket.listener(), Token::Listener, Interest::None);
            self.listens_again_at = Some(Instant::now() + LISTEN_RETRY_INTERVAL);
            None
        })
    }

    /// Takes spare descriptors, listens and waits for children again, when it can.
    fn recover(&mut self, socket: &SessionSocket, now: Instant) {
        self.spares.refill(self.null.as_fd());
        if self.listens_again_at.is_some_and(|at| at <= now) {
            self.listens_again_at = None;
            self.events.change(socket.listener(), Token::Listener, Interest::Read);
        }
        if self.reaps_again_at.is_some_and(|at| at <= now) {
            self.reaps_again_at = None;
            self.reap();
        }
    }

    fn is_idle(&self) -> bool {
        self.connections.is_empty()
            && self.runs.is_empty()
            && self.trees.unclaimed().is_empty()
            && !self.trees.has_helpers()
    }

    /// A key that was never used before.
    pub(super) fn new_key(&mut self) -> u64 {
        self.last_key += 1;
        self.last_key
    }

    /// Takes a new connection. One that can't be taken is closed, and the keeper goes on for the others.
    fn accept(&mut self, caller: OwnedFd) {
        // Other users can't open the folder of the socket. The kernel's word on the peer is a second check.
        let peer = rustix::net::sockopt::socket_peercred(&caller);
        if !peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid()) {
            warn!("closed a connection of another user");
            return;
        }
        let key = self.new_key();
        let mut connection = Connection::new(caller);
        debug!(connection = key, "front end connected");
        if let Err(error) = self.events.add(&connection, Token::Connection(key)) {
            warn!(connection = key, %error, "closed a connection that can't be waited for");
            return connection.send(&FromKeeper::Unable(plain(&error)));
        }
        self.connections.insert(key, connection);
        // Its request has mostly arrived already.
        self.serve_connection(key);
    }

    fn take_signals(&mut self) -> io::Result<()> {
        while let Some(signal) = self.signals.next()? {
            match signal {
                Signal::Child => self.reap(),
                // The keeper is asked to exit. It does so when its executions have ended.
                _ => {
                    info!(?signal, "asked to exit");
                    self.stop_session(Urgency::Politely);
                }
            }
        }
        Ok(())
    }

    /// Handles all messages of one front end, and sends what waited for it.
    fn serve_connection(&mut self, key: ConnectionKey) {
        loop {
            let Some(connection) = self.connections.get_mut(&key) else { return };
            match connection.receive() {
                Received::Message(message) => {
                    self.handle(key, message);
                    if let Some(connection) = self.connections.get_mut(&key) {
                        connection.confirm();
                    }
                }
                Received::Nothing => break,
                Received::Gone => {
                    self.close_connection(key);
                    return;
                }
            }
        }
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.flush();
        }
        self.adjust_interest(key);
    }

    /// Tells the caller of `run` its new state, if the caller follows it closely.
    pub(super) fn tell_state(&mut self, run: RunKey, state: State) {
        let Some(run) = self.runs.get(&run).filter(|run| run.is_followed()) else { return };
        let Some(key) = run.lifecycle.caller() else { return };
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.send(&FromKeeper::State(state));
        }
        self.adjust_interest(key);
    }

    /// Waits for room to write only while bytes wait to be written.
    pub(super) fn adjust_interest(&mut self, key: ConnectionKey) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let interest = if connection.is_blocked() { Interest::ReadAndWrite } else { Interest::Read };
        if connection.interest != interest {
            connection.interest = interest;
            self.events.change(&*connection, Token::Connection(key), interest);
        }
        if let (Some(run), true) = (connection.run, connection.has_room()) {
            self.resume_pipes(run);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use rustix::net::{AddressFamily, SocketFlags, SocketType};

    use super::*;
    use crate::keeper::Address;

    /// A front end may be killed while its keeper starts.
    #[test]
    fn a_keeper_whose_first_connection_is_closed_exits() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        drop(ours);
        let config = KeeperConfig {
            address: Address::new(folder.path(), "keeper".to_owned()).unwrap(),
            first: Some(theirs),
            spool: folder.path().to_owned(),
            ends: folder.path().join("ends"),
            keep_bytes: 0,
        };
        let (left, leaving) = mpsc::channel();
        std::thread::spawn(move || left.send(serve(config, || {}).unwrap()));
        let served = leaving.recv_timeout(Duration::from_secs(20)).expect("it exits");
        assert_eq!(served, Served::ToTheEnd);
    }
}
