//! Finds programs and the shell.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

/// The shell that runs commands. It is found on PATH, and reads no login or start-up files.
pub(crate) const SHELL: &str = "bash";

/// The arguments that make the shell run `text`. `--` keeps a text that begins with `-` from being read as an option.
pub(crate) fn arguments(text: &str) -> Vec<OsString> {
    let end_of_options = text.starts_with(['-', '+']).then_some("--");
    [SHELL, "-c"].into_iter().chain(end_of_options).chain([text]).map(OsString::from).collect()
}

/// Why a program can't be run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// It was not found.
    Nowhere,
    /// It was found, but is not executable.
    NotExecutable(PathBuf),
}

/// Finds `name` as a shell does. A name with a slash is a path relative to `directory`. Other names are searched in the
/// folders of `path`. Its empty entries, which mean the current folder, are skipped: programs there are not trusted.
pub(crate) fn find(name: &str, path: Option<&OsStr>, directory: &Path) -> Result<PathBuf, NotFound> {
    if name.contains('/') {
        let path = directory.join(name);
        return match check(&path) {
            Ok(()) => Ok(path),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(NotFound::NotExecutable(path))
            }
            Err(_) => Err(NotFound::Nowhere),
        };
    }
    let mut refused = None;
    let folders = path.map(OsStr::as_bytes).unwrap_or_default().split(|byte| *byte == b':');
    for folder in
        folders.map(|bytes| Path::new(OsStr::from_bytes(bytes))).filter(|folder| folder.is_absolute())
    {
        let candidate = folder.join(name);
        match check(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                refused = refused.or(Some(candidate))
            }
            Err(_) => {}
        }
    }
    Err(refused.map_or(NotFound::Nowhere, NotFound::NotExecutable))
}

/// Whether a program that was found before can still be executed.
pub(crate) fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// Whether this process may execute the file `path`. A folder is not executable.
fn check(path: &Path) -> io::Result<()> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(rustix::fs::access(path, Access::EXEC_OK)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, mode| {
            let path = folder.path().join(name);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let (good, bad) = (file("good", 0o755), file("bad", 0o644));
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let path = OsString::from(format!(":.:/nonexistent:{}", folder.path().display()));
        let find = |name: &str| find(name, Some(&path), folder.path());
        assert_eq!(find("good"), Ok(good.clone()));
        assert_eq!(find("./good"), Ok(folder.path().join("./good")));
        assert_eq!(find(good.to_str().unwrap()), Ok(good));
        assert_eq!(find("bad"), Err(NotFound::NotExecutable(bad)));
        assert_eq!(find("folder"), Err(NotFound::NotExecutable(folder.path().join("folder"))));
        assert_eq!(find("none"), Err(NotFound::Nowhere));
        assert_eq!(find("./none"), Err(NotFound::Nowhere));
        assert_eq!(super::find("good", None, folder.path()), Err(NotFound::Nowhere));
    }
}
