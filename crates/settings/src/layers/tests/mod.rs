//! Tests of loading, with real files in a temporary folder.

mod errors;
mod files;
mod json;
mod merging;
mod round_trip;
mod rule_errors;
mod untrusted;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::{Flags, Origin, Settings, SettingsError, Sources, Trust};

/// A folder with settings files in it.
struct Folder {
    folder: tempfile::TempDir,
    sources: Sources,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sources = Sources { home: Some("/home/ada".into()), ..Sources::default() };
        Self { folder, sources }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file with mode 0644, independent of the umask.
    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        path
    }

    fn system(mut self, text: &str) -> Self {
        self.sources.system = Some(self.write("system.toml", text));
        self
    }

    fn user(mut self, text: &str) -> Self {
        self.sources.user = Some(self.write("user.toml", text));
        self
    }

    fn project(mut self, trust: Trust, text: &str) -> Self {
        self.sources.project = Some(self.write(".shellgate.toml", text));
        self.sources.trust = trust;
        self
    }

    fn extra(mut self, name: &str, text: &str) -> Self {
        let path = self.write(name, text);
        self.sources.extra.push(path);
        self
    }

    fn flags(mut self, flags: Flags) -> Self {
        self.sources.flags = flags;
        self
    }

    fn load(&self) -> Result<Settings, SettingsError> {
        Settings::load(&self.sources)
    }

    /// A text without the folder's name, which differs from run to run.
    fn plain(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }

    /// The origin of a key.
    fn origin(&self, settings: &Settings, path: &str) -> String {
        self.plain(&settings.origin(path).unwrap().to_string())
    }

    /// The error of loading, and its hint in a second line.
    fn error(&self) -> String {
        let error = self.load().unwrap_err();
        let hint = error.hint().map(|hint| format!("\n  {hint}")).unwrap_or_default();
        self.plain(&format!("{error}{hint}"))
    }

    fn notices(&self, settings: &Settings) -> String {
        let notices: Vec<_> = settings.notices.iter().map(|notice| self.plain(&notice.to_string())).collect();
        notices.join("\n")
    }
}

/// The error of a user's file with this text.
fn error(text: &str) -> String {
    Folder::new().user(text).error()
}

/// The errors of several files, each after its text.
fn errors(texts: &[&str]) -> String {
    let one = |text: &&str| {
        format!(
            "{}\n{}",
            text.lines().map(|l| format!("| {l}\n")).collect::<String>().trim_end(),
            error(text)
        )
    };
    texts.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// Prefixes with their origins.
fn prefixes(folder: &Folder, entries: &[crate::Sourced<crate::Prefix>]) -> Vec<String> {
    entries.iter().map(|entry| folder.plain(&format!("{} ({})", entry.value, entry.origin))).collect()
}

fn is_file(origin: Option<&Origin>, path: &Path) -> bool {
    matches!(origin, Some(Origin::File(place)) if &*place.path == path)
}
