//! Putting up the walls around a launcher.

use std::io;
use std::path::PathBuf;

use crate::confinement::{Confinement, Debugging, Observing, Readable, Temp, Tracing};
use crate::sys::broker;
use crate::sys::pod::{ConfineError, Mechanism, Namespaces};
use crate::sys::walls::landlock::{PathRules, Ruleset, Scope, Scopes};
use crate::sys::walls::{capabilities, seccomp, verify};

/// Places of the pod's own that all commands can write, and devices that they can use.
const OWN_WRITABLE: [&str; 1] = ["/dev"];

/// Calls that the broker does.
const HELD: [seccomp::Group; 2] = [seccomp::Group::NotifySockets, seccomp::Group::NotifyCreations];

/// The groups of the filter for a confinement.
fn groups(confinement: &Confinement) -> Vec<seccomp::Group> {
    let traced = (confinement.tracing == Tracing::Programs).then_some(seccomp::Group::TraceExec);
    let observed: &[seccomp::Group] = match (confinement.observing, confinement.tracing) {
        (Observing::Refusals, _) => &[],
        (Observing::Effects | Observing::Needs, Tracing::Programs) => &[seccomp::Group::NotifyChanges],
        (Observing::Effects | Observing::Needs, Tracing::No) => {
            &[seccomp::Group::NotifyChanges, seccomp::Group::NotifyExec]
        }
    };
    let debugger = match confinement.debugging {
        Debugging::No => seccomp::Group::NotifyDebugger,
        Debugging::Allowed => seccomp::Group::AllowDebugger,
    };
    let needs = (confinement.observing == Observing::Needs).then_some(seccomp::Group::NotifyNeeds);
    HELD.into_iter().chain([debugger]).chain(traced).chain(needs).chain(observed.iter().copied()).collect()
}

/// What stands around a launcher.
pub(super) struct Walls {
    pub(super) broker: broker::Started,
    /// The number that lets the launcher's own `exec` pass the filter. A command can't read the launcher's memory, also not that
    /// of a process that it starts: [`capabilities::drop_all_but_shield`].
    pub(super) own_number: u64,
}

/// Takes every right from the calling process that `confinement` doesn't give, and checks that it is gone. Starts the
/// broker on the way: it has the same Landlock domain, and no filter.
pub(super) fn put_up(
    confinement: &Confinement,
    namespaces: &Namespaces,
    parts: broker::Parts,
) -> Result<Walls, ConfineError> {
    let own_number = own_number()?;
    let rules = path_rules(confinement);
    let ruleset = Ruleset::prepare(&rules, scopes())
        .and_then(|ruleset| ruleset.allow_reading(&rules, &parts.proc))
        .map_err(|error| ConfineError::new(Mechanism::Landlock, "preparing it", io::Error::other(error)))?;
    let program = seccomp::Arch::CURRENT
        .ok_or_else(|| io::Error::other("there is no table of system calls for this architecture"))
        .and_then(|arch| {
            let rules = seccomp::rules(&groups(confinement));
            seccomp::Program::compile(arch, &rules, own_number).map_err(io::Error::other)
        })
        .map_err(|error| ConfineError::new(Mechanism::Seccomp, "compiling the filter", error))?;
    ruleset
        .apply()
        .map_err(|error| ConfineError::new(Mechanism::Landlock, "applying it", io::Error::other(error)))?;
    let broker = broker::start(parts, confinement)?;
    namespaces.enter_processes()?;
    capabilities::drop_all_but_shield().map_err(|error| {
        ConfineError::new(Mechanism::Capabilities, "dropping them", io::Error::other(error))
    })?;
    let loaded = seccomp::load(&program).map_err(|error| {
        ConfineError::new(Mechanism::Seccomp, "loading the filter", io::Error::other(error))
    })?;
    let listener = loaded.listener.ok_or_else(|| {
        ConfineError::new(Mechanism::Seccomp, "loading the filter", io::Error::other("it has no listener"))
    })?;
    broker.hand_over(&listener)?;
    drop(listener);
    match verify::Held::read() {
        Ok(held) if held.is_confined() => Ok(Walls { broker, own_number }),
        Ok(held) => {
            let found = io::Error::other(format!("{held:?}"));
            Err(ConfineError::new(Mechanism::Verification, "what holds", found))
        }
        Err(error) => {
            Err(ConfineError::new(Mechanism::Verification, "reading what holds", io::Error::other(error)))
        }
    }
}

/// A number that can't be guessed.
fn own_number() -> Result<u64, ConfineError> {
    let mut bytes = [0; size_of::<u64>()];
    let read = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    match read {
        Ok(length) if length == bytes.len() => Ok(u64::from_ne_bytes(bytes)),
        _ => Err(ConfineError::new(Mechanism::Seccomp, "a random number", io::Error::other("there is none"))),
    }
}

/// Signals and abstract sockets: the process namespace keeps commands from other processes, and a domain of its own for
/// each launcher would keep commands of one session from each other.
fn scopes() -> Scopes {
    Scopes { abstract_sockets: Scope::Domain, signals: Scope::Everything }
}

/// The rules for paths that exist.
fn path_rules(confinement: &Confinement) -> PathRules {
    let exists = |path: &PathBuf| rustix::fs::lstat(path).is_ok();
    let temp = (confinement.temp == Temp::Private).then(|| PathBuf::from("/tmp"));
    let own = OWN_WRITABLE.iter().map(PathBuf::from);
    let writable: Vec<PathBuf> =
        confinement.writable.iter().cloned().chain(temp).chain(own).filter(exists).collect();
    let readable = match &confinement.readable {
        Readable::Everything => None,
        Readable::Only(paths) => {
            let own = ["/proc", "/dev"].map(PathBuf::from);
            let exposed = confinement.exposed.iter().chain(&confinement.unlisted).cloned();
            let all = paths.iter().cloned().chain(own).chain(exposed).chain(writable.iter().cloned());
            Some(all.filter(exists).collect())
        }
    };
    PathRules { writable, readable }
}
