//! What looks like a secret.
//!
//! By name: the name is split into words (at `_` and the like, and where a small letter meets a capital), and
//! its last words decide. So `GH_TOKEN` and `npm_config__authToken` are secrets, `TOKENIZERS_PARALLELISM`,
//! `MAX_TOKENS` and `TOKEN_FILE` are not. A value that is only a switch (`1`, `true`) never is.
//!
//! By value: a known beginning at a word's start, followed by enough characters of the right class; private
//! keys; URLs with a password.

mod judge;
mod name;
mod pairs;
pub(super) mod tables;
mod value;

pub(super) use judge::judge;
