//! Which file is which program, whatever it is called.
//!
//! A file is the same as another by device and inode: links are no disguise. A copy has the same size and the same bytes;
//! only files of the same size are compared, and what was found is remembered as long as the file doesn't change.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Larger files are not compared: that would hold up every process that is traced.
const MAX_COMPARED_BYTES: u64 = 256 << 20;

/// How many comparisons are remembered.
const MAX_REMEMBERED: usize = 4096;

const BLOCK_BYTES: usize = 64 << 10;

/// A file, by what the kernel calls it. The time of its last change belongs to it: the same number may be another file later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl FileId {
    pub(super) fn of(found: &Metadata) -> Self {
        let changed = (found.ctime(), found.ctime_nsec());
        Self { device: found.dev(), inode: found.ino(), size: found.size(), changed }
    }

    /// Whether both are the same file, changed or not.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// Files whose names matter.
#[derive(Debug, Default)]
pub(super) struct WatchedFiles {
    files: Vec<Watched>,
    /// Files of a watched size that were compared, and which they are copies of.
    compared: RefCell<HashMap<FileId, Vec<usize>>>,
}

#[derive(Debug)]
struct Watched {
    name: String,
    path: PathBuf,
    id: FileId,
}

impl WatchedFiles {
    /// Watches a file by this name.
    pub(super) fn add(&mut self, name: &str, path: PathBuf) {
        let Ok(found) = std::fs::metadata(&path) else { return };
        let id = FileId::of(&found);
        let is_known = self.files.iter().any(|file| file.id == id && file.name == name);
        if found.is_file() && !is_known {
            self.files.push(Watched { name: name.to_owned(), path, id });
        }
    }

    /// The names of the watched files that a file is, or is a copy of. `path` opens the file.
    pub(super) fn names_of(&self, id: &FileId, path: &Path) -> Vec<&str> {
        let same = |number: &usize| self.files.get(*number).is_some_and(|file| file.id.is_same_file(id));
        let mut found: Vec<usize> = (0..self.files.len()).filter(same).collect();
        if found.is_empty() && self.files.iter().any(|file| file.id.size == id.size) {
            found = self.copies(id, path);
        }
        found.iter().filter_map(|number| self.files.get(*number)).map(|file| file.name.as_str()).collect()
    }

    /// The watched files that have the same bytes.
    fn copies(&self, id: &FileId, path: &Path) -> Vec<usize> {
        if let Some(known) = self.compared.borrow().get(id) {
            return known.clone();
        }
        let candidates = self.files.iter().enumerate().filter(|(_, file)| file.id.size == id.size);
        let copies: Vec<usize> = candidates
            .filter(|(_, file)| has_same_bytes(&file.path, path))
            .map(|(number, _)| number)
            .collect();
        let mut compared = self.compared.borrow_mut();
        if compared.len() >= MAX_REMEMBERED {
            compared.clear();
        }
        compared.insert(*id, copies.clone());
        copies
    }
}

/// Whether two files of the same size have the same bytes. One that can't be read has others.
fn has_same_bytes(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (File::open(one), File::open(other)) else { return false };
    if one.metadata().is_ok_and(|found| found.size() > MAX_COMPARED_BYTES) {
        return false;
    }
    is_same(one, other).unwrap_or(false)
}

fn is_same(mut one: impl Read, mut other: impl Read) -> std::io::Result<bool> {
    let (mut ours, mut theirs) = (vec![0; BLOCK_BYTES], vec![0; BLOCK_BYTES]);
    loop {
        let (read, also) = (fill(&mut one, &mut ours)?, fill(&mut other, &mut theirs)?);
        if ours.get(..read) != theirs.get(..also) {
            return Ok(false);
        }
        if read < BLOCK_BYTES {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// The programs of this name in the folders of a search path, first found first.
pub(super) fn programs_named<'a>(
    name: &'a str,
    search_path: &'a str,
) -> impl Iterator<Item = PathBuf> + use<'a> {
    let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
    let files = folders.map(move |folder| folder.join(name));
    files.filter(|file| {
        std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_copies_are_no_disguise() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("rm"), vec![7; 200_000]).unwrap();
        let mut watched = WatchedFiles::default();
        watched.add("rm", place("rm"));
        std::fs::hard_link(place("rm"), place("hard")).unwrap();
        std::os::unix::fs::symlink(place("rm"), place("soft")).unwrap();
        std::fs::copy(place("rm"), place("copy")).unwrap();
        let mut changed = vec![7; 200_000];
        changed[199_999] = 8;
        std::fs::write(place("changed"), changed).unwrap();
        std::fs::write(place("longer"), vec![7; 200_001]).unwrap();
        let names = |name: &str| {
            let path = place(name);
            watched.names_of(&FileId::of(&std::fs::metadata(&path).unwrap()), &path).len()
        };
        assert_eq!(["rm", "hard", "soft", "copy", "copy"].map(names), [1; 5]);
        assert_eq!(["changed", "longer"].map(names), [0; 2]);
        // What was remembered of a file doesn't hold for what it has become.
        std::fs::copy(place("changed"), place("copy")).unwrap();
        assert_eq!(names("copy"), 0);
    }
}
