//! The root that commands run below, and folders in it.

use std::io;
use std::path::{Path, PathBuf};

use crate::{Code, ErrorObject};

/// As many links as the kernel follows before it calls them a loop.
const MOST_LINKS: u32 = 40;

/// A root: an existing folder, all links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root(PathBuf);

/// A folder that was inside its root when we looked, all links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    path: PathBuf,
    shown: String,
}

impl Inside {
    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder relative to the root; `.` is the root.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

impl Root {
    /// The root at `path`.
    ///
    /// # Errors
    /// `config` when it isn't a folder.
    pub(crate) fn open(path: &Path) -> Result<Self, ErrorObject> {
        let trouble = |what: &str| {
            ErrorObject::new(Code::Config, format!("the root `{}` {what}", path.display()))
                .token(path.display().to_string())
                .hint("name an existing folder with `--root`")
        };
        let real = path.canonicalize().map_err(|error| trouble(reason(&error)))?;
        if !real.is_dir() {
            return Err(trouble("is not a folder"));
        }
        Ok(Self(real))
    }

    /// The root itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The folder that `directory` names, from the root.
    ///
    /// # Errors
    /// `out_of_scope` when it lies outside, `invalid_input` when it isn't a folder that can be entered.
    pub(crate) fn directory(&self, directory: Option<&str>) -> Result<Inside, ErrorObject> {
        let Some(asked) = directory else {
            return Ok(Inside { path: self.0.clone(), shown: ".".to_owned() });
        };
        let invalid = |what: &str| {
            ErrorObject::invalid(format!("`directory` `{asked}` {what}"))
                .token(asked)
                .hint("name an existing folder, relative to the root")
        };
        if asked.is_empty() || asked.contains('\0') {
            return Err(invalid("is no folder's name"));
        }
        let joined = self.0.join(asked);
        let real = match joined.canonicalize() {
            Ok(real) => real,
            // What lies outside is not our business, not even whether it exists.
            Err(error) if self.contains(&destination(&joined)) => return Err(invalid(reason(&error))),
            Err(_) => return Err(self.out_of_scope(asked)),
        };
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
        Ok(Inside { path: real, shown: if shown.is_empty() { ".".to_owned() } else { shown } })
    }

    fn contains(&self, path: &Path) -> bool {
        path.starts_with(&self.0)
    }

    fn out_of_scope(&self, asked: &str) -> ErrorObject {
        let message = format!("`directory` `{asked}` is outside the root `{}`", self.0.display());
        ErrorObject::new(Code::OutOfScope, message)
            .token(asked)
            .hint("name a folder inside the root, relative to it, or start shellgate with another `--root`")
    }
}

/// Where `path` leads, as far as that can be seen: links are followed, also those to nowhere.
fn destination(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut path = path.to_owned();
    let mut links = 0;
    let mut reached = loop {
        if let Ok(real) = path.canonicalize() {
            break real;
        }
        let Some(parent) = path.parent() else { break path };
        match path.read_link() {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                path = parent.join(target);
            }
            _ => {
                // The last component is `..` or a name; without either there would be no parent.
                rest.push(path.file_name().map(ToOwned::to_owned));
                path = parent.to_owned();
            }
        }
    };
    for component in rest.into_iter().rev() {
        match component {
            Some(name) => reached.push(name),
            None => drop(reached.pop()),
        }
    }
    reached
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
            (Some(""), "invalid_input: invalid input: `directory` `` is no folder's name"),
            (Some("out"), "out_of_scope: `directory` `out` is outside the root `ROOT`"),
            (Some(".."), "out_of_scope: `directory` `..` is outside the root `ROOT`"),
            (Some("../rootless"), "out_of_scope: `directory` `../rootless` is outside the root `ROOT`"),
            (Some("../nope"), "out_of_scope: `directory` `../nope` is outside the root `ROOT`"),
            // Whether it exists must not show, or a link would be a way to look around outside.
            (Some("gone"), "out_of_scope: `directory` `gone` is outside the root `ROOT`"),
            (Some("gone/x/.."), "out_of_scope: `directory` `gone/x/..` is outside the root `ROOT`"),
            (Some("far/x"), "out_of_scope: `directory` `far/x` is outside the root `ROOT`"),
            (Some("nope/../../x"), "out_of_scope: `directory` `nope/../../x` is outside the root `ROOT`"),
            (Some("/etc"), "out_of_scope: `directory` `/etc` is outside the root `ROOT`"),
            (
                Some("/proc/self/root"),
                "out_of_scope: `directory` `/proc/self/root` is outside the root `ROOT`",
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
