//! Settings of git, as git reads them: with the files that they include, and the paths that they name.
//!
//! A file or folder that they name can make git run a program. The sandbox protects it, and the judge asks about it: both read the settings
//! here.
//! A condition of an include (`includeIf`) counts as true: it may come true.

mod text;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::programs::words;
use crate::short_file;

/// The names of the hooks that git runs.
pub const HOOK_NAMES: &[&str] = words::GIT_HOOK_NAMES;

/// Longer files are not read. A repository with a thousand branches has settings of a hundred kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// Git follows no longer chain of includes.
const MAX_DEPTH: u32 = 10;

/// If there are more files, the rest isn't read.
const MAX_FILES: usize = 200;

/// One setting: `[section "part"] key = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// In small letters.
    pub section: String,
    /// Also the rest of a section with a dot: `[section.part]`.
    pub part: Option<String>,
    /// In small letters.
    pub key: String,
    /// Without quotes, escapes and comments. Empty, if there is none.
    pub value: Vec<u8>,
}

impl Setting {
    /// Section and key with a dot between them.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }

    /// The value as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.value).into_owned()
    }

    /// Whether it names a file with more settings.
    fn is_include(&self) -> bool {
        ["include", "includeif"].contains(&self.section.as_str()) && self.key == "path"
    }

    /// The value as the path that git takes it for, relative to `base`. `None`: it is no path that can be known.
    #[must_use]
    pub fn path(&self, base: &Path, home: Option<&Path>) -> Option<PathBuf> {
        let value = self.value.strip_prefix(b":(optional)").unwrap_or(&self.value);
        if value.is_empty() || value.starts_with(b"%(prefix)/") {
            return None;
        }
        let Some(rest) = value.strip_prefix(b"~") else { return Some(base.join(OsStr::from_bytes(value))) };
        let end = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
        let (user, rest) = rest.split_at(end);
        let rest = OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or_default());
        match user {
            [] => home.map(|home| home.join(rest)),
            user => home_of(user).map(|home| home.join(rest)),
        }
    }
}

/// The home folder that the system has for a user of this name.
fn home_of(user: &[u8]) -> Option<PathBuf> {
    let users = std::fs::read("/etc/passwd").ok()?;
    users.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        (fields.next() == Some(user)).then(|| fields.nth(4).map(|home| OsStr::from_bytes(home).into()))?
    })
}

/// What some files say, with all that they include.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The settings, in the order of the files.
    pub all: Vec<Setting>,
    /// The files that are included, as their paths are written. They need not exist.
    pub included: Vec<PathBuf>,
    /// Whether all of it could be read with certainty. Git fails on most of what could not be.
    pub is_certain: bool,
}

impl Settings {
    /// What these files say. One that doesn't exist says nothing. `home`: what `~` stands for.
    #[must_use]
    pub fn of(files: impl IntoIterator<Item = PathBuf>, home: Option<&Path>) -> Self {
        let mut found = Self { is_certain: true, ..Self::default() };
        let mut seen = HashSet::new();
        let mut files: Vec<PathBuf> = files.into_iter().filter(|file| seen.insert(file.clone())).collect();
        for _ in 0..MAX_DEPTH {
            let mut included = Vec::new();
            for file in files {
                found.read(&file, home, &mut included);
            }
            included.retain(|file| seen.insert(file.clone()));
            found.included.extend(included.iter().cloned());
            files = included;
            if files.is_empty() {
                return found;
            }
            if seen.len() > MAX_FILES {
                break;
            }
        }
        found.is_certain = false;
        found
    }

    fn read(&mut self, file: &Path, home: Option<&Path>, included: &mut Vec<PathBuf>) {
        let Some(bytes) = short_file::read(file, MAX_BYTES) else {
            // Git takes a folder, and a file that is missing, for one without settings.
            self.is_certain &=
                std::fs::metadata(file).map_or_else(|error| is_absent(&error), |found| found.is_dir());
            return;
        };
        let (settings, is_certain) = text::read(&bytes);
        self.is_certain &= is_certain;
        for setting in settings.iter().filter(|setting| setting.is_include()) {
            match setting.path(file.parent().unwrap_or(file), home) {
                Some(path) => included.push(path),
                None => self.is_certain = false,
            }
        }
        self.all.extend(settings);
    }

    /// The settings of this section and key.
    pub fn named<'s>(&'s self, section: &'s str, key: &'s str) -> impl Iterator<Item = &'s Setting> {
        self.all.iter().filter(move |setting| setting.section == section && setting.key == key)
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The files with settings for all repositories of a user. `config`: the user's folder for settings, if it isn't `~/.config`.
#[must_use]
pub fn files_of_user(home: Option<&Path>, config: Option<&Path>) -> Vec<PathBuf> {
    let of_home =
        home.into_iter().flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
    let of_config = config.map(|config| config.join("git/config"));
    [PathBuf::from("/etc/gitconfig")].into_iter().chain(of_home).chain(of_config).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn includes_are_followed_whatever_their_condition() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("git")).unwrap();
        fs::write(at("git/config"), "[include] path = ../one\n[includeIf \"gitdir:nowhere\"]\npath=~/two\n")
            .unwrap();
        fs::write(at("one"), "[include]\npath = three # a comment\npath = missing\n").unwrap();
        fs::write(at("two"), "[core] hooksPath = b\n").unwrap();
        fs::write(at("three"), "[core]\nhooksPath = a\n[include]\npath = three\n").unwrap();
        let found = Settings::of([at("git/config")], Some(folder.path()));
        let values: Vec<String> = found.named("core", "hookspath").map(Setting::text).collect();
        assert_eq!(values, ["b", "a"]);
        let names = ["git/../one", "two", "git/../three", "git/../missing"];
        assert_eq!(found.included, names.map(at));
        assert!(found.is_certain);
    }

    #[test]
    fn what_cannot_be_read_is_not_certain() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let is_certain = |text: &str| {
            fs::write(at("config"), text).unwrap();
            Settings::of([at("config")], None).is_certain
        };
        assert!(is_certain("[a]\nb = c\n") && is_certain("") && is_certain("[include]\npath = missing\n"));
        assert!(Settings::of([at("missing/config")], None).is_certain);
        assert!(!is_certain("[a\nb = c\n") && !is_certain("[a]\nb = \"c\n"));
        assert!(!is_certain("[include]\npath = ~/x\n"), "whose home folder it is isn't known");
        assert!(!is_certain(&format!("#{}", " ".repeat(1 << 20))), "too long");
        for number in 0..12 {
            fs::write(at(&format!("c{number}")), format!("[include]\npath = c{}\n", number + 1)).unwrap();
        }
        assert!(!is_certain("[include]\npath = c0\n"), "a long chain");
        let many: String = (0..300).map(|number| format!("[include]\npath = m{number}\n")).collect();
        assert!(!is_certain(&format!("{many}\n[include]\npath = c10")), "many files");
    }

    #[test]
    fn a_value_is_a_path_as_git_takes_it() {
        let path = |value: &str| {
            let value = value.as_bytes().to_vec();
            let setting = Setting { section: "core".into(), part: None, key: "hookspath".into(), value };
            setting.path(Path::new("/r"), Some(Path::new("/h")))
        };
        assert_eq!(path("gh"), Some("/r/gh".into()));
        assert_eq!(path("/gh"), Some("/gh".into()));
        assert_eq!(path("~/gh"), Some("/h/gh".into()));
        assert_eq!(path("~"), Some("/h/".into()));
        assert_eq!(path("~root/gh"), Some("/root/gh".into()));
        assert_eq!(path(":(optional)gh"), Some("/r/gh".into()));
        assert_eq!((path(""), path("~surely-nobody/gh"), path("%(prefix)/x")), (None, None, None));
    }
}
