//! The environment of a command.
//!
//! A command inherits the environment of shellgate, without variables that change how bash or the loader work,
//! and without variables that look like secrets: an agent reads everything that a command prints, so `env` must
//! not print a token. [`build()`] applies the rules in this order:
//!
//! 1. never: variables that make bash or the loader run code (`tables::NEVER_INHERITED`) are left out. No setting brings
//!    an inherited one back.
//! 2. inherit: all variables, or only `tables::CORE_VARIABLES`.
//! 3. secrets are left out, by name and by value (`secrets::tables`).
//! 4. quiet: pagers and prompts are switched off.
//! 5. set: variables from the settings. Names of step 1 are allowed here, because a person wrote them on
//!    purpose. A `BASH_ENV` in the shell that started an agent is mostly there by accident.
//! 6. remove: variables that the settings remove, also those of step 5.
//!
//! `keep` lets names pass steps 2 and 3. Every inherited variable that is left out is listed with its rule,
//! never with its value. `docs/environment.md` describes the same for users, and a test compares it with the
//! tables.

mod build;
mod pattern;
mod rules;
mod secrets;
mod tables;
#[cfg(test)]
mod tests;

pub use build::{BuiltEnvironment, HiddenReason, HiddenVariable, build};
pub use rules::Rules;
pub use secrets::{hide_arguments, hide_secrets, is_secret};
