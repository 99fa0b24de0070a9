//! Detection of secrets.
//!
//! By name: the name is split into words (at `_` and similar characters, and between a lower-case letter and a
//! capital), and its last words decide. So `GH_TOKEN` and `npm_config__authToken` are secrets,
//! `TOKENIZERS_PARALLELISM`, `MAX_TOKENS` and `TOKEN_FILE` are not. A variable whose value is only a switch
//! (`1`, `true`) is no secret.
//!
//! By value: a known beginning at the start of a word, followed by enough characters of the right class; private
//! keys; URLs with a password.

mod detect;
mod hide;
mod name;
mod pairs;
pub(super) mod tables;
mod value;

pub(super) use detect::detect;
pub use hide::{hide_arguments, hide_secrets, is_secret};
