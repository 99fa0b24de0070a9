//! The one function through which every request passes before anything is started.
//!
//! The rules are read and checked, but not applied yet: until the judge is built, every valid request is allowed, and
//! the verdict says so.

use serde::Serialize;

use crate::request::Request;
use crate::settings::Settings;

/// What the rules say about a request, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The rules that led to it.
    pub rules: Vec<String>,
    /// Who approved it, when somebody was asked.
    pub approved_by: Option<String>,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs.
    Allow,
}

/// Judges `request` by the rules of `settings`.
#[must_use]
pub fn judge(_request: &Request, _settings: &Settings) -> Verdict {
    Verdict {
        decision: Decision::Allow,
        rules: vec!["rules are not applied yet: every valid request is allowed".to_owned()],
        approved_by: None,
    }
}
