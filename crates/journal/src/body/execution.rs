//! The life of an execution.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalChannel, Millis, ProcessIdentity, QuestionId};
use crate::hash::Sha;
use crate::status::{Status, words};

/// A request, and what the judge said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRequest {
    /// The form in which the request came.
    pub dialect: String,
    /// The command as a person reads it. This is what is searched.
    pub text: String,
    /// Its words, when no shell reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// The call as it came, to the letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The agent's own words about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The root of the call.
    pub root: String,
    /// Where it is to run, relative to the root.
    pub directory: String,
    /// What the judge said.
    pub verdict: RecordedVerdict,
    /// How its answer is wanted.
    #[serde(default, skip_serializing_if = "AnswerOptions::is_usual")]
    pub wanted: AnswerOptions,
    /// The process that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<ProcessIdentity>,
}

/// How an answer is wanted: what whoever reads it later must know beside the end of the execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerOptions {
    /// How much of the output it shows, if not as much as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<OutputDetail>,
    /// Whether it is for reading, where the form has a choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub markdown: bool,
    /// The files that it describes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// Whether it is wanted at once, and the command goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

impl AnswerOptions {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

words! {
    /// How much of the output an answer shows.
    OutputDetail {
        /// All of it, within limits.
        All = "all",
        /// A few lines.
        Preview = "preview",
    }
}

/// What the judge said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedVerdict {
    /// In a word.
    pub decision: RecordedDecision,
    /// The rules that led to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// And why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<RecordedReason>,
}

words! {
    /// A verdict in a word.
    RecordedDecision {
        /// It may run.
        Allow = "allow",
        /// A person decides.
        Ask = "ask",
        /// It may not run.
        Deny = "deny",
    }
}

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedReason {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// The part of the text that it is about: first byte, and the byte after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(u64, u64)>,
    /// The rule that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// Why nothing was started, or what went wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedError {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// The word that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The rule that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Written before the process exists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedStart {
    /// The sandbox as data.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub confinement: Value,
    /// The person who let it pass, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<RecordedApproval>,
    /// The process that asks the keeper for the start. The keeper itself isn't known yet, and may not even run. Older
    /// entries name the same process `keeper`.
    #[serde(default, alias = "keeper", skip_serializing_if = "Option::is_none")]
    pub caller: Option<ProcessIdentity>,
    /// Where standard output is kept. Known from the start, so that a crash doesn't hide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_file: Option<String>,
    /// Where standard error is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_file: Option<String>,
}

/// Who let it pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedApproval {
    /// The person, as the system names them.
    pub who: String,
    /// How they were asked.
    pub channel: ApprovalChannel,
    /// The question that was answered, now or earlier in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionId>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedEnd {
    /// In a word.
    pub status: EndStatus,
    /// The exit code, if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What went wrong, other than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RecordedError>,
    /// The machine's number of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// When the process started, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    /// When it ended.
    pub ended_at: Millis,
    /// Standard output.
    #[serde(default)]
    pub stdout: RecordedStream,
    /// Standard error.
    #[serde(default)]
    pub stderr: RecordedStream,
    /// Whether it was a job, that nobody waited for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub job: bool,
    /// When a job printed what: moments, each with the time of its end and how many bytes of each stream came before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<(Millis, u64, u64)>,
}

words! {
    /// How it ended, in a word.
    EndStatus {
        /// Exit code 0.
        Completed = "completed",
        /// Any other end of its own, or no start.
        Failed = "failed",
        /// Somebody stopped it.
        Canceled = "canceled",
        /// A clock ran out.
        TimedOut = "timed_out",
    }
}

impl From<EndStatus> for Status {
    fn from(status: EndStatus) -> Self {
        match status {
            EndStatus::Completed => Self::Completed,
            EndStatus::Failed => Self::Failed,
            EndStatus::Canceled => Self::Canceled,
            EndStatus::TimedOut => Self::TimedOut,
        }
    }
}

/// What was printed on one stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedStream {
    /// How many bytes.
    pub bytes: u64,
    /// How many of them, from the first on, are in the file.
    pub spooled: u64,
    /// The hash of what is in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Found without anybody who could know its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedLoss {
    /// What is known.
    pub how: LossCause,
    /// Standard output, as found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<RecordedStream>,
    /// Standard error, as found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<RecordedStream>,
}

words! {
    /// Why an end will never be known.
    LossCause {
        /// The start was recorded and the keeper is gone. It may have run, wholly or in part.
        KeeperLost = "keeper_lost",
        /// The machine was started anew while it ran.
        Reboot = "reboot",
        /// The asker went away before the start was recorded. Nothing was run.
        NeverStarted = "never_started",
    }
}
