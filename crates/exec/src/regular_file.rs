//! Opening files of the state folder. Something else may stand in their place: to open a named pipe is to wait for a writer, and
//! a device may have no end.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a file for reading.
///
/// # Errors
/// When it can't be opened, or isn't a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Without `NONBLOCK` opening waits.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it isn't a regular file")),
    }
}

/// Reads a file of at most so many bytes.
///
/// # Errors
/// As [`open_regular`], and when it is longer.
pub(crate) fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > max_bytes {
        return Err(io::Error::other(format!("it is longer than {max_bytes} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{open_regular, read_regular};

    #[test]
    fn nothing_but_a_short_regular_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        assert_eq!(read_regular(&at("file"), 4).unwrap(), b"text");
        assert!(read_regular(&at("file"), 3).is_err(), "too long");
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("device")).unwrap();
        for name in ["pipe", "device", ".", "missing"] {
            assert!(open_regular(&at(name)).is_err(), "{name}");
        }
    }
}
