//! Opening a settings file without waiting, and only if nobody else could have written it.
//!
//! Everything is checked on the opened file, never by its path again: what is read is what was checked.

use std::{fs::File, io::Read as _, path::Path};

use rustix::{
    fs::{FileType, Mode, OFlags, fstat, open},
    io::Errno,
    process::geteuid,
};

use super::text::Text;
use crate::{At, Problem, SettingsError};

/// No settings are longer than this.
pub(super) const LARGEST: u64 = 1 << 20;

/// What kind of file it is that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// One of the standard places: it need not exist.
    Standard,
    /// The project's: it need not exist, and may be anyone's. A checkout often belongs to another user (a container's
    /// root works on files of the host's user), and without trust the file can't loosen anything; trust is for the
    /// exact content. That others may not write it holds here too.
    Project,
    /// Named by whoever runs us: it must exist.
    Named,
}

/// Reads a settings file; `None` if it need not exist and doesn't.
pub(super) fn read(path: &Path, place: Place) -> Result<Option<Text>, SettingsError> {
    bytes(path, place)?.map(|bytes| Text::new(path, bytes)).transpose()
}

/// The same, to the letter.
pub(super) fn bytes(path: &Path, place: Place) -> Result<Option<Vec<u8>>, SettingsError> {
    let fail = |problem| Err(SettingsError::new(At::File(path.into()), problem));
    let unreadable = |error: std::io::Error| Problem::Unreadable { reason: error.to_string() };
    // Without NONBLOCK, opening a named pipe waits for a writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) if place != Place::Named => return Ok(None),
        Err(Errno::NOENT) => return fail(Problem::Missing),
        Err(Errno::NXIO) => return fail(Problem::NotAFile { found: "a socket" }),
        Err(error) => return fail(unreadable(error.into())),
    };
    let stat = match fstat(&file) {
        Ok(stat) => stat,
        Err(error) => return fail(unreadable(error.into())),
    };
    if let Some(found) = not_a_file(FileType::from_raw_mode(stat.st_mode)) {
        return fail(Problem::NotAFile { found });
    }
    if stat.st_mode & 0o022 != 0 {
        return fail(Problem::OthersMayWrite { mode: stat.st_mode & 0o7777 });
    }
    let me = geteuid().as_raw();
    if place != Place::Project && stat.st_uid != me && stat.st_uid != 0 {
        return fail(Problem::Owner { owner: stat.st_uid, me });
    }
    let mut bytes = Vec::new();
    if let Err(error) = File::from(file).take(LARGEST + 1).read_to_end(&mut bytes) {
        return fail(unreadable(error));
    }
    // Not by the size that the system tells: the file may grow while it is read.
    if bytes.len() as u64 > LARGEST {
        return fail(Problem::TooLarge { most: LARGEST });
    }
    Ok(Some(bytes))
}

fn not_a_file(found: FileType) -> Option<&'static str> {
    match found {
        FileType::RegularFile => None,
        FileType::Directory => Some("a folder"),
        FileType::Fifo => Some("a named pipe"),
        FileType::Socket => Some("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
        _ => Some("something else"),
    }
}
