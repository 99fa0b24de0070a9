//! What the judge expected of a command, kept with its start.

use serde::{Deserialize, Serialize};

use super::execution::is_zero;

/// What the judge foretold before the command started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedForecast {
    /// The program calls that it found, each once.
    pub calls: Vec<ForetoldCall>,
    /// How many more calls and effects it found.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

/// A program call that the judge found in a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForetoldCall {
    /// The program's name. Empty: it can't be known before running.
    pub program: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<ForetoldEffect>,
}

/// One thing that a call was foretold to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForetoldEffect {
    /// Its name: `write`, `delete`, `network` …
    pub effect: String,
    /// What it is done to, as the command spells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether text and tables say exactly this.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub known: bool,
    /// Of `network`: whether something is sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sends: bool,
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_true(value: &bool) -> bool {
    *value
}
