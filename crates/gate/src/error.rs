//! The error type that every front end shows.

use std::fmt;

use serde::Serialize;

use crate::hint::Hint;

/// The code of an error. Programs rely on these words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words are documented in the table of docs/results.md")]
pub enum Code {
    InvalidInput,
    ParseError,
    DeniedByPolicy,
    DeniedByUser,
    ApprovalTimeout,
    ApprovalUnavailable,
    OutOfScope,
    InlineEval,
    Substitution,
    ShellSyntax,
    SandboxUnavailable,
    Config,
    Busy,
    UnknownJob,
    SpawnFailed,
    TimedOut,
    Canceled,
    KeeperLost,
    LimitExceeded,
}

impl Code {
    /// Whether the code means that nothing was started. The other codes say how a command ended.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        !matches!(
            self,
            Self::SpawnFailed | Self::TimedOut | Self::Canceled | Self::KeeperLost | Self::LimitExceeded
        )
    }
}

impl Code {
    const ALL: [Self; 19] = [
        Self::InvalidInput,
        Self::ParseError,
        Self::DeniedByPolicy,
        Self::DeniedByUser,
        Self::ApprovalTimeout,
        Self::ApprovalUnavailable,
        Self::OutOfScope,
        Self::InlineEval,
        Self::Substitution,
        Self::ShellSyntax,
        Self::SandboxUnavailable,
        Self::Config,
        Self::Busy,
        Self::UnknownJob,
        Self::SpawnFailed,
        Self::TimedOut,
        Self::Canceled,
        Self::KeeperLost,
        Self::LimitExceeded,
    ];

    /// The code with this name.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.to_string() == word)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// An error. The names and the order of its fields are fixed: programs read it as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorObject {
    /// The code.
    pub code: Code,
    /// A sentence for a person or a model.
    pub message: String,
    /// The part of the input that caused the error.
    pub token: Option<String>,
    /// The rule that decided, with its origin.
    pub rule: Option<String>,
    /// How to avoid the error.
    pub hint: Option<Hint>,
    /// With [`Code::SpawnFailed`]: the reason. Shells have exit codes for some reasons.
    #[serde(skip)]
    pub spawn: Option<SpawnFailure>,
}

/// Why a program did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnFailure {
    /// The shell was not found.
    NoShell,
    /// The program was not found.
    NotFound,
    /// The program was found, but is not executable.
    NotExecutable,
    /// Another reason, such as a missing folder or a limit of the machine.
    Other,
}

impl ErrorObject {
    /// An error with a code and a message.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), token: None, rule: None, hint: None, spawn: None }
    }

    /// An invalid request. The message begins with `invalid input:`.
    #[must_use]
    pub fn invalid(message: impl fmt::Display) -> Self {
        Self::new(Code::InvalidInput, format!("invalid input: {message}"))
    }

    /// Adds the part of the input that caused the error.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Adds the rule that decided.
    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// Adds how to avoid the error.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl ErrorObject {
    /// A program that did not start.
    #[must_use]
    pub(crate) fn spawn_failed(failure: SpawnFailure, message: String) -> Self {
        Self { spawn: Some(failure), ..Self::new(Code::SpawnFailed, message) }
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ErrorObject {}

impl From<crate::settings::SettingsError> for ErrorObject {
    fn from(error: crate::settings::SettingsError) -> Self {
        Self { hint: error.hint().map(Hint::from), ..Self::new(Code::Config, error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_printed_as_in_json() {
        assert_eq!(Code::SandboxUnavailable.to_string(), "sandbox_unavailable");
        assert_eq!(serde_json::to_string(&Code::TimedOut).unwrap(), "\"timed_out\"");
    }

    #[test]
    fn the_keys_in_json_have_their_fixed_order() {
        let error = ErrorObject::invalid("no").token("x").hint("y");
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"code":"invalid_input","message":"invalid input: no","token":"x","rule":null,"hint":"y"}"#
        );
    }
}
