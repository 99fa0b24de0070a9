//! What is answered: the report of a request, with its streams as text, its artifacts, and its error in words.

pub(crate) mod artifacts;
pub(crate) mod comparison;
pub(crate) mod condensed;
pub(crate) mod cost;
pub(crate) mod denials;
pub(crate) mod duration;
pub(crate) mod effects;
pub(crate) mod lean;
pub(crate) mod limits;
mod observed_path;
pub(crate) mod outcome_error;
pub(crate) mod report;
pub(crate) mod settings;
pub(crate) mod signal_names;
pub(crate) mod stream_text;
pub(crate) mod summary;
pub(crate) mod unconfined;
pub(crate) mod writer;
