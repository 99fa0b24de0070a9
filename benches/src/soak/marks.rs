//! Marks of commands. Each command appends its mark to a file, so that what ran is known whatever was answered.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::lock;

/// Digits after the `m` of a mark.
const DIGITS: usize = 8;

/// All marks of a soak.
#[derive(Default)]
pub(super) struct Marks {
    next: AtomicU64,
    /// Marks of commands that were said not to run, with the reason.
    unrun: Mutex<BTreeMap<String, String>>,
}

/// The mark of one command.
pub(super) struct Mark {
    text: String,
    file: PathBuf,
    /// The file's length before the command.
    offset: u64,
}

impl Marks {
    /// A new mark, for the file of one caller.
    pub(super) fn make(&self, file: &Path) -> Mark {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let offset = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        Mark { text: format!("m{number:0DIGITS$}"), file: file.to_owned(), offset }
    }

    /// Notes that an answer said that the command didn't run.
    pub(super) fn say_unrun(&self, mark: &Mark, why: &str) {
        lock(&self.unrun).insert(mark.text.clone(), why.to_owned());
    }

    /// The commands that were said not to run and are among those that ran.
    pub(super) fn falsely_unrun(&self, ran: &BTreeSet<String>) -> Vec<String> {
        let unrun = lock(&self.unrun);
        unrun
            .iter()
            .filter(|(mark, _)| ran.contains(*mark))
            .map(|(mark, why)| format!("{mark}: {why}"))
            .collect()
    }
}

impl Mark {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Seconds for a `sleep` that only this command has.
    pub(super) fn seconds(&self) -> String {
        format!("3600.{}", self.text.trim_start_matches('m'))
    }

    /// Shell text that appends the mark to the file.
    pub(super) fn effect(&self) -> String {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        format!("echo {} >> effects/{name}", self.text)
    }

    /// A command with an effect, output and exit code. Returns it with its output.
    pub(super) fn command(&self, code: i32) -> (String, String) {
        (format!("{}; echo out {}; exit {code}", self.effect(), self.text), format!("out {}\n", self.text))
    }

    /// Whether the command has appended the mark.
    pub(super) fn is_set(&self) -> bool {
        let read = || -> std::io::Result<String> {
            let mut file = std::fs::File::open(&self.file)?;
            file.seek(SeekFrom::Start(self.offset))?;
            let mut text = String::new();
            file.read_to_string(&mut text).map(|_| text)
        };
        read().is_ok_and(|text| text.lines().any(|line| line == self.text))
    }
}

/// All marks in the files of a folder.
pub(super) fn all_set(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The mark in the text of a command.
pub(super) fn find(command: &str) -> Option<&str> {
    let is_mark = |word: &&str| {
        word.strip_prefix('m')
            .is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    command.split(|letter: char| !letter.is_ascii_alphanumeric()).find(is_mark)
}

#[cfg(test)]
mod tests {
    use super::{Marks, all_set, find};

    #[test]
    fn a_mark_is_found_in_its_command_and_set_by_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("effects")).unwrap();
        let mark = Marks::default().make(&folder.path().join("effects/01"));
        let (command, output) = mark.command(7);
        assert_eq!(find(&command), Some(mark.text()));
        assert!(!mark.is_set());
        let bash =
            std::process::Command::new("bash").args(["-c", &command]).current_dir(&folder).output().unwrap();
        assert_eq!((bash.status.code(), bash.stdout), (Some(7), output.into_bytes()));
        assert!(mark.is_set());
        assert!(all_set(&folder.path().join("effects")).contains(mark.text()));
        assert_eq!(find("make m1 all"), None);
    }
}
