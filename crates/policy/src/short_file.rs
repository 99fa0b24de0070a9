//! Files on disk that the judge reads: settings of git, indexes, patches.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// The content of a file. `None`: it is longer than `max_bytes`, no plain file, or can't be read.
pub(crate) fn read(file: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    // Opening a pipe would wait for its writer, so the file is looked at before it is opened.
    let is_short = |data: fs::Metadata| data.is_file() && data.len() <= max_bytes;
    fs::metadata(file).is_ok_and(is_short).then_some(())?;
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(max_bytes + 1).read_to_end(&mut bytes).ok()?;
    (u64::try_from(bytes.len()).ok()? <= max_bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_short_plain_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, pipe) = (folder.path().join("plain"), folder.path().join("pipe"));
        std::fs::write(&plain, "abc").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read(&plain, 3), Some(b"abc".to_vec()));
        assert_eq!(read(&plain, 2), None, "it is too long");
        assert_eq!(read(&pipe, 3), None, "no process writes to it");
        assert_eq!(read(folder.path(), 3), None);
        assert_eq!(read(&folder.path().join("missing"), 3), None);
    }
}
