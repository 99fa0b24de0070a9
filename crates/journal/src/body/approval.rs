//! Questions to a person, their answers, and grants.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Millis, ProcessIdentity};
use crate::hash::Sha;
use crate::status::named_enum;

/// The number of a question: that of the entry that first asked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub u64);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for QuestionId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// The number of a grant: that of the entry that first gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GrantId(pub u64);

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for GrantId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// What a person is asked, in addition to the request itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedQuestion {
    /// The parts of the command that need approval. An answer approves exactly these.
    pub parts: Vec<RecordedPart>,
    /// The prefixes that may be approved for the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefixes: Vec<Vec<String>>,
    /// What the answer "exactly this" would approve for the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<GrantScope>,
    /// What the answer "always" would write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<SettingsLines>,
    /// What the answer "always, exactly this" would write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_exact: Option<SettingsLines>,
    /// When an approval for the session that is given now would end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_until: Option<Millis>,
    /// Environment variables that the request sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<RecordedStdin>,
    /// Whether the command keeps running after the call was answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// What the command does, as far as that can be foretold: phrases for people, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// What the command will have access to, line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<String>,
    /// The process that waits for the answer.
    pub asker: ProcessIdentity,
    /// When the question expires: without an answer the request is refused then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// The standard input of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedStdin {
    /// This text.
    Text(String),
    /// A pipe or a file whose content isn't known.
    Unread,
}

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedPart {
    /// Its text in the command.
    pub text: String,
    /// Its words; `null` for a word that isn't known before the command runs.
    pub argv: Vec<Option<String>>,
    /// Why it needs approval.
    pub reason: String,
    /// Its place in the text: its first byte, and the byte after its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(u64, u64)>,
}

/// Lines that are added to a settings file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingsLines {
    /// The file.
    pub file: String,
    /// The lines.
    pub lines: Vec<String>,
}

/// Closes a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The question.
    pub question: QuestionId,
    /// The hash of the entry that asked the question: it proves what was answered.
    pub question_hash: Sha,
    /// How the question was closed.
    pub settled: QuestionOutcome,
}

/// How a question was closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// A person answered.
    Answered(PersonAnswer),
    /// No answer came in time.
    TimedOut,
    /// The process that waited for the answer is gone.
    AskerGone,
    /// The request was withdrawn, or ended before an answer came.
    Canceled,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PersonAnswer {
    /// What the person chose.
    pub choice: RecordedChoice,
    /// The user name of the person.
    pub by: String,
    /// Where the person was asked.
    pub channel: ApprovalChannel,
}

/// Settings that could not be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnwrittenSettings {
    /// The file.
    pub file: String,
    /// Why it could not be written.
    pub error: String,
}

/// What a person chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedChoice {
    /// Yes, this time.
    Once,
    /// Yes, in this session, for exactly this command.
    SessionExact,
    /// Yes, in this session, for commands that begin with one of these.
    SessionPrefix(Vec<Vec<String>>),
    /// Yes, always: these lines were written to the settings.
    Always(SettingsLines),
    /// Yes, always, but the settings could not be written. It counts as a yes for this time.
    AlwaysUnwritten(UnwrittenSettings),
    /// No.
    No,
    /// No, with the reason that the model is told.
    NoBecause(String),
}

impl RecordedChoice {
    /// Whether it is a yes.
    #[must_use]
    pub const fn approves(&self) -> bool {
        !matches!(self, Self::No | Self::NoBecause(_))
    }
}

named_enum! {
    /// Where a person was asked.
    ApprovalChannel {
        /// Nowhere: a setting or an earlier approval allows the command.
        Settings = "settings",
        /// On the terminal where the command was started.
        Terminal = "terminal",
        /// On another terminal, with `shellgate approvals`.
        Queue = "queue",
        /// On the web page.
        Page = "page",
        /// By the MCP client, as a form.
        Elicitation = "elicitation",
    }
}

/// An approval that holds for more than one call. It holds only in the session of its entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionGrant {
    /// The root that it holds for.
    pub root: String,
    /// The directory that it holds for, relative to the root.
    pub directory: String,
    /// Which commands it approves.
    pub scope: GrantScope,
    /// When it expires. Grants of older versions have no such time: [`ends_at`](crate::HeldGrant::ends_at) says when they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// Ends a grant before its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndedGrant {
    /// The grant.
    pub grant: GrantId,
    /// Why it ended.
    pub cause: GrantEndCause,
    /// The user name of the person who ended it.
    pub by: String,
}

named_enum! {
    /// Why a grant ended before its time.
    GrantEndCause {
        /// A person took it back.
        Revoked = "revoked",
        /// Its session was stopped.
        SessionStopped = "session_stopped",
    }
}

/// Which commands a grant approves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// This command only.
    Exact {
        /// Its text.
        text: String,
        /// Its arguments, when it runs without a shell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        argv: Option<Vec<String>>,
    },
    /// Commands that begin with these words.
    Prefix(Vec<String>),
}
