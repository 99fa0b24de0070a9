//! The sandbox of a trial, and the one for a command that gets what its trial needed.

use std::path::{Path, PathBuf};

use shellgate_exec::{Confinement, Network, Observing};

use super::list;

const IMMATERIAL: &str = include_str!("immaterial.txt");

/// Variables of a trial. Git takes no locks that it can do without, Python keeps no compiled modules, and temporary files go
/// to memory that vanishes with the pod.
pub(crate) const VARIABLES: [(&str, &str); 3] =
    [("GIT_OPTIONAL_LOCKS", "0"), ("PYTHONDONTWRITEBYTECODE", "1"), ("TMPDIR", TEMPORARY)];

/// Where a trial has its temporary files.
pub(crate) const TEMPORARY: &str = "/dev/shm";

/// A trial can read what a command can, and nothing else.
pub(crate) fn trial(base: &Confinement) -> Confinement {
    Confinement {
        writable: Vec::new(),
        protected: Vec::new(),
        sockets: Vec::new(),
        network: Network::Private,
        observing: Observing::Needs,
        ..base.clone()
    }
}

/// What a command gets after a trial, as far as its sandbox gives it at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needed {
    /// The files that it writes, or the folders that it makes files in.
    pub(crate) writable: Vec<PathBuf>,
    /// Whether it connects to anything.
    pub(crate) network: bool,
}

/// `base` with no more than what is needed. `free`: folders for temporary files and caches, which every command gets.
pub(crate) fn narrowed(base: &Confinement, free: &[PathBuf], needed: &Needed) -> Confinement {
    let given = needed.writable.iter().filter(|path| is_open(base, path)).cloned();
    let free = free.iter().filter(|path| base.writable.contains(path)).cloned();
    let mut writable: Vec<PathBuf> = given.chain(free).collect();
    writable.sort();
    writable.dedup();
    Confinement {
        writable,
        network: if needed.network { base.network } else { Network::Private },
        ..base.clone()
    }
}

/// Whether a sandbox lets its commands write a place.
pub(crate) fn is_open(base: &Confinement, path: &Path) -> bool {
    base.writable.iter().any(|open| path.starts_with(open))
}

/// Whether it doesn't matter that a trial could not write a path.
pub(crate) fn is_immaterial(path: &Path, home: Option<&Path>) -> bool {
    let names: Vec<&str> = path.iter().filter_map(|name| name.to_str()).collect();
    list::entries(IMMATERIAL).any(|line| {
        let whole = match (line.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) => return false,
            (None, _) => {
                PathBuf::from(if line.starts_with('/') { line.to_owned() } else { format!("/{line}") })
            }
        };
        let pattern: Vec<&str> = whole.iter().filter_map(|name| name.to_str()).collect();
        fits(&pattern, &names)
    })
}

fn fits(pattern: &[&str], names: &[&str]) -> bool {
    match (pattern.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) if fits(rest, names) => true,
        (Some((&"**", _)), Some((_, others))) => fits(pattern, others),
        (Some((part, rest)), Some((name, others))) => fits_name(part, name) && fits(rest, others),
        _ => false,
    }
}

fn fits_name(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => name.strip_prefix(begin).is_some_and(|rest| rest.ends_with(end)),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_what_it_needs_and_its_sandbox_gives() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let base = Confinement {
            writable: paths(&["/r", "/extra", "/tmp", "/h/.cache/pip"]),
            ..Confinement::default()
        };
        let free = paths(&["/tmp", "/h/.cache/pip"]);
        let narrow = |writable: &[&str], network| {
            let narrow = narrowed(&base, &free, &Needed { writable: paths(writable), network });
            (narrow.writable, narrow.network)
        };
        assert_eq!(
            narrow(&["/r/out", "/etc"], false),
            (paths(&["/h/.cache/pip", "/r/out", "/tmp"]), Network::Private)
        );
        assert_eq!(narrow(&[], true), (paths(&["/h/.cache/pip", "/tmp"]), Network::Host));
        let offline = Confinement { network: Network::Private, ..base.clone() };
        let needed = Needed { network: true, ..Needed::default() };
        assert_eq!(narrowed(&offline, &free, &needed).network, Network::Private, "a yes opens no network");
    }

    #[test]
    fn a_trial_writes_nothing_and_reaches_nobody() {
        let base = Confinement {
            writable: vec!["/r".into()],
            unreadable: vec!["/h/.ssh".into()],
            sockets: vec!["/s".into()],
            ..Confinement::default()
        };
        let trial = trial(&base);
        assert!(trial.writable.is_empty() && trial.sockets.is_empty());
        assert_eq!((trial.network, trial.unreadable), (Network::Private, base.unreadable));
    }

    #[test]
    fn what_a_program_does_without_does_not_matter() {
        let is = |path: &str| is_immaterial(Path::new(path), Some(Path::new("/h")));
        for path in [
            "/usr/lib/python3/dist-packages/__pycache__",
            "/usr/lib/python3/dist-packages/__pycache__/m.cpython-311.pyc",
            "/h/.cargo/.package-cache-mutate",
            "/h/.npm/_logs/2026.log",
            "/tmp/hsperfdata_me/77",
            "/dev/tty",
        ] {
            assert!(is(path), "{path}");
        }
        for path in [
            "/r/.pytest_cache",
            "/r/__pycache__/m.cpython-311.pyc",
            "/h/.cache/go-build/x",
            "/r/made",
            "/h/.cargo/registry/x",
            "/h/.bashrc",
        ] {
            assert!(!is(path), "{path}");
        }
    }
}
