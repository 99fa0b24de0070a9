//! The folders for temporary files: what a call writes and deletes below them is free in `balanced`, where the sandbox holds commands.

use std::path::{Path, PathBuf};

use shellgate_syntax::{Unknown, Value, Why, Word};

use super::Judge;
use crate::calls::Call;
use crate::programs::words;
use crate::rules::Preset;

impl Judge<'_> {
    /// Whether a path leads below a folder for temporary files, from everywhere that it may start, and the preset frees that. Files
    /// of other users and sockets are no temporary files of this command.
    pub(super) fn is_temporary(&self, path: &str) -> bool {
        if !self.frees_temporary() || self.may_follow_link(path) {
            return false;
        }
        let top = [PathBuf::from("/")];
        let folders = if path.starts_with('/') { Some(&top[..]) } else { self.state.directories.as_deref() };
        folders.is_some_and(|folders| {
            let places = folders.iter().map(|from| self.machine.cached_destination(from, path));
            places.into_iter().all(|place| self.machine.is_temporary(&place))
        })
    }

    /// Whether a call puts files into the folder for temporary files itself, under names of their own: `cp x /tmp/`.
    pub(super) fn fills_temporary(&self, call: &Call, path: &str) -> bool {
        let fills = call.name().is_some_and(|name| words::FOLDER_FILLERS.contains(&name));
        fills
            && self.frees_temporary()
            && !self.may_follow_link(path)
            && self.machine.is_temporary_folder(Path::new(path))
    }

    /// Whether a place that a call works in is a folder for temporary files, or below one.
    pub(super) fn is_temporary_place(&self, place: &Path) -> bool {
        self.frees_temporary()
            && (self.machine.is_temporary_folder(place) || self.machine.is_temporary(place))
    }

    /// Whether the preset frees what is below the folders for temporary files.
    fn frees_temporary(&self) -> bool {
        self.rules.preset == Some(Preset::Balanced) && self.rules.confined
    }

    /// What a word begins with, if it names a file below a folder that `mktemp` makes: `"$tmp/x"`.
    pub(super) fn in_made_folder(&self, word: &Word) -> Option<String> {
        let Value::Unknown(Unknown { lead, why: Why::Parameter(name), tail: Some(tail), .. }) = &word.value
        else {
            return None;
        };
        let is_below = tail.is_empty() || tail.starts_with('/') && !tail.split('/').any(|part| part == "..");
        let is_made = self.made_temporary.get(name).is_some_and(|made| *made <= word.span.start);
        let is_output =
            |value: &Value| matches!(value, Value::Unknown(Unknown { why: Why::Substitution, .. }));
        let has_no_other = self.values.get(name).is_some_and(|(values, _)| values.iter().all(is_output));
        (self.frees_temporary() && lead.is_empty() && is_below && is_made && has_no_other)
            .then(|| format!("${name}{tail}"))
    }
}

/// Whether a place is below one of the folders, and no other user's. What holds the root or the home folder is no temporary file.
pub(crate) fn is_below(place: &Path, folders: &[PathBuf], kept: &[&Path]) -> bool {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let Some(folder) = folders.iter().find(|folder| place.starts_with(folder) && place != folder.as_path())
    else {
        return false;
    };
    let depth = folder.iter().count() + 1;
    let own: PathBuf = place.iter().take(depth).collect();
    if kept.iter().any(|kept| kept.starts_with(&own)) {
        return false;
    }
    let user = std::fs::metadata("/proc/self").map(|found| found.uid()).ok();
    place.ancestors().take_while(|above| *above != folder.as_path()).all(|above| {
        match above.symlink_metadata() {
            Ok(found) => Some(found.uid()) == user && !found.file_type().is_socket(),
            Err(_) => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_is_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let folders = [top.clone()];
        std::fs::create_dir_all(top.join("project/src")).unwrap();
        std::os::unix::net::UnixListener::bind(top.join("socket")).unwrap();
        let root = top.join("project/src");
        let is = |path: &str| is_below(&top.join(path), &folders, &[&root]);
        assert!(is("x") && is("a/b/c"));
        assert!(!is("socket") && !is("project") && !is("project/x") && !is(""));
        assert!(!is_below(Path::new("/etc/x"), &folders, &[&root]));
    }
}
