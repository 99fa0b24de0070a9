//! The root, and the folders inside it that commands run in.

use std::io;
use std::path::{Path, PathBuf};

use shellgate_policy::paths::resolve;

use crate::{Code, ErrorObject, Hint};

/// A root: an existing folder, with all links resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root(PathBuf);

/// A folder that a command runs in, with all links resolved. It was inside the root when it was checked, unless
/// [`Root::anywhere`] made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkingDirectory {
    path: PathBuf,
    shown: String,
}

impl WorkingDirectory {
    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path relative to the root. `.` is the root.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

impl Root {
    /// The root at `path`.
    ///
    /// # Errors
    /// `config` when it is not a folder.
    pub(crate) fn open(path: &Path) -> Result<Self, ErrorObject> {
        let to_error = |what: &str| {
            ErrorObject::new(Code::Config, format!("the root `{}` {what}", path.display()))
                .token(path.display().to_string())
                .hint(Hint::ExistingRoot)
        };
        let real = path.canonicalize().map_err(|error| to_error(reason(&error)))?;
        if !real.is_dir() {
            return Err(to_error("is not a folder"));
        }
        Ok(Self(real))
    }

    /// The path of the root.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The folder `directory`, relative to the root.
    ///
    /// # Errors
    /// `out_of_scope` when it is outside the root, `invalid_input` when it is not a folder that can be entered.
    pub(crate) fn directory(&self, directory: Option<&str>) -> Result<WorkingDirectory, ErrorObject> {
        // Models send an empty text for fields that they don't use.
        let Some(asked) = directory.filter(|asked| !asked.is_empty()) else {
            return Ok(WorkingDirectory { path: self.0.clone(), shown: ".".to_owned() });
        };
        let invalid = |what: &str| {
            ErrorObject::invalid(format!("`directory` `{asked}` {what}"))
                .token(asked)
                .hint("name an existing folder, relative to the root")
        };
        if asked.contains('\0') {
            return Err(invalid("contains a NUL character"));
        }
        // The check comes first: the error must not tell whether a path outside the root exists.
        self.destination(asked)?;
        let real = self.0.join(expanded(asked)).canonicalize().map_err(|error| invalid(reason(&error)))?;
        if !self.contains(&real) {
            return Err(self.out_of_scope(asked));
        }
        if !real.is_dir() {
            return Err(invalid("is not a folder"));
        }
        if rustix::fs::access(&real, rustix::fs::Access::EXEC_OK).is_err() {
            return Err(invalid("can't be entered: permission denied"));
        }
        let shown = real.strip_prefix(&self.0).unwrap_or(&real).display().to_string();
        Ok(WorkingDirectory { path: real, shown: if shown.is_empty() { ".".to_owned() } else { shown } })
    }

    /// A folder that a process already runs in, inside or outside the root.
    pub(crate) fn anywhere(&self, path: &Path) -> WorkingDirectory {
        let shown = path.strip_prefix(&self.0).unwrap_or(path).display().to_string();
        WorkingDirectory {
            path: path.to_owned(),
            shown: if shown.is_empty() { ".".to_owned() } else { shown },
        }
    }

    /// The path that `asked` leads to from the root, with links resolved. It need not exist.
    ///
    /// # Errors
    /// `out_of_scope` when that is outside the root.
    pub(crate) fn destination(&self, asked: &str) -> Result<PathBuf, ErrorObject> {
        let joined = self.0.join(expanded(asked));
        let place = destination(&joined);
        if self.contains(&place) { Ok(place) } else { Err(self.out_of_scope(asked)) }
    }

    /// Checks that `path`, with links resolved, is inside the root. `asked` is the path in the caller's words, for the error.
    ///
    /// # Errors
    /// `out_of_scope` when it is outside.
    pub(crate) fn check(&self, asked: &str, path: &Path) -> Result<(), ErrorObject> {
        if self.contains(&destination(path)) { Ok(()) } else { Err(self.out_of_scope(asked)) }
    }

    fn contains(&self, path: &Path) -> bool {
        path.starts_with(&self.0)
    }

    pub(crate) fn out_of_scope(&self, asked: &str) -> ErrorObject {
        let message = format!(
            "Working directory mismatch: \"{asked}\" is outside the trusted working directory \"{}\"",
            self.0.display()
        );
        ErrorObject::new(Code::OutOfScope, message).token(asked).hint(Hint::PathInsideRoot)
    }
}

/// Replaces `~` by the user's home folder, as a shell does.
fn expanded(asked: &str) -> PathBuf {
    let home = || std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    match asked.strip_prefix('~') {
        Some("") => home(),
        Some(rest) if rest.starts_with('/') => home().join(rest.trim_start_matches('/')),
        _ => PathBuf::from(asked),
    }
}

/// The path that `path` leads to, with links resolved. It need not exist. A path with too many links can't be opened. It
/// counts as inside if its last link is, and opening it reports the error.
fn destination(path: &Path) -> PathBuf {
    resolve(path).unwrap_or_else(|error| error.at)
}

fn reason(error: &io::Error) -> &'static str {
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return "is a link that leads to itself";
    }
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist",
        io::ErrorKind::PermissionDenied => "can't be reached: permission denied",
        io::ErrorKind::NotADirectory => "leads through a file",
        io::ErrorKind::InvalidFilename => "is too long a name",
        _ => "can't be resolved",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folders_resolve_or_say_why_not() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("root");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::create_dir_all(base.path().join("rootless")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        for (to, name) in [
            ("a", "in"),
            ("..", "out"),
            ("nowhere", "dangling"),
            ("loop", "loop"),
            ("/nowhere", "gone"),
            ("in/../gone", "far"),
        ] {
            symlink(to, root.join(name)).unwrap();
        }
        let root = Root::open(&root).unwrap();
        let absolute = root.path().join("a").display().to_string();
        let cases = [
            (None, "."),
            (Some("."), "."),
            (Some("a/b"), "a/b"),
            (Some("a/../a/b/.."), "a"),
            (Some("in/b"), "a/b"),
            (Some(absolute.as_str()), "a"),
            (Some("file"), "invalid_input: invalid input: `directory` `file` is not a folder"),
            (Some("file/x"), "invalid_input: invalid input: `directory` `file/x` leads through a file"),
            (Some("nope"), "invalid_input: invalid input: `directory` `nope` does not exist"),
            (Some("dangling"), "invalid_input: invalid input: `directory` `dangling` does not exist"),
            (Some("loop"), "invalid_input: invalid input: `directory` `loop` is a link that leads to itself"),
            (Some(""), "."),
            (
                Some("out"),
                r#"out_of_scope: Working directory mismatch: "out" is outside the trusted working directory "ROOT""#,
            ),
            (
                Some(".."),
                r#"out_of_scope: Working directory mismatch: ".." is outside the trusted working directory "ROOT""#,
            ),
            (
                Some("../rootless"),
                r#"out_of_scope: Working directory mismatch: "../rootless" is outside the trusted working directory "ROOT""#,
            ),
            (
                Some("../nope"),
                r#"out_of_scope: Working directory mismatch: "../nope" is outside the trusted working directory "ROOT""#,
            ),
            // The error must not tell whether the target exists: a link could be used to explore files outside.
            (
                Some("gone"),
                r#"out_of_scope: Working directory mismatch: "gone" is outside the trusted working directory "ROOT""#,
            ),
            (
                Some("gone/x/.."),
                r#"out_of_scope: Working directory mismatch: "gone/x/.." is outside the trusted working directory "ROOT""#,
            ),
            (
                Some("far/x"),
                r#"out_of_scope: Working directory mismatch: "far/x" is outside the trusted working directory "ROOT""#,
            ),
            (
                Some("nope/../../x"),
                r#"out_of_scope: Working directory mismatch: "nope/../../x" is outside the trusted working directory "ROOT""#,
            ),
            (
                Some("/etc"),
                r#"out_of_scope: Working directory mismatch: "/etc" is outside the trusted working directory "ROOT""#,
            ),
            (
                Some("/proc/self/root"),
                r#"out_of_scope: Working directory mismatch: "/proc/self/root" is outside the trusted working directory "ROOT""#,
            ),
        ];
        for (asked, wanted) in cases {
            let seen = match root.directory(asked) {
                Ok(inside) => inside.shown().to_owned(),
                Err(error) => format!("{}: {}", error.code, error.message),
            };
            assert_eq!(seen.replace(&root.path().display().to_string(), "ROOT"), wanted, "{asked:?}");
        }
    }

    #[test]
    fn a_root_that_is_no_folder_is_a_settings_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path(), Path::new("/nonexistent/x")] {
            assert_eq!(Root::open(path).unwrap_err().code, Code::Config);
        }
    }
}
