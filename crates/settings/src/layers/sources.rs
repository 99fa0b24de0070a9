//! The sources of the layers.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::Flags;

/// The name of a project's settings file.
pub const PROJECT_FILE: &str = ".shellgate.toml";

const SYSTEM_FILE: &str = "/etc/shellgate/config.toml";

/// Whether a person trusts the project file. Only a trusted file may loosen settings.
#[derive(Debug, Clone, Default)]
pub enum Trust {
    /// It is untrusted: it can only make settings stricter.
    #[default]
    Untrusted,
    /// It is trusted.
    Trusted,
    /// The store decides when the file has been read.
    Recorded(Arc<dyn TrustStore>),
}

/// Knows which project files a person trusts. The journal is such a store; this crate doesn't depend on it.
pub trait TrustStore: fmt::Debug + Send + Sync {
    /// Whether a person trusts exactly this content of `file`.
    fn is_trusted(&self, file: &Path, content: &[u8]) -> bool;
}

/// The sources of the layers. The default has only the built-in values.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The machine's file. It need not exist.
    pub system: Option<PathBuf>,
    /// The user's file. It need not exist.
    pub user: Option<PathBuf>,
    /// The project's file. It need not exist.
    pub project: Option<PathBuf>,
    /// Whether the project's file is trusted.
    pub trust: Trust,
    /// Files named with `--config`, in order. They must exist.
    pub extra: Vec<PathBuf>,
    /// Settings from the command line.
    pub flags: Flags,
    /// The folder that `~` stands for in `workspace.working_directory`.
    pub home: Option<PathBuf>,
}

impl Sources {
    /// The standard places of the machine's and the user's files, by `HOME` and `XDG_CONFIG_HOME`, without a project. As the
    /// XDG specification says, relative values count as unset.
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

    /// Adds the project file of this root.
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
