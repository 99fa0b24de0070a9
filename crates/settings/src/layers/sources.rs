//! Where the layers are.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::Flags;

/// The name of a project's settings file, in its root.
pub const PROJECT_FILE: &str = ".shellgate.toml";

const SYSTEM_FILE: &str = "/etc/shellgate/config.toml";

/// Whether a person has said that a project file may loosen things.
#[derive(Debug, Clone, Default)]
pub enum Trust {
    /// No person has: the file can only make things stricter.
    #[default]
    Untrusted,
    /// A person has, for the file's exact content.
    Trusted,
    /// This store is asked, once the file is found and read.
    Recorded(Arc<dyn TrustStore>),
}

/// Knows which project files a person trusts. The record is one; settings don't depend on it.
pub trait TrustStore: fmt::Debug + Send + Sync {
    /// Whether a person trusts exactly this content of `file`.
    fn is_trusted(&self, file: &Path, content: &[u8]) -> bool;
}

/// Where the layers are. The default has none but the built-in one.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The machine's file; need not exist.
    pub system: Option<PathBuf>,
    /// The user's file; need not exist.
    pub user: Option<PathBuf>,
    /// The project's file; need not exist.
    pub project: Option<PathBuf>,
    /// Whether the project's file is trusted.
    pub trust: Trust,
    /// Files named with `--config`, in order; must exist.
    pub extra: Vec<PathBuf>,
    /// What the command line sets.
    pub flags: Flags,
    /// What `~` is in `workspace.working_directory`.
    pub home: Option<PathBuf>,
}

impl Sources {
    /// The standard places of a machine and user, by `HOME` and `XDG_CONFIG_HOME`; no project. Relative values count as unset, as the XDG specification says.
    pub fn by_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME");
        let config = folder("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
        Self {
            system: Some(SYSTEM_FILE.into()),
            user: config.map(|config| config.join("shellgate/config.toml")),
            home,
            ..Self::default()
        }
    }

    /// The same, with the project file of this root.
    #[must_use]
    pub fn with_root(mut self, root: &Path) -> Self {
        self.project = Some(root.join(PROJECT_FILE));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_file(home: Option<&str>, config: Option<&str>) -> Option<PathBuf> {
        let sources = Sources::by_environment(|name| match name {
            "HOME" => home.map(OsString::from),
            "XDG_CONFIG_HOME" => config.map(OsString::from),
            _ => None,
        });
        assert_eq!(sources.system.as_deref(), Some(Path::new("/etc/shellgate/config.toml")));
        assert_eq!(sources.project, None);
        sources.user
    }

    #[test]
    fn standard_places() {
        let cases = [
            (Some("/home/ada"), None, Some("/home/ada/.config/shellgate/config.toml")),
            (Some("/home/ada"), Some("/cfg"), Some("/cfg/shellgate/config.toml")),
            (Some("/home/ada"), Some(""), Some("/home/ada/.config/shellgate/config.toml")),
            (Some("/home/ada"), Some("cfg"), Some("/home/ada/.config/shellgate/config.toml")),
            (None, Some("/cfg"), Some("/cfg/shellgate/config.toml")),
            (None, None, None),
            (Some(""), None, None),
            (Some("home"), None, None),
        ];
        for (home, config, expected) in cases {
            assert_eq!(user_file(home, config).as_deref(), expected.map(Path::new), "{home:?} {config:?}");
        }
    }

    #[test]
    fn the_project_file_is_in_the_root() {
        let sources = Sources::default().with_root(Path::new("/work"));
        assert_eq!(sources.project.as_deref(), Some(Path::new("/work/.shellgate.toml")));
    }
}
