//! Which names can't be made, renamed or replaced, whether they exist or not.
//!
//! A name is compared by the path of its folder, which the kernel tells for the descriptor that will be used, and never by
//! the text that a command gave.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::confinement::Protected;

/// What a name has to do with protected ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing.
    Free,
    /// It is a folder above a protected name, or would be one.
    Above,
    /// It is protected, or lies in a protected folder.
    Protected,
}

/// How the names of git's lock files end.
const LOCK_ENDING: &[u8] = b".lock";

/// The protected names of a confinement.
#[derive(Debug)]
pub(super) struct Protections {
    roots: Vec<Root>,
}

#[derive(Debug)]
struct Root {
    folder: OwnedFd,
    /// Paths below it, as patterns for each component.
    paths: Vec<Vec<Vec<u8>>>,
}

impl Protections {
    /// Looks up the roots. One that doesn't exist can't be made either: it would have to lie in another writable folder,
    /// whose own protection covers it.
    pub(super) fn new(protected: &[Protected]) -> Self {
        let mut by_root: Vec<(&PathBuf, Vec<Vec<Vec<u8>>>)> = Vec::new();
        for Protected { root, path } in protected {
            let path = path.iter().map(|component| component.as_bytes().to_vec()).collect();
            match by_root.iter_mut().find(|(known, _)| *known == root) {
                Some((_, paths)) => paths.push(path),
                None => by_root.push((root, vec![path])),
            }
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |(root, paths): (&PathBuf, _)| {
            Some(Root { folder: rustix::fs::open(root, flags, Mode::empty()).ok()?, paths })
        };
        Self { roots: by_root.into_iter().filter_map(open).collect() }
    }

    /// What `name` in `folder` has to do with protected names, and its path.
    pub(super) fn standing(
        &self,
        proc: BorrowedFd<'_>,
        folder: BorrowedFd<'_>,
        name: &[u8],
    ) -> Result<(Standing, Vec<u8>), Errno> {
        // These are no names: the kernel makes nothing by them.
        if self.roots.is_empty() || name == b"." || name == b".." {
            return Ok((Standing::Free, Vec::new()));
        }
        let mut whole = path_of(proc, folder)?;
        if whole.last() != Some(&b'/') {
            whole.push(b'/');
        }
        whole.extend_from_slice(name);
        self.path_standing(proc, whole)
    }

    /// What an absolute path has to do with protected names.
    pub(super) fn path_standing(
        &self,
        proc: BorrowedFd<'_>,
        whole: Vec<u8>,
    ) -> Result<(Standing, Vec<u8>), Errno> {
        let mut standing = Standing::Free;
        for root in &self.roots {
            // The root may have been renamed from outside.
            match root.standing(&path_of(proc, std::os::fd::AsFd::as_fd(&root.folder))?, &whole) {
                Standing::Free => {}
                Standing::Above => standing = Standing::Above,
                Standing::Protected => return Ok((Standing::Protected, whole)),
            }
        }
        Ok((standing, whole))
    }
}

impl Protections {
    /// How much of a path that is refused has to be granted: up to the end of the outermost protected place that it is in.
    pub(super) fn protected_length(&self, proc: BorrowedFd<'_>, whole: &[u8]) -> usize {
        let lengths = self.roots.iter().filter_map(|root| {
            root.protected_length(&path_of(proc, std::os::fd::AsFd::as_fd(&root.folder)).ok()?, whole)
        });
        lengths.min().unwrap_or(whole.len())
    }
}

impl Root {
    /// How much of a path is the name of a protected place.
    fn protected_length(&self, root: &[u8], whole: &[u8]) -> Option<usize> {
        let relative = below(root, whole)?;
        let names: Vec<&[u8]> = relative.split(|byte| *byte == b'/').collect();
        let covers = |path: &&Vec<Vec<u8>>| {
            let same = |(pattern, name): (&Vec<u8>, &&[u8])| Protected::is_name(pattern, name);
            path.len() <= names.len() && path.iter().zip(&names).all(same)
        };
        let length = |path: &Vec<Vec<u8>>| {
            let place = names.iter().take(path.len()).map(|name| name.len() + 1).sum::<usize>() - 1;
            let length = whole.len() - relative.len() + place;
            // Git makes a file with this ending first, and renames it to the file that it writes.
            let is_lock = path.len() == names.len() && whole.ends_with(LOCK_ENDING);
            if is_lock { length - LOCK_ENDING.len() } else { length }
        };
        self.paths.iter().filter(covers).map(length).min()
    }

    fn standing(&self, root: &[u8], whole: &[u8]) -> Standing {
        if is_within(root, whole) {
            return Standing::Above;
        }
        let Some(relative) = below(root, whole) else { return Standing::Free };
        let names: Vec<&[u8]> = relative.split(|byte| *byte == b'/').collect();
        let mut standing = Standing::Free;
        for path in &self.paths {
            if path.iter().zip(&names).all(|(pattern, name)| Protected::is_name(pattern, name)) {
                match names.len() < path.len() {
                    true => standing = Standing::Above,
                    false => return Standing::Protected,
                }
            }
        }
        standing
    }
}

/// Whether `path` is `folder` or lies in it.
fn is_within(path: &[u8], folder: &[u8]) -> bool {
    path == folder || below(folder, path).is_some()
}

/// The rest of `path`, if it lies in `folder`.
fn below<'a>(folder: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
    match folder {
        b"/" => path.strip_prefix(b"/"),
        _ => path.strip_prefix(folder)?.strip_prefix(b"/"),
    }
}

/// The path of an open file, in the view of the launcher.
pub(super) fn path_of(proc: BorrowedFd<'_>, file: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
    let link = own_link(file);
    // A path that is too long for the kernel to tell is refused.
    let path = rustix::fs::readlinkat(proc, &link, Vec::new()).map_err(|_| Errno::ACCESS)?;
    Ok(path.into_bytes())
}

/// The path of our own descriptor, relative to the machine's `/proc`.
pub(super) fn own_link(file: BorrowedFd<'_>) -> String {
    format!("self/fd/{}", file.as_raw_fd())
}

/// Bytes as a path.
pub(super) fn as_path(bytes: &[u8]) -> PathBuf {
    OsStr::from_bytes(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_protected_or_above_protected_ones() {
        let folder = rustix::fs::open("/", OFlags::PATH, Mode::empty()).unwrap();
        let paths = [".git/config*", ".git/hooks", ".git/modules/*/config", ".vscode"];
        let split = |path: &str| path.split('/').map(|part| part.as_bytes().to_vec()).collect();
        let root = Root { folder, paths: paths.map(split).to_vec() };
        let standing = |path: &str| root.standing(b"/w/r", path.as_bytes());
        for path in [
            "/w/r/.git/config",
            "/w/r/.git/config.worktree",
            "/w/r/.GIT/Config",
            "/w/r/.git/hooks/pre-commit",
            "/w/r/.git/modules/x/config",
            "/w/r/.vscode",
            "/w/r/.vscode/a/b",
        ] {
            assert_eq!(standing(path), Standing::Protected, "{path}");
        }
        for path in ["/", "/w", "/w/r", "/w/r/.git", "/w/r/.git/modules", "/w/r/.git/modules/x"] {
            assert_eq!(standing(path), Standing::Above, "{path}");
        }
        for path in
            ["/w/r/a", "/w/r/sub/.git/config", "/w/r/.git/index", "/w/r2/.git", "/x", "/w/r/.git/modules/x/y"]
        {
            assert_eq!(standing(path), Standing::Free, "{path}");
        }
        for (path, granted) in [
            ("/w/r/.git/config", "/w/r/.git/config"),
            ("/w/r/.git/config.lock", "/w/r/.git/config"),
            ("/w/r/.git/hooks/a/b.lock", "/w/r/.git/hooks"),
            ("/w/r/.git/modules/x/config", "/w/r/.git/modules/x/config"),
        ] {
            assert_eq!(root.protected_length(b"/w/r", path.as_bytes()), Some(granted.len()), "{path}");
        }
        assert_eq!(root.protected_length(b"/w/r", b"/w/r/.git"), None);
    }
}
