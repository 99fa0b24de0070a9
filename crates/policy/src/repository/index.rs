//! The index of a repository: which of its paths are submodules, in whose own repositories git works, too.
//!
//! Only the modes, times, sizes and names of the entries are read. The crates that read an index bring a whole implementation of git
//! with them.

use std::path::{Path, PathBuf};

use crate::short_file;

/// Longer indexes are not read. One with half a million files is about as long.
const MAX_INDEX_BYTES: u64 = 64 << 20;

/// The lengths of object names: SHA-1 and SHA-256.
const HASH_BYTES: [usize; 2] = [20, 32];

/// The fields of an entry before its object name; the mode is among them.
const STAT_BYTES: usize = 40;
const MTIME_OFFSET: usize = 8;
const MODE_OFFSET: usize = 24;
const SIZE_OFFSET: usize = 36;

const TYPE_MASK: u32 = 0o170_000;
const GITLINK: u32 = 0o160_000;
/// A folder of a sparse index: its entries are not listed.
const FOLDER: u32 = 0o040_000;

const NAME_LENGTH_MASK: u16 = 0x0fff;
const EXTENDED_FLAG: u16 = 0x4000;
const ASSUME_VALID_FLAG: u16 = 0x8000;
const STAGE_MASK: u16 = 0x3000;
/// Of the extended flags.
const SKIP_WORKTREE_FLAG: u16 = 0x4000;
const INTENT_TO_ADD_FLAG: u16 = 0x2000;

/// A tracked file, as git saw it last.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tracked {
    pub(super) path: PathBuf,
    pub(super) changed_at: (u32, u32),
    pub(super) size: u32,
    /// Whether git doesn't look whether the file has changed.
    pub(super) is_unwatched: bool,
    /// Whether it is in a conflict, or will be added.
    pub(super) is_unfinished: bool,
}

/// What an index says about the work in its repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tracking {
    pub(super) files: Vec<Tracked>,
    /// Whether all of the index was written to a tree: nothing was staged since.
    pub(super) is_written: bool,
}

/// What is read of an index.
#[derive(Debug, Default, PartialEq, Eq)]
struct Contents {
    tracking: Tracking,
    /// Submodules, and folders that may hold some.
    gitlinks: Vec<Vec<u8>>,
    /// The object name of the index that this one extends.
    base: Option<String>,
}

/// The paths of the submodules in the index of the repository in the folder `place`. `None`: they can't be read.
pub(super) fn gitlinks(place: &Path) -> Option<Vec<PathBuf>> {
    let file = place.join("index");
    if file.symlink_metadata().is_err() {
        return Some(Vec::new());
    }
    let mut contents = read(&file)?;
    if let Some(base) = &contents.base {
        contents.gitlinks.extend(read(&place.join(format!("sharedindex.{base}")))?.gitlinks);
    }
    contents.gitlinks.into_iter().map(path).collect()
}

/// The files that the repository in the folder `place` tracks. `None`: they can't be read, or are spread over two files.
pub(super) fn tracking(place: &Path) -> Option<Tracking> {
    let file = place.join("index");
    if file.symlink_metadata().is_err() {
        return Some(Tracking { files: Vec::new(), is_written: true });
    }
    let contents = read(&file)?;
    contents.base.is_none().then_some(contents.tracking)
}

/// A name in an index as a path. An entry without a name changes one of another index, and isn't followed.
fn path(name: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    (!name.is_empty()).then(|| PathBuf::from(std::ffi::OsString::from_vec(name)))
}

fn read(file: &Path) -> Option<Contents> {
    let bytes = short_file::read(file, MAX_INDEX_BYTES)?;
    // Whichever length is right, only with that one does the content end where the file ends.
    HASH_BYTES.iter().find_map(|hash| parse(&bytes, *hash))
}

/// Reads an index of version 2, 3 or 4 whose object names have `hash` bytes. `None`: it isn't one.
fn parse(bytes: &[u8], hash: usize) -> Option<Contents> {
    let mut rest = Bytes(bytes.get(..bytes.len().checked_sub(hash)?)?);
    if rest.take(4)? != b"DIRC" {
        return None;
    }
    let version = rest.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = rest.number()?;
    let mut contents = Contents::default();
    let mut name = Vec::new();
    for _ in 0..count {
        let before = rest.0.len();
        let stat = rest.take(STAT_BYTES)?;
        let field = |offset: usize| Bytes(stat.get(offset..)?).number();
        let mode = field(MODE_OFFSET)?;
        rest.take(hash)?;
        let flags = rest.short()?;
        let more_flags = if flags & EXTENDED_FLAG != 0 { rest.short()? } else { 0 };
        // Version 4 leaves out what a name shares with the one before it.
        let kept = if version == 4 { name.len().checked_sub(rest.offset()?)? } else { 0 };
        name.truncate(kept);
        name.extend_from_slice(rest.until_zero()?);
        let length = usize::from(flags & NAME_LENGTH_MASK);
        if length < usize::from(NAME_LENGTH_MASK) && length != name.len() {
            return None;
        }
        if version < 4 {
            // One zero is read already; an entry has a multiple of eight bytes.
            let read = before - rest.0.len();
            rest.take(read.next_multiple_of(8) - read)?;
        }
        if matches!(mode & TYPE_MASK, GITLINK | FOLDER) {
            contents.gitlinks.push(name.clone());
        } else if !name.is_empty() {
            contents.tracking.files.push(Tracked {
                path: path(name.clone())?,
                changed_at: (field(MTIME_OFFSET)?, field(MTIME_OFFSET + 4)?),
                size: field(SIZE_OFFSET)?,
                is_unwatched: flags & ASSUME_VALID_FLAG != 0 || more_flags & SKIP_WORKTREE_FLAG != 0,
                is_unfinished: flags & STAGE_MASK != 0 || more_flags & INTENT_TO_ADD_FLAG != 0,
            });
        }
    }
    while !rest.0.is_empty() {
        let signature = rest.take(4)?;
        let length = usize::try_from(rest.number()?).ok()?;
        let content = rest.take(length)?;
        // The tree of the whole index comes first: an empty name, and the number of its entries, -1 if it is out of date.
        if signature == b"TREE" {
            contents.tracking.is_written =
                content.first() == Some(&0) && content.get(1).is_some_and(u8::is_ascii_digit);
        }
        if signature == b"link" {
            let base = content.get(..hash)?;
            let is_there = base.iter().any(|byte| *byte != 0);
            contents.base = is_there.then(|| base.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    Some(contents)
}

/// Bytes that are still to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// A number of seven bits a byte, as git writes offsets.
    fn offset(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
            if byte & 128 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }

    /// The bytes before the next zero; the zero is read, too.
    fn until_zero(&mut self) -> Option<&'a [u8]> {
        let length = self.0.iter().position(|byte| *byte == 0)?;
        let taken = self.take(length)?;
        self.take(1)?;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::gitlinks;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    fn git(folder: &Path, words: &str) {
        let mut command = Command::new("git");
        command.current_dir(folder).args(words.split(' '));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", folder);
        assert!(command.output().unwrap().status.success(), "git {words}");
    }

    #[test]
    fn submodules_are_found_in_every_version_of_an_index() {
        for format in ["sha1", "sha256"] {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path();
            git(top, &format!("init -q --object-format={format} ."));
            assert_eq!(gitlinks(&top.join(".git")), Some(Vec::new()));
            for at in 0..40 {
                std::fs::write(top.join(format!("file-{}", "x".repeat(at))), "x").unwrap();
            }
            git(top, "add .");
            assert_eq!(gitlinks(&top.join(".git")), Some(Vec::new()));
            let object = "1".repeat(if format == "sha1" { 40 } else { 64 });
            for path in ["a/sub", "file-xx.sub", "z"] {
                git(top, &format!("update-index --add --cacheinfo 160000,{object},{path}"));
            }
            let wanted: Vec<PathBuf> = ["a/sub", "file-xx.sub", "z"].map(PathBuf::from).into();
            for change in [
                "update-index --index-version 2",
                "update-index --index-version 4",
                "update-index --index-version 3",
                "add -N --refresh .",
                "update-index --skip-worktree file-x",
                "update-index --untracked-cache",
                "update-index --split-index",
            ] {
                git(top, change);
                assert_eq!(gitlinks(&top.join(".git")), Some(wanted.clone()), "{format}, {change}");
            }
        }
    }

    #[test]
    fn what_is_no_index_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        for content in ["", "DIRC", "DIRC\0\0\0\u{2}\0\0\0\u{9}", &"x".repeat(200)] {
            std::fs::write(folder.path().join("index"), content).unwrap();
            assert_eq!(gitlinks(folder.path()), None, "{content:?}");
        }
    }
}
