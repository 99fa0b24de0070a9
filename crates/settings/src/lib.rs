//! Settings: which commands are allowed, who is asked, how commands are confined and limited.
//!
//! # How it works
//!
//! Settings come in layers. Later layers win over earlier ones: built-in values, the machine's file, the user's
//! file, the project's file, the files named with `--config`, flags. A file is read into a list of changes, checked
//! against one table of keys ([`keys`]). Merging applies the changes to the typed [`Settings`]. Every value, and
//! every entry of a list, has its [`Origin`].
//!
//! ```no_run
//! use shellgate_settings::{Settings, Sources};
//!
//! let mut sources = Sources::by_environment(|name| std::env::var_os(name));
//! sources.project = Some("/work/project/.shellgate.toml".into());
//! let settings = Settings::load(&sources)?;
//! println!("{} ms, {}", settings.limits.timeout_ms, settings.origin("limits.timeout_ms").unwrap());
//! # Ok::<(), shellgate_settings::SettingsError>(())
//! ```
//!
//! # What it promises
//!
//! - A later layer wins, with three exceptions: exclusions, rules and the lists `allow`, `ask` and `deny` add up over all
//!   layers, flags add to the core list, and the entries of a table are set one by one.
//! - An untrusted project file makes nothing looser. Its lists, preset, default and rules are kept separate, in
//!   [`Settings::project_policy`]. Its other loosening changes are ignored, and [`Settings::notices`] lists them.
//! - A project's file is the nearest one, from the root up to the top of the repository ([`ProjectSearch`]).
//! - A file that is broken, unreadable, or writable by other users is a [`SettingsError`] with its place and a hint.
//!   It is never skipped. Reading never blocks: a named pipe in place of a file is an error too.
//! - Without files, loading takes only a few calls of `open`.

mod duration;
pub mod environment;
mod error;
pub mod keys;
mod layers;
mod model;
mod notice;
mod origin;
mod pattern;
mod prefix;
mod rule;
mod unbuilt;
mod words;

pub use self::{
    duration::{DurationError, MAX_DURATION_MS, parse_duration},
    error::{At, Problem, SettingsError},
    layers::{
        AGENTS_JSON, Flags, LayerFile, LayerName, LayerState, Loaded, PROJECT_FILE, ProjectSearch,
        RootSource, Sources, Trust, TrustStore, project_file,
    },
    model::{
        Approval, Environment, JournalSettings, Limits, LogSettings, Policy, Sandbox, Settings, Workspace,
    },
    notice::{IgnoredReason, Notice},
    origin::{Origin, Place, Sourced},
    pattern::PatternError,
    prefix::{PrefixError, TOOL_NAMES},
    rule::{EffectRule, Grants, Rule},
    words::{
        ApprovalMode, Asker, Condense, Inherit, LogLevel, Network, OnMissing, PresetChoice, SandboxMode,
        Substitution, Word,
    },
};
pub use shellgate_policy::{Decision, EffectName, Prefix, Redirects};
