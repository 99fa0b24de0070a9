//! The loop.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use shellgate_sandbox::signals::{Signal, SignalFd};
use shellgate_sandbox::spawn::Spawner;

use super::connection::{Connection, ConnectionKey, Received};
use super::events::{Events, Interest, Token};
use super::lifecycle::Queue;
use super::orphans::Recognised;
use super::prune::Unpruned;
use super::run::Run;
use super::socket::Place;
use super::standby::Standby;
use super::tree::{Reaped, RunKey, Trees};
use super::{KeeperConfig, Served};
use crate::circumstances::raise_descriptor_limit;
use crate::outcome::{Exit, plain};
use crate::wire::{FromKeeper, Urgency};
use crate::{SoftLimits, State};

/// How long a keeper that was started for somebody waits for that somebody.
const PATIENCE: Duration = Duration::from_secs(5);

/// The keeper's whole state.
pub(super) struct Keeper {
    /// Our own, which a command inherits where its caller's aren't set.
    pub(super) limits: SoftLimits,
    pub(super) events: Events,
    signals: SignalFd,
    pub(super) connections: HashMap<ConnectionKey, Connection>,
    /// In the order in which they came.
    pub(super) runs: BTreeMap<RunKey, Run>,
    pub(super) queue: Queue,
    /// What executions that have not started are going to read.
    pub(super) stdins: HashMap<RunKey, OwnedFd>,
    pub(super) trees: Trees,
    /// What the last look for orphans gave, as long as nothing has changed.
    pub(super) recognised: Option<Recognised>,
    /// Children that were reaped and not looked at.
    pub(super) dead: Vec<(RunKey, Reaped, Exit)>,
    /// CallState by while there are jobs.
    pub(super) standby: Option<Standby>,
    pub(super) spawner: Spawner,
    pub(super) null: OwnedFd,
    pub(super) buffer: Vec<u8>,
    last_key: u64,
    /// What has been written since the spool was last looked through.
    pub(super) unpruned: Unpruned,
    pub(super) spool: PathBuf,
    /// Where ends are left that nobody hears.
    pub(super) ends: PathBuf,
    pub(super) keep_bytes: u64,
}

pub(super) fn serve(config: KeeperConfig, ready: impl FnOnce()) -> io::Result<Served> {
    let KeeperConfig { address, first, spool, ends, keep_bytes } = config;
    // Sockets are ours alone, whatever mask our starter has; commands get their own caller's.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    raise_descriptor_limit();
    let Some(place) = Place::take(address)? else { return Ok(Served::Elsewhere) };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let events = Events::new()?;
    let signals = SignalFd::open(&[Signal::Child, Signal::Terminate, Signal::Interrupt, Signal::HangUp])?;
    events.add(&signals, Token::Signals)?;
    events.add(place.listener(), Token::Listener)?;
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
        standby: None,
        spawner: Spawner::default(),
        null: rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?,
        buffer: vec![0; 256 << 10],
        last_key: 0,
        unpruned: Unpruned::default(),
        spool,
        ends,
        keep_bytes,
    };
    let patience = (first.is_none()).then(|| Instant::now() + PATIENCE);
    if let Some(first) = first {
        keeper.greet(first);
    }
    ready();
    keeper.serve(place, patience)?;
    Ok(Served::ToTheEnd)
}

impl Keeper {
    fn serve(&mut self, mut place: Place, mut patience: Option<Instant>) -> io::Result<()> {
        loop {
            // Before waiting, not after: whoever connects may hang up before we get to hear them, and nothing would wake us.
            while patience.is_none() && self.has_nothing_to_hold() {
                match place.leave() {
                    Ok(()) => {
                        if self.unpruned.is_worth_a_look(self.keep_bytes) {
                            let _ = crate::spool::prune(&self.spool, self.keep_bytes);
                        }
                        return Ok(());
                    }
                    Err((kept, caller)) => {
                        place = kept;
                        self.greet(caller);
                    }
                }
            }
            let deadline =
                self.runs.values().filter_map(|run| run.lifecycle.deadline()).chain(patience).min();
            let ready = self.events.wait(deadline)?;
            self.recognised = None;
            for token in ready {
                match token {
                    Token::Listener => {
                        while let Some(caller) = place.accept() {
                            patience = None;
                            self.greet(caller);
                        }
                    }
                    Token::Signals => self.hear_signals()?,
                    Token::Connection(key) => self.attend(key),
                    Token::Pipe(key, stream) => self.pump(key, stream),
                    Token::Input(key) => self.feed(key),
                }
            }
            let now = Instant::now();
            patience = patience.filter(|until| *until > now);
            self.tick(now);
            self.report_dead();
            self.start_queued();
        }
    }

    fn has_nothing_to_hold(&self) -> bool {
        self.connections.is_empty()
            && self.runs.is_empty()
            && self.trees.unclaimed().is_empty()
            && !self.trees.has_helpers()
    }

    /// A number that was never used.
    pub(super) fn new_key(&mut self) -> u64 {
        self.last_key += 1;
        self.last_key
    }

    /// Takes a new caller. One that can't be taken is hung up on: the others shall not suffer for it.
    fn greet(&mut self, caller: OwnedFd) {
        // The folder is closed to others, and the kernel says who is at the other end all the same.
        let peer = rustix::net::sockopt::socket_peercred(&caller);
        if !peer.is_ok_and(|peer| peer.uid == rustix::process::geteuid()) {
            return;
        }
        let key = self.new_key();
        let mut connection = Connection::new(caller);
        if let Err(error) = self.events.add(&connection, Token::Connection(key)) {
            return connection.send(&FromKeeper::Unable(plain(&error)));
        }
        self.connections.insert(key, connection);
        // What it wants has mostly come along already.
        self.attend(key);
    }

    fn hear_signals(&mut self) -> io::Result<()> {
        while let Some(signal) = self.signals.next()? {
            match signal {
                Signal::Child => self.reap(),
                // Told to end: end what we hold, then there is nothing to stay for.
                _ => self.stop_session(Urgency::Politely),
            }
        }
        Ok(())
    }

    /// Hears one front end out, and tells it what waited for it.
    fn attend(&mut self, key: ConnectionKey) {
        loop {
            let Some(connection) = self.connections.get_mut(&key) else { return };
            match connection.receive() {
                Received::Message(message) => {
                    self.obey(key, message);
                    if let Some(connection) = self.connections.get_mut(&key) {
                        connection.greet();
                    }
                }
                Received::Nothing => break,
                Received::Gone => {
                    self.farewell(key);
                    return;
                }
            }
        }
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.flush();
        }
        self.adjust_interest(key);
    }

    /// Tells the front end of `run` something, if it is there and wants to hear it.
    pub(super) fn tell_state(&mut self, run: RunKey, state: State) {
        let Some(run) = self.runs.get(&run).filter(|run| run.is_followed()) else { return };
        let Some(key) = run.lifecycle.caller() else { return };
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.send(&FromKeeper::State(state));
        }
        self.adjust_interest(key);
    }

    /// Waits for room to write only while something waits to be written.
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

    /// A front end that is killed while its keeper starts never says a word.
    #[test]
    fn a_keeper_whose_first_caller_hung_up_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        drop(ours);
        let config = KeeperConfig {
            address: Address::new(folder.path(), "keeper".to_owned()).unwrap(),
            first: Some(theirs),
            spool: folder.path().to_owned(),
            ends: folder.path().to_owned(),
            keep_bytes: 0,
        };
        let (left, leaving) = mpsc::channel();
        std::thread::spawn(move || left.send(serve(config, || {}).unwrap()));
        let served = leaving.recv_timeout(Duration::from_secs(20)).expect("it leaves");
        assert_eq!(served, Served::ToTheEnd);
    }
}
