//! The rules that a user can set.

use crate::{Environment, Inherit, Sourced};

/// The `[environment]` settings, without their origins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Which inherited variables a command may get.
    pub inherit: Inherit,
    /// Whether pagers and terminal prompts are turned off.
    pub quiet: bool,
    /// Whether inherited variables that look like secrets are hidden.
    pub hide_secrets: bool,
    /// Names that are exempt from `inherit` and `hide_secrets`. `*` at the start or end stands for any text.
    pub keep: Vec<String>,
    /// Variables to set. They replace inherited ones.
    pub set: Vec<(String, String)>,
    /// Names to remove, even those in `set`. `*` at the start or end stands for any text.
    pub remove: Vec<String>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            inherit: Inherit::All,
            quiet: true,
            hide_secrets: true,
            keep: Vec::new(),
            set: Vec::new(),
            remove: Vec::new(),
        }
    }
}

impl From<&Environment> for Rules {
    fn from(settings: &Environment) -> Self {
        let names = |list: &[Sourced<String>]| list.iter().map(|name| name.value.clone()).collect();
        Self {
            inherit: settings.inherit,
            quiet: settings.quiet,
            hide_secrets: settings.hide_secrets,
            keep: names(&settings.keep),
            set: settings.set.iter().map(|(name, value)| (name.clone(), value.value.clone())).collect(),
            remove: names(&settings.remove),
        }
    }
}
