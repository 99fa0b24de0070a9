//! Resolving the paths of commands.
//!
//! The kernel resolves what it can in one call, in the broker's own view, which is the launcher's. Two things mean
//! something else for a command than for the broker: `/proc/self`, because the broker isn't in the pod's process
//! namespace, and links of `/proc` that lead to open files. Paths with those are walked name by name.
//!
//! The result is always a descriptor. What was checked and what is used are the same, whatever is renamed meanwhile.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::privilege::with_access;
use super::protections::path_of;
use super::target::{Folder, Target};

/// The kernel follows no more links in one path.
pub(super) const MAX_LINKS: u32 = 40;

/// The number of the root folder of every `/proc`.
const PROC_ROOT_INODE: u64 = 1;

const PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// The folder of a path, and its last component with the slashes behind it. The component may be `.` or `..`.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) folder: Folder<'a>,
    pub(super) name: CString,
}

impl Place<'_> {
    /// The last component without slashes behind it.
    pub(super) fn bare_name(&self) -> &[u8] {
        let name = self.name.to_bytes();
        let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        name.get(..end).unwrap_or_default()
    }

    /// The type of what has this name, without following a link.
    pub(super) fn file_type(&self) -> Result<FileType, Errno> {
        let bare = CString::new(self.bare_name()).map_err(|_| Errno::INVAL)?;
        let stat = rustix::fs::statat(&self.folder, &bare, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }
}

/// What is at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The folder of a longer path.
    Folder,
    /// What the whole path names.
    File,
}

/// Where a link leads.
pub(super) enum Link {
    /// To this path, relative to the folder that the link is in.
    Path(Vec<u8>),
    /// To this file, which may have no path.
    File(OwnedFd),
}

/// Resolves paths as one thread sees them.
pub(super) struct Walk<'a> {
    pub(super) target: &'a Target<'a>,
    /// The root folder of all commands of the launcher.
    pub(super) root: BorrowedFd<'a>,
    /// The machine's `/proc`.
    pub(super) proc: BorrowedFd<'a>,
}

impl<'w> Walk<'w> {
    /// The folder that `path` starts in, if it is relative to the descriptor `number`.
    pub(super) fn start(&self, number: i32, path: &CStr) -> Result<Folder<'w>, Errno> {
        if is_absolute(path.to_bytes()) {
            return Ok(Folder::Borrowed(self.root));
        }
        self.target.folder(number)
    }

    /// The folder and the last component of `path`.
    pub(super) fn place<'a>(&self, start: Folder<'a>, path: &[u8]) -> Result<Place<'a>, Errno> {
        let (folder, name) = split(path);
        let folder = match folder {
            [] => start,
            _ => Folder::Owned(self.folder(start.as_fd(), folder)?),
        };
        Ok(Place { folder, name: c_string(name)? })
    }

    fn folder(&self, start: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = PATH | OFlags::DIRECTORY;
        let resolve = ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(start, &*c_string(path)?, flags, Mode::empty(), resolve) {
            Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS) => self.walk(start, path, End::Folder),
            result => result,
        }
    }

    /// What `path` leads to, links followed.
    pub(super) fn file(&self, start: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
        match rustix::fs::openat2(start, &*c_string(path)?, PATH, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
        {
            Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS) => self.walk(start, path, End::File),
            result => result,
        }
    }

    /// What the path of a socket leads to. Every bash looks for one that rarely exists, so a path that doesn't name `/proc`
    /// itself is not walked name by name.
    pub(super) fn socket(&self, start: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(start, &*c_string(path)?, PATH, Mode::empty(), resolve) {
            Err(_) if path.windows(4).any(|part| part == b"proc") => self.walk(start, path, End::File),
            result => result,
        }
    }

    /// Resolves a path name by name.
    fn walk(&self, start: BorrowedFd<'_>, path: &[u8], end: End) -> Result<OwnedFd, Errno> {
        let mut links = 0;
        let mut here = rustix::io::fcntl_dupfd_cloexec(start, 3)?;
        let mut rest = path.to_vec();
        if is_absolute(&rest) {
            here = rustix::io::fcntl_dupfd_cloexec(self.root, 3)?;
        }
        loop {
            let (name, after) = take_component(&rest);
            if name.is_empty() {
                break;
            }
            let component = c_string(name)?;
            if name == b"." || name == b".." {
                here = rustix::fs::openat(&here, &*component, PATH | OFlags::DIRECTORY, Mode::empty())?;
                rest = after.to_vec();
                continue;
            }
            let next = rustix::fs::openat(&here, &*component, PATH | OFlags::NOFOLLOW, Mode::empty())?;
            if FileType::from_raw_mode(rustix::fs::fstat(&next)?.st_mode) != FileType::Symlink {
                here = next;
                rest = after.to_vec();
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(Errno::LOOP);
            }
            if end == End::File && after.iter().all(|byte| *byte == b'/') {
                may_follow(here.as_fd(), &component)?;
            }
            match self.link(here.as_fd(), &component)? {
                Link::File(file) => {
                    here = file;
                    rest = after.to_vec();
                }
                Link::Path(text) => {
                    if is_absolute(&text) {
                        here = rustix::io::fcntl_dupfd_cloexec(self.root, 3)?;
                    }
                    rest = [text.as_slice(), b"/", after].concat();
                }
            }
        }
        let is_folder = end == End::Folder || path.last() == Some(&b'/');
        if is_folder && FileType::from_raw_mode(rustix::fs::fstat(&here)?.st_mode) != FileType::Directory {
            return Err(Errno::NOTDIR);
        }
        Ok(here)
    }

    /// Whether a folder in `/proc` is about the thread's own process.
    fn is_own(&self, folder: BorrowedFd<'_>) -> Result<bool, Errno> {
        let path = path_of(self.proc, folder)?;
        let own = self.target.ids()?.process.to_string();
        Ok(path
            .strip_prefix(b"/proc/")
            .is_some_and(|rest| rest.split(|byte| *byte == b'/').next() == Some(own.as_bytes())))
    }

    /// Where the link `name` in `folder` leads the thread.
    pub(super) fn link(&self, folder: BorrowedFd<'_>, name: &CStr) -> Result<Link, Errno> {
        if is_proc(folder)? {
            let ids = || self.target.ids();
            if rustix::fs::fstat(folder)?.st_ino == PROC_ROOT_INODE {
                match name.to_bytes() {
                    b"self" => return Ok(Link::Path(ids()?.process.to_string().into_bytes())),
                    b"thread-self" => {
                        let ids = ids()?;
                        return Ok(Link::Path(format!("{}/task/{}", ids.process, ids.thread).into_bytes()));
                    }
                    _ => {}
                }
            }
            let probe =
                rustix::fs::openat2(folder, name, PATH, Mode::empty(), ResolveFlags::NO_MAGICLINKS).err();
            if matches!(probe, Some(Errno::LOOP | Errno::ACCESS)) {
                let open = || rustix::fs::openat(folder, name, PATH, Mode::empty());
                // A process may always follow its own links, also when it hides its memory.
                let file = if self.is_own(folder)? { with_access(open) } else { open() };
                return file.map(Link::File);
            }
        }
        rustix::fs::readlinkat(folder, name, Vec::new()).map(|text| Link::Path(text.into_bytes()))
    }
}

/// Fails where the kernel forbids to follow a link at the end of a path: one of another user in a folder like `/tmp`, if
/// `fs.protected_symlinks` is on.
pub(super) fn may_follow(folder: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    if rustix::fs::fstat(folder)?.st_mode & libc::S_ISVTX == 0 {
        return Ok(());
    }
    match rustix::fs::openat2(folder, name, PATH, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
        Err(Errno::ACCESS) => Err(Errno::ACCESS),
        _ => Ok(()),
    }
}

fn is_proc(folder: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(rustix::fs::fstatfs(folder)?.f_type == libc::PROC_SUPER_MAGIC)
}

pub(super) fn is_absolute(path: &[u8]) -> bool {
    path.first() == Some(&b'/')
}

pub(super) fn c_string(bytes: &[u8]) -> Result<CString, Errno> {
    CString::new(bytes).map_err(|_| Errno::INVAL)
}

/// The folder part of a path with its slash, and the last component with the slashes behind it.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let Some(last) = path.iter().rposition(|byte| *byte != b'/') else { return (path, b".") };
    let start = path.iter().take(last).rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    path.split_at(start)
}

/// The first component of a path, and what follows it.
fn take_component(path: &[u8]) -> (&[u8], &[u8]) {
    let start = path.iter().position(|byte| *byte != b'/').unwrap_or(path.len());
    let (_, path) = path.split_at(start);
    path.split_at(path.iter().position(|byte| *byte == b'/').unwrap_or(path.len()))
}

#[cfg(test)]
mod tests {
    use super::{split, take_component};

    #[test]
    fn a_path_is_split_before_its_last_component() {
        let parts: [(&str, &str, &str); 8] = [
            ("a", "", "a"),
            ("a/", "", "a/"),
            ("/a", "/", "a"),
            ("a/b", "a/", "b"),
            ("a//b//", "a//", "b//"),
            ("/", "/", "."),
            ("//", "//", "."),
            ("a/..", "a/", ".."),
        ];
        for (path, folder, name) in parts {
            assert_eq!(split(path.as_bytes()), (folder.as_bytes(), name.as_bytes()), "{path}");
        }
        assert_eq!(take_component(b"//a/b"), (&b"a"[..], &b"/b"[..]));
        assert_eq!(take_component(b"/"), (&b""[..], &b""[..]));
    }
}
