//! The settings that say how output is answered.

use crate::settings::{Condense, Limits, Settings};

/// How much of its output an answer shows.
#[derive(Clone, Debug)]
pub(crate) struct AnswerSettings {
    pub(crate) limits: Limits,
    pub(crate) condense: Condense,
}

impl Default for AnswerSettings {
    fn default() -> Self {
        Self::from(&Settings::default())
    }
}

impl From<&Settings> for AnswerSettings {
    fn from(settings: &Settings) -> Self {
        Self { limits: settings.limits.clone(), condense: settings.output.condense }
    }
}
