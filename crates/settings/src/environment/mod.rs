//! Which environment a command gets.
//!
//! A command inherits the variables of whoever started shellgate, less what would change how bash or the
//! loader work, and less what looks like a secret: an agent reads everything a command prints, so `env` must
//! not be a way to a token. [`build()`] applies the rules in a fixed order:
//!
//! 1. never: variables that make bash or the loader run code (`tables::NEVER`). No setting brings an
//!    inherited one back.
//! 2. inherit: everything, or only `tables::CORE`.
//! 3. secrets, by name and by value (`secrets::tables`).
//! 4. quiet: pagers and prompts off.
//! 5. set: the user's own variables. They may be anything, also a name of step 1: who writes the settings may
//!    choose what bash does; who happens to start an agent from a shell with `BASH_ENV` set doesn't mean to.
//! 6. remove: the last word.
//!
//! `keep` brings names through steps 2 and 3. Everything inherited that doesn't arrive is listed with the
//! rule that held it back, never with its value. `docs/environment.md` is the same for readers, and a test
//! holds it against the tables.

mod build;
mod pattern;
mod rules;
mod secrets;
mod tables;
#[cfg(test)]
mod tests;

pub use build::{Built, Hidden, Why, build};
pub use rules::Rules;
