//! Which groups were made, in a file each, so that those of a killed keeper are found and removed.
//!
//! `ends/.groups-ID` in the state folder: a folder a line, written before the first is made. Groups are below that of the
//! keeper that made them, which whoever comes later need not be in.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::group::{self, Groups};
use super::{Hierarchies, Limits};
use crate::{ExecId, StateFolder};

const PREFIX: &str = ".groups-";

/// The note of one execution's groups.
#[derive(Debug)]
pub(crate) struct GroupNote {
    path: PathBuf,
}

impl GroupNote {
    /// Makes the groups for `limits`, and notes them before.
    ///
    /// # Errors
    /// When they can't be noted: then there are none.
    pub(crate) fn make_groups(ends: &Path, id: ExecId, limits: &Limits) -> io::Result<(Self, Groups)> {
        let hierarchies = Hierarchies::own();
        let name = group::name(id);
        let note = Self { path: ends.join(format!("{PREFIX}{id}")) };
        let places = Groups::places(&hierarchies, &name);
        let lines: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        fs::write(&note.path, lines.join("\n"))?;
        Ok((note, Groups::make(&hierarchies, &name, limits)))
    }

    /// They are gone.
    pub(crate) fn forget(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// GroupNotes that lay there at one moment.
#[derive(Debug)]
pub struct GroupNotes {
    found: Vec<(ExecId, PathBuf)>,
}

/// The notes of all groups that may be there. Ask for them before you ask who holds what: whoever makes one later holds
/// its execution, but you would not know.
#[must_use]
pub fn group_notes(state: &StateFolder) -> GroupNotes {
    let entries = fs::read_dir(state.ends()).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_prefix(PREFIX)?.parse().ok()?;
        Some((id, entry.path()))
    });
    GroupNotes { found: found.collect() }
}

impl GroupNotes {
    /// Removes the groups of executions that aren't `held`. Those that still have somebody in them stay.
    pub fn sweep(&self, held: &[ExecId]) {
        for (id, note) in self.found.iter().filter(|(id, _)| !held.contains(id)) {
            let name = group::name(*id);
            let text = fs::read_to_string(note).unwrap_or_default();
            // Only what is called like a group of this execution: nothing else is ours to remove.
            let mut folders = text.lines().map(Path::new).filter(|folder| folder.ends_with(&name));
            if folders.all(group::removed) {
                let _ = fs::remove_file(note);
            }
        }
    }

    /// How many are of executions that aren't `held`.
    #[must_use]
    pub fn stale(&self, held: &[ExecId]) -> usize {
        self.found.iter().filter(|(id, _)| !held.contains(id)).count()
    }
}
