//! The rules a user can choose.

/// Which inherited variables a command may see at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Inherit {
    /// All but those that never pass.
    #[default]
    All,
    /// A short documented list that programs need to work at all.
    Core,
}

/// The `[environment]` settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Which inherited variables a command may see at all.
    pub inherit: Inherit,
    /// Whether pagers and terminal prompts are turned off.
    pub quiet: bool,
    /// Whether inherited variables that look like secrets are hidden.
    pub hide_secrets: bool,
    /// Names that pass `inherit` and `hide_secrets`; `*` at the start or end stands for anything.
    pub keep: Vec<String>,
    /// Variables to set, whatever was inherited.
    pub set: Vec<(String, String)>,
    /// Names that never arrive, even when set; `*` at the start or end stands for anything.
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
