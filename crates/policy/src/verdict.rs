//! What a judge says, and why.

use shellgate_syntax::Span;

use crate::rules::Decision;

/// The judgement of one command. Made by [`judge`](crate::judge) only: there is none without its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The strictest decision of all parts and reasons.
    pub decision: Decision,
    /// Every program call that was found, in order, at any depth.
    pub parts: Vec<Part>,
    /// Why the decision isn't better, the decisive ones first. Empty if it is allow.
    pub reasons: Vec<Reason>,
}

/// One program call and what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its text. For a call inside a quoted text, that text's part.
    pub text: String,
    /// The words; `None` for one that can't be known before running.
    pub argv: Vec<Option<String>>,
    /// Where it is in the command, in bytes. A call inside a quoted text has the place of that text.
    pub span: Span,
    /// What may happen.
    pub decision: Decision,
    /// The rule that says so, with the place where it is written.
    pub rule: Option<String>,
    /// Why, as a fragment for people.
    pub reason: String,
}

/// A reason for asking or denying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What it leads to by itself.
    pub decision: Decision,
    /// Which kind.
    pub code: ReasonCode,
    /// A fragment for people.
    pub message: String,
    /// Where.
    pub span: Span,
    /// The word that is the trouble.
    pub token: Option<String>,
    /// The rule, with the place where it is written.
    pub rule: Option<String>,
    /// What would make it pass.
    pub hint: Option<String>,
}

/// Kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasonCode {
    /// Bash would not read it, or we would not.
    ParseError,
    /// Two readers don't agree on what it says.
    Uncertain,
    /// A rule forbids it.
    Excluded,
    /// An allowlist doesn't have it.
    NotInCore,
    /// A rule says that a person is asked.
    AskRule,
    /// No rule covers it.
    Uncovered,
    /// What it runs can't be known from the text.
    Unknown,
    /// It sets something that loads code or changes what programs do.
    Assignment,
    /// Substitutions as such are not allowed.
    Substitution,
    /// It writes a file.
    Write,
    /// It reads or writes outside the root.
    Outside,
    /// It holds characters that deceive readers.
    Characters,
    /// It uses a program in a way that is not plain.
    Unusual,
    /// It touches shellgate's own settings, record or sockets.
    Protected,
}

impl ReasonCode {
    /// Its name for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ParseError => "parse_error",
            Self::Uncertain => "uncertain",
            Self::Excluded => "excluded",
            Self::NotInCore => "not_in_core",
            Self::AskRule => "ask_rule",
            Self::Uncovered => "uncovered",
            Self::Unknown => "unknown",
            Self::Assignment => "assignment",
            Self::Substitution => "substitution",
            Self::Write => "write",
            Self::Outside => "outside",
            Self::Characters => "characters",
            Self::Unusual => "unusual",
            Self::Protected => "protected",
        }
    }
}
