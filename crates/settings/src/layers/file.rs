//! Opens a settings file without blocking, and only if other users can't have written it.
//!
//! All checks use the opened descriptor, never the path again, so the file that is read is the one that was checked.

use std::{fs::File, io::Read as _, path::Path};

use rustix::{
    fs::{FileType, Mode, OFlags, fstat, open},
    io::Errno,
    process::geteuid,
};

use super::{private_group, text::Text};
use crate::{At, Problem, SettingsError};

/// Larger files are refused.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 20;

/// Which settings file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A file in a standard place. It need not exist.
    Standard,
    /// The project's file. It need not exist, and any user may own it: a checkout often belongs to another user (the root
    /// user of a container works on files of the host's user). Without trust the file can't loosen anything, and trust
    /// covers its exact content. Other users may not write it either; a group that has only its owner in it may.
    Project,
    /// A file named with `--config`. It must exist.
    Named,
}

/// Reads a settings file as text. `None`: it doesn't exist, and need not.
pub(super) fn read_text(path: &Path, place: Place) -> Result<Option<Text>, SettingsError> {
    read_bytes(path, place)?.map(|bytes| Text::new(path, bytes)).transpose()
}

/// Reads the bytes of a settings file. `None`: it doesn't exist, and need not.
pub(super) fn read_bytes(path: &Path, place: Place) -> Result<Option<Vec<u8>>, SettingsError> {
    let fail = |problem| Err(SettingsError::new(At::File(path.into()), problem));
    let unreadable = |error: std::io::Error| Problem::Unreadable { reason: error.to_string() };
    // Without NONBLOCK, opening a named pipe would block until it has a writer.
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
    let group_is_private =
        || private_group::is_private(stat.st_uid, stat.st_gid) && !private_group::has_access_list(&file);
    if stat.st_mode & 0o002 != 0 || (stat.st_mode & 0o020 != 0 && !group_is_private()) {
        return fail(Problem::OthersMayWrite { mode: stat.st_mode & 0o7777 });
    }
    let me = geteuid().as_raw();
    if place != Place::Project && stat.st_uid != me && stat.st_uid != 0 {
        return fail(Problem::Owner { owner: stat.st_uid, me });
    }
    let mut bytes = Vec::new();
    if let Err(error) = File::from(file).take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes) {
        return fail(unreadable(error));
    }
    // The size from `fstat` isn't enough: the file may grow while it is read.
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return fail(Problem::TooLarge { most: MAX_FILE_BYTES });
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
