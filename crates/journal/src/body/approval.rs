//! Questions to a person, and what was answered.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Millis, ProcessIdentity};
use crate::hash::Sha;
use crate::status::words;

/// Names a question: the number of the entry that first asked it.
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

/// What a person is asked, beside what the request itself says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedQuestion {
    /// The parts of the command that made it ask. An approval is for exactly these.
    pub parts: Vec<RecordedPart>,
    /// The prefixes that may be approved for the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefixes: Vec<Vec<String>>,
    /// What "exactly this" would let pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<GrantScope>,
    /// What "always" would write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<SettingsLines>,
    /// Variables that the call gives it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<RecordedStdin>,
    /// Whether it goes on after the call is answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// What the command will be able to reach, line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<String>,
    /// The process that waits for the answer.
    pub asker: ProcessIdentity,
    /// When no answer becomes a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// What a command reads from its standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedStdin {
    /// This.
    Text(String),
    /// A pipe or a file, that nobody has looked into.
    Unread,
}

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedPart {
    /// As it was written.
    pub text: String,
    /// Word by word; `null` for a word that can't be known before it runs.
    pub argv: Vec<Option<String>>,
    /// Why it asks.
    pub reason: String,
    /// Where it is in the text: first byte, and the byte after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(u64, u64)>,
}

/// Lines in a file of settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingsLines {
    /// The file.
    pub file: String,
    /// The lines that are written to it.
    pub lines: Vec<String>,
}

/// Closes a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The question.
    pub question: QuestionId,
    /// The hash of the entry that asked it: what exactly was answered.
    pub question_hash: Sha,
    /// How it was closed.
    pub settled: QuestionOutcome,
}

/// How a question was closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// A person answered.
    Answered(PersonAnswer),
    /// Nobody did in time.
    TimedOut,
    /// The process that asked is gone.
    AskerGone,
    /// The request was withdrawn, or was over before an answer came.
    Canceled,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PersonAnswer {
    /// What they said.
    pub choice: RecordedChoice,
    /// Who, as the system names them.
    pub by: String,
    /// How they were asked.
    pub channel: ApprovalChannel,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedChoice {
    /// Yes, this time.
    Once,
    /// Yes, in this session, for exactly this.
    SessionExact,
    /// Yes, in this session, for whatever begins with one of these.
    SessionPrefix(Vec<Vec<String>>),
    /// Yes, from now on. These lines were written.
    Always(SettingsLines),
    /// No.
    No,
    /// No, and this is what the model is told.
    NoBecause(String),
}

impl RecordedChoice {
    /// Whether it is a yes.
    #[must_use]
    pub const fn approves(&self) -> bool {
        !matches!(self, Self::No | Self::NoBecause(_))
    }
}

words! {
    /// How a person was asked.
    ApprovalChannel {
        /// Not for this: a setting lets it pass, or an approval that was given before.
        Settings = "settings",
        /// On the terminal of the command.
        Terminal = "terminal",
        /// From another terminal.
        Queue = "queue",
        /// On the page.
        Page = "page",
        /// By the agent's program.
        Elicitation = "elicitation",
    }
}

/// An approval that holds for more than one call. It holds in the session of its entry, and nowhere else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionGrant {
    /// The root that it holds for.
    pub root: String,
    /// The directory that it holds for, relative to the root.
    pub directory: String,
    /// What it lets pass.
    pub scope: GrantScope,
    /// When it ends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

/// What a grant lets pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// This command and no other.
    Exact {
        /// As it was written.
        text: String,
        /// Its words, when no shell reads them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        argv: Option<Vec<String>>,
    },
    /// What begins with these words.
    Prefix(Vec<String>),
}
