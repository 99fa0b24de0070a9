//! What went wrong, in the one shape that every front end shows.

use std::fmt;

use serde::Serialize;

/// The kind of an error: stable words that programs compare.
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
    /// Whether it means that nothing was started. The others are answers: how something ended.
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

    /// The code that is written so.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.to_string() == word)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// An error, in the order and with the names of the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorObject {
    /// The kind.
    pub code: Code,
    /// A sentence for a person or a model.
    pub message: String,
    /// The part of the input that is the trouble.
    pub token: Option<String>,
    /// The rule that decided, and where it is written.
    pub rule: Option<String>,
    /// What would pass.
    pub hint: Option<String>,
    /// With [`Code::SpawnFailed`]: what exactly was in the way. Shells have exit codes for some of it.
    #[serde(skip)]
    pub spawn: Option<SpawnTrouble>,
}

/// Why a program did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnTrouble {
    /// There is no shell to read the text.
    NoShell,
    /// There is no such program.
    NotFound,
    /// There is, but it can't be executed.
    NotExecutable,
    /// The machine or the folder is in the way.
    Other,
}

impl ErrorObject {
    /// An error with nothing but its sentence.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), token: None, rule: None, hint: None, spawn: None }
    }

    /// A request that can't be understood. The sentence begins `invalid input:`.
    #[must_use]
    pub fn invalid(message: impl fmt::Display) -> Self {
        Self::new(Code::InvalidInput, format!("invalid input: {message}"))
    }

    /// The same, with the part that is the trouble.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The same, with the rule that decided.
    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// The same, with what would pass.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl ErrorObject {
    /// A program that did not start.
    #[must_use]
    pub(crate) fn spawn_failed(trouble: SpawnTrouble, message: String) -> Self {
        Self { spawn: Some(trouble), ..Self::new(Code::SpawnFailed, message) }
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
        Self { hint: error.hint(), ..Self::new(Code::Config, error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_shows_as_the_word_programs_read() {
        assert_eq!(Code::SandboxUnavailable.to_string(), "sandbox_unavailable");
        assert_eq!(serde_json::to_string(&Code::TimedOut).unwrap(), "\"timed_out\"");
    }

    #[test]
    fn keys_stand_in_the_contract_s_order() {
        let error = ErrorObject::invalid("no").token("x").hint("y");
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"code":"invalid_input","message":"invalid input: no","token":"x","rule":null,"hint":"y"}"#
        );
    }
}
