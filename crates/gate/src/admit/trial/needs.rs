//! What a command needs, by what was refused in its trial.
//!
//! It is read from the kernel's refusals and from what would be lost with the trial's pod, never from the exit status or from
//! what the command printed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use shellgate_exec::{Clock, Confinement, Outcome, RefusalRule};

use crate::confine::trial::{self, Needed};

/// How many needs of a kind are named.
const MAX_NAMED: usize = 8;

/// What a command needs that its trial didn't have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Files that it writes, makes, removes or changes.
    writes: Vec<NeededPath>,
    /// Addresses that it connects to.
    connects: Vec<String>,
    /// Unix sockets that it reaches.
    sockets: Vec<String>,
    /// Processes that it signals.
    signals: Vec<String>,
    /// Temporary files that it leaves for others.
    temporary: Vec<String>,
    /// Processes that it leaves running.
    left: Vec<String>,
    /// How many more refusals there were.
    unnamed: u64,
    /// How long it ran until it was stopped.
    unfinished: Option<Duration>,
}

/// A path that has to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NeededPath {
    path: PathBuf,
    /// The path that has to be writable: the file, or the folder that a new one is made in. `None`: it can't be named.
    grant: Option<PathBuf>,
}

/// Where a command runs, for telling what it needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) root: &'a Path,
    /// The sandbox of commands.
    pub(crate) base: &'a Confinement,
}

impl Needs {
    /// What the trial with this outcome needed.
    pub(crate) fn of(outcome: &Outcome, home: Option<&Path>) -> Self {
        let denials = outcome.denials.clone().unwrap_or_default();
        let mut needs = Self { unnamed: denials.more, ..Self::default() };
        for denial in denials.list {
            match denial.rule {
                RefusalRule::ReadOnly | RefusalRule::Protected => {
                    let path = PathBuf::from(denial.path);
                    if !trial::is_immaterial(&path, home) {
                        needs.writes.push(NeededPath { path, grant: denial.grant.map(PathBuf::from) });
                    }
                }
                RefusalRule::NoNetwork => needs.connects.push(denial.path),
                RefusalRule::ForeignSocket => needs.sockets.push(denial.path),
                RefusalRule::NoProcess => needs.signals.push(denial.path),
                // No trial grants a debugger.
                RefusalRule::Debugger => needs.unnamed += 1,
            }
        }
        if let Some(effects) = &outcome.effects {
            let is_kept = |path: &&String| {
                Path::new(path).starts_with(trial::TEMPORARY) && !effects.deletes.contains(path)
            };
            needs.temporary = effects.writes.iter().filter(is_kept).cloned().collect();
        }
        needs.left = outcome.background.iter().map(|process| process.command.clone()).collect();
        if let Some(Clock::Wall(_)) = outcome.clock {
            needs.unfinished = Some(outcome.duration);
        }
        needs
    }

    /// Whether the trial was all that the command needs.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What the command gets. `None`: it can't be named, so it gets what every command gets.
    pub(crate) fn needed(&self) -> Option<Needed> {
        if self.unnamed > 0 || self.unfinished.is_some() {
            return None;
        }
        let writable = self.writes.iter().map(|write| write.grant.clone()).collect::<Option<Vec<_>>>()?;
        Some(Needed { writable, network: !self.connects.is_empty() })
    }

    /// The needs in words, as reasons to ask a person.
    pub(crate) fn reasons(&self, around: Surroundings<'_>) -> Vec<String> {
        let shown = |path: &Path| {
            let below = path.strip_prefix(around.root).ok().filter(|below| !below.as_os_str().is_empty());
            format!("`{}`", below.unwrap_or(path).display())
        };
        let is_refused = |write: &NeededPath| {
            write.grant.as_deref().is_none_or(|grant| !trial::is_open(around.base, grant))
        };
        let writes = self.writes.iter().map(|write| {
            let beyond = if is_refused(write) { ", which its sandbox will refuse" } else { "" };
            format!("it needs to write {}{beyond}", shown(&write.path))
        });
        let named = |list: &[String], what: &str| {
            list.iter().map(|one| format!("{what} `{one}`")).collect::<Vec<_>>()
        };
        let connects = self.connects.iter().map(|address| format!("it needs to connect to {address}"));
        let kinds: [Vec<String>; 5] = [
            writes.collect(),
            connects.collect(),
            named(&self.sockets, "it needs to reach the socket"),
            self.signals.iter().map(|number| format!("it needs to signal process {number}")).collect(),
            named(&self.left, "it leaves a process running:"),
        ];
        let mut reasons: Vec<String> = kinds.into_iter().flat_map(shortened).collect();
        if !self.temporary.is_empty() {
            reasons.push("it keeps temporary files".to_owned());
        }
        if self.unnamed > 0 {
            reasons.push(format!("it was refused {} other things", self.unnamed));
        }
        if let Some(time) = self.unfinished {
            let seconds = time.as_secs_f32();
            reasons.push(format!("it was tried for {seconds:.1} s and had not ended"));
        }
        reasons
    }

    /// What the command can reach, for the person who is asked. `None`: what every command can.
    pub(crate) fn reach(&self, around: Surroundings<'_>) -> Option<String> {
        let needed = self.needed()?;
        let open = needed.writable.iter().filter(|path| trial::is_open(around.base, path));
        let shown = |path: &PathBuf| match path.strip_prefix(around.root) {
            Ok(below) if below.as_os_str().is_empty() => "the root".to_owned(),
            Ok(below) => below.display().to_string(),
            Err(_) => path.display().to_string(),
        };
        let mut writes: Vec<String> = open.map(shown).collect();
        writes.dedup();
        writes.push("temp, caches".to_owned());
        let network = match needed.network && around.base.network == shellgate_exec::Network::Host {
            true => "network",
            false => "no network",
        };
        Some(format!("writes {}; reads all but credentials; {network}", writes.join(", ")))
    }
}

/// At most [`MAX_NAMED`] of these, and how many more there are.
fn shortened(mut reasons: Vec<String>) -> Vec<String> {
    let more = reasons.len().saturating_sub(MAX_NAMED);
    if let Some(last) = reasons.get_mut(MAX_NAMED - 1).filter(|_| more > 0) {
        last.push_str(&format!(", and {more} more like it"));
    }
    reasons.truncate(MAX_NAMED);
    reasons
}
