//! Files as a traced process sees them, from its own root and folder.

use std::fs::Metadata;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

/// What is read of an argument list.
const MAX_COMMAND_LINE_BYTES: u64 = 256 << 10;

/// Most argument lists are shorter.
const EXPECTED_COMMAND_LINE_BYTES: usize = 1024;

/// A process or thread, by its folder in `/proc`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(pub(super) u32);

/// A file that was found.
#[derive(Debug)]
pub(super) struct FoundFile {
    pub(super) metadata: Metadata,
    /// The path by which it was named, without the links in it.
    pub(super) path: PathBuf,
    /// The file itself, held by a descriptor.
    _held: Option<OwnedFd>,
    /// A path that opens this file and no other, as long as this is held.
    pub(super) opener: PathBuf,
}

impl Place {
    fn file(self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.0))
    }

    /// The program that it runs: what the kernel has loaded, whatever a path says. `None`: the kernel doesn't tell us, because
    /// its mode forbids reading it.
    pub(super) fn program(self) -> Option<FoundFile> {
        let opener = self.file("exe");
        let metadata = std::fs::metadata(&opener).ok()?;
        let path = std::fs::read_link(&opener).unwrap_or_default();
        Some(FoundFile { metadata, path, _held: None, opener })
    }

    /// Its argument list, and whether there is more of it.
    pub(super) fn words(self) -> (Vec<String>, bool) {
        use std::io::Read as _;
        // Without room, the file would be read in pieces of 32 bytes first.
        let mut bytes = Vec::with_capacity(EXPECTED_COMMAND_LINE_BYTES);
        let file = std::fs::File::open(self.file("cmdline"));
        let read = file.and_then(|file| file.take(MAX_COMMAND_LINE_BYTES).read_to_end(&mut bytes));
        let is_cut = read.map_or(true, |read| read as u64 == MAX_COMMAND_LINE_BYTES);
        let list = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
        (list.split(|byte| *byte == 0).map(text).collect(), is_cut)
    }

    /// The file that a path leads to from a descriptor of the process, or from its folder. `None`: none that can be found so.
    ///
    /// Links of `/proc` that lead to a descriptor or a process are not followed.
    pub(super) fn find(self, folder: Option<i32>, path: &[u8]) -> Option<FoundFile> {
        let start = || match folder {
            Some(number) => self.file(&format!("fd/{number}")),
            None => self.file("cwd"),
        };
        if path.is_empty() {
            let opener = folder.map(|_| start())?;
            let (metadata, path) = (std::fs::metadata(&opener).ok()?, std::fs::read_link(&opener).ok()?);
            return Some(FoundFile { metadata, path, _held: None, opener });
        }
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let whole =
            if path.is_absolute() { path.to_owned() } else { std::fs::read_link(start()).ok()?.join(path) };
        let inside = whole.strip_prefix("/").unwrap_or(&whole);
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let root =
            rustix::fs::openat(CWD, self.file("root"), flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
        let file = rustix::fs::openat2(&root, inside, flags, Mode::empty(), ResolveFlags::IN_ROOT).ok()?;
        let opener = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let metadata = std::fs::metadata(&opener).ok()?;
        let path = std::fs::read_link(&opener).unwrap_or(whole);
        Some(FoundFile { metadata, path, _held: Some(file), opener })
    }
}

impl FoundFile {
    /// The name of the file without its folder.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().as_bytes();
        text(name.strip_suffix(b" (deleted)").unwrap_or(name))
    }

    /// The program that the kernel starts for a script, with the word behind it, if this is one.
    pub(super) fn interpreter(&self) -> Option<(String, Option<String>)> {
        use std::io::Read as _;
        const FIRST_LINE_BYTES: u64 = 256;
        let mut start = Vec::new();
        std::fs::File::open(&self.opener).ok()?.take(FIRST_LINE_BYTES).read_to_end(&mut start).ok()?;
        let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        let line = text(line);
        let (program, rest) = line.trim().split_once([' ', '\t']).unwrap_or((line.trim(), ""));
        let word = Some(rest.trim()).filter(|word| !word.is_empty()).map(ToOwned::to_owned);
        (!program.is_empty()).then(|| (program.to_owned(), word))
    }
}

/// Bytes as text; those that are none are replaced.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
