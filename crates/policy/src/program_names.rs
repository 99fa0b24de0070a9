//! Finds the entry of a program by the file that it leads to: `editor` is read as `vim`, `my-cc` as `gcc`.
//!
//! A program whose own name has an entry is read by that. Else its links are followed, and the name of the file counts.
//! A file that holds many programs (busybox) says nothing about the one that runs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use shellgate_syntax::Word;

use crate::paths;
use crate::programs::{self, CallMeaning, base_name, is_listed, is_multi_call};
use crate::search_path::SearchPath;

/// Where programs are looked for. It remembers what it found.
#[derive(Debug, Default)]
pub(crate) struct ProgramNames {
    directory: PathBuf,
    search_path: SearchPath,
    found: RefCell<HashMap<String, Option<String>>>,
}

impl ProgramNames {
    /// Programs that a command finds from `directory` with this PATH.
    pub(crate) fn new(directory: PathBuf, search_path: &OsStr) -> Self {
        let search_path = SearchPath::new(&directory, search_path);
        Self { directory, search_path, found: RefCell::default() }
    }

    /// The folder that the command starts in.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether the file of a program was looked for: what was understood may then change with the machine.
    pub(crate) fn has_looked(&self) -> bool {
        !self.found.borrow().is_empty()
    }

    /// Reads a call by the tables. `more_words`: words that aren't known will be added to it.
    pub(crate) fn understand(&self, words: &[Word], more_words: bool) -> CallMeaning {
        let program = words.first().and_then(|word| word.value.known());
        let resolved =
            program.filter(|program| !is_listed(program)).and_then(|program| self.resolve(program));
        programs::understand_as(words, resolved.as_deref(), more_words)
    }

    /// The name of the file that a program leads to, if that has an entry.
    fn resolve(&self, program: &str) -> Option<String> {
        if let Some(known) = self.found.borrow().get(program) {
            return known.clone();
        }
        let file = if program.contains('/') {
            paths::canonical(&self.directory.join(program))
        } else {
            self.search_path.folders().find_map(|folder| paths::canonical(&folder.file(program)?))
        };
        let name = file.and_then(|file| Some(base_name(file.to_str()?).to_owned()));
        let name = name.filter(|name| is_listed(name) && !is_multi_call(name));
        self.found.borrow_mut().insert(program.to_owned(), name.clone());
        name
    }
}
