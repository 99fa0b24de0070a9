//! Further names of a place: the same folder or file by another mount.
//!
//! A cover lies over one name. Where the file system of a home folder, or a part of it, is mounted in a second place, the
//! covered files have a name there, too.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::error::{ConfineError, Context as _, Mechanism};
use crate::confinement::Confinement;

/// What a file is: its device and number.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(path: &Path) -> Option<Identity> {
    rustix::fs::lstat(path).ok().map(|stat| (stat.st_dev, stat.st_ino))
}

/// The names that unreadable places have by other mounts, with what they are. One that a writable place lies in, or is, stays.
pub(super) fn of_unreadable(
    confinement: &Confinement,
    proc: BorrowedFd<'_>,
) -> Result<Vec<(PathBuf, Identity)>, ConfineError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut text = Vec::new();
    rustix::fs::openat(proc, "self/mountinfo", flags, Mode::empty())
        .map_err(Into::into)
        .and_then(|file| std::fs::File::from(file).read_to_end(&mut text))
        .context(Mechanism::Mounts, "reading which there are")?;
    let aliases = Aliases::of(&text);
    let existing = confinement.unreadable.iter().filter(|path| identity(path).is_some());
    let names = existing.flat_map(|path| aliases.names(path));
    let same = names.filter_map(|(name, own)| {
        let found = identity(&name)?;
        (Some(found) == identity(&own)).then_some((name, found))
    });
    let is_open = |name: &PathBuf| confinement.writable.iter().any(|writable| writable.starts_with(name));
    Ok(same.filter(|(name, _)| !is_open(name) && !confinement.unreadable.contains(name)).collect())
}

/// A mount, as `/proc/self/mountinfo` describes it.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The file system's device number, `major:minor`.
    device: String,
    /// What of the file system is mounted.
    root: PathBuf,
    /// Where.
    place: PathBuf,
}

/// The mounts of which others show the same file system.
#[derive(Debug, Default)]
struct Aliases(Vec<Mount>);

impl Aliases {
    /// Those of the text of `/proc/self/mountinfo`.
    fn of(text: &[u8]) -> Self {
        let all: Vec<Mount> = text.split(|byte| *byte == b'\n').filter_map(parse).collect();
        let mut times: HashMap<String, u32> = HashMap::new();
        all.iter().for_each(|mount| *times.entry(mount.device.clone()).or_default() += 1);
        Self(
            all.into_iter()
                .filter(|mount| times.get(&mount.device).is_some_and(|times| *times > 1))
                .collect(),
        )
    }

    /// Other names that `path`, or a part of it, may have, each with the name below `path`. What is there may be something else:
    /// a later mount can cover it.
    fn names(&self, path: &Path) -> Vec<(PathBuf, PathBuf)> {
        // The last one of those in the same place is on top.
        let holders = self.0.iter().filter(|mount| path.starts_with(&mount.place));
        let Some(holder) = holders.max_by_key(|mount| mount.place.components().count()) else {
            return Vec::new();
        };
        let Ok(below) = path.strip_prefix(&holder.place) else { return Vec::new() };
        let inside = holder.root.join(below);
        let others =
            self.0.iter().filter(|other| !std::ptr::eq(*other, holder) && other.device == holder.device);
        let name = |other: &Mount| match (inside.strip_prefix(&other.root), other.root.strip_prefix(&inside))
        {
            (Ok(below), _) => Some((joined(&other.place, below), path.to_owned())),
            (Err(_), Ok(part)) => Some((other.place.clone(), joined(path, part))),
            (Err(_), Err(_)) => None,
        };
        others.filter_map(name).filter(|(name, own)| name != own).collect()
    }
}

/// Without a slash at the end, which makes a link a folder.
fn joined(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { folder.to_owned() } else { folder.join(below) }
}

/// Reads a line.
fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let device = String::from_utf8(fields.next()?.to_vec()).ok()?;
    Some(Mount { device, root: unescaped(fields.next()?), place: unescaped(fields.next()?) })
}

/// The kernel writes blanks and the like as a backslash and three digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "21 1 254:0 / / rw - ext4 /dev/vda rw\n\
                          22 21 0:20 / /proc rw - proc proc rw\n\
                          23 21 254:1 / /home rw - ext4 /dev/vdb rw\n\
                          24 21 254:1 /u /mnt/a\\040b rw - ext4 /dev/vdb rw\n\
                          25 21 254:1 /u/.ssh/keys /keys rw - ext4 /dev/vdb rw\n\
                          26 21 254:1 /other /mnt/other rw - ext4 /dev/vdb rw\n";

    #[test]
    fn a_place_has_a_name_by_each_mount_that_shows_it() {
        let aliases = Aliases::of(MOUNTS.as_bytes());
        let names = |path: &str| aliases.names(Path::new(path));
        let pairs = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, own)| (PathBuf::from(name), PathBuf::from(own))).collect::<Vec<_>>()
        };
        assert_eq!(
            names("/home/u/.ssh"),
            pairs(&[("/mnt/a b/.ssh", "/home/u/.ssh"), ("/keys", "/home/u/.ssh/keys")])
        );
        assert_eq!(names("/mnt/a b/.netrc"), pairs(&[("/home/u/.netrc", "/mnt/a b/.netrc")]));
        assert_eq!(names("/home/u"), pairs(&[("/mnt/a b", "/home/u"), ("/keys", "/home/u/.ssh/keys")]));
        assert_eq!(names("/home/v/.ssh"), pairs(&[]));
        assert_eq!(names("/etc/shadow"), pairs(&[]), "no other mount shows that file system");
        assert_eq!(names("/keys/a").len(), 2);
    }
}
