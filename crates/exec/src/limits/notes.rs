//! Lists of the control groups of each execution, so that those of a killed keeper are found and removed.
//!
//! The file is `ends/.groups-ID` in the state folder, with a folder on each line. It is written before the first group is
//! created. The groups are below the control group of the keeper, which another process can't find out later.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::group::{self, Groups};
use super::{Hierarchies, Limits};
use crate::regular_file::read_regular;
use crate::{ExecId, StateFolder};

/// The longest note that is read: some paths.
const NOTE_MAX_BYTES: u64 = 64 << 10;

const PREFIX: &str = ".groups-";

/// The list of one execution's control groups.
#[derive(Debug)]
pub(crate) struct GroupNote {
    path: PathBuf,
}

impl GroupNote {
    /// Writes the list, and creates the groups for `limits`.
    ///
    /// # Errors
    /// When the list can't be written. Then no group is created.
    pub(crate) fn make_groups(ends: &Path, id: ExecId, limits: &Limits) -> io::Result<(Self, Groups)> {
        let hierarchies = Hierarchies::own();
        let name = group::name(id);
        let note = Self { path: ends.join(format!("{PREFIX}{id}")) };
        let places = Groups::places(&hierarchies, &name);
        let lines: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        fs::write(&note.path, lines.join("\n"))?;
        Ok((note, Groups::make(&hierarchies, &name, limits)))
    }

    /// Removes the list, when the groups are gone.
    pub(crate) fn forget(&self) {
        // A list that stays is removed by the next sweep.
        let _ = fs::remove_file(&self.path);
    }
}

/// All lists of control groups at one moment.
#[derive(Debug)]
pub struct GroupNotes {
    found: Vec<(ExecId, PathBuf)>,
}

/// All lists of control groups. Read them before you ask the keepers which executions they hold. Else a list could belong
/// to an execution that was started after you asked.
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
    /// Removes the groups of executions that aren't `held`. Groups that still have a process in them stay.
    pub fn sweep(&self, held: &[ExecId]) {
        for (id, note) in self.found.iter().filter(|(id, _)| !held.contains(id)) {
            let name = group::name(*id);
            let text = read_regular(note, NOTE_MAX_BYTES).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            // Only folders with the name of this execution's groups. Others are not ours to remove.
            let mut folders = text.lines().map(Path::new).filter(|folder| folder.ends_with(&name));
            if folders.all(group::remove_group) {
                // A list that stays is removed by the next sweep.
                let _ = fs::remove_file(note);
            }
        }
    }

    /// The number of lists of executions that aren't `held`.
    #[must_use]
    pub fn stale(&self, held: &[ExecId]) -> usize {
        self.found.iter().filter(|(id, _)| !held.contains(id)).count()
    }
}
