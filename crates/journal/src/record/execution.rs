//! The life of an execution.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Channel, Millis, Owner, QuestionId};
use crate::hash::Sha;
use crate::status::{Status, words};

/// A request, and what the judge said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
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
    pub verdict: Verdict,
    /// How its answer is wanted.
    #[serde(default, skip_serializing_if = "Wanted::is_usual")]
    pub wanted: Wanted,
    /// The process that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<Owner>,
}

/// How an answer is wanted: what whoever reads it later must know beside the end of the execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// How much of the output it shows, if not as much as usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<Shows>,
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

impl Wanted {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

words! {
    /// How much of the output an answer shows.
    Shows {
        /// All of it, within limits.
        All = "all",
        /// A few lines.
        Preview = "preview",
    }
}

/// What the judge said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// In a word.
    pub decision: Decision,
    /// The rules that led to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// And why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

words! {
    /// A verdict in a word.
    Decision {
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
pub struct Reason {
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
pub struct Problem {
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
pub struct Started {
    /// The sandbox as data.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub confinement: Value,
    /// The person who let it pass, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<ApprovedBy>,
    /// The process that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeper: Option<Owner>,
    /// Where standard output is kept. Known from the start, so that a crash doesn't hide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_file: Option<String>,
    /// Where standard error is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_file: Option<String>,
}

/// Who let it pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovedBy {
    /// The person, as the system names them.
    pub who: String,
    /// How they were asked.
    pub channel: Channel,
    /// The question that was answered, now or earlier in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionId>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// In a word.
    #[serde(rename = "status")]
    pub finish: Finish,
    /// The exit code, if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What went wrong, other than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
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
    pub stdout: Stream,
    /// Standard error.
    #[serde(default)]
    pub stderr: Stream,
    /// Whether it was a job, that nobody waited for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub job: bool,
    /// When a job printed what: moments, each with the time of its end and how many bytes of each stream came before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<(Millis, u64, u64)>,
}

words! {
    /// How it ended, in a word.
    Finish {
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

impl From<Finish> for Status {
    fn from(finish: Finish) -> Self {
        match finish {
            Finish::Completed => Self::Completed,
            Finish::Failed => Self::Failed,
            Finish::Canceled => Self::Canceled,
            Finish::TimedOut => Self::TimedOut,
        }
    }
}

/// What was printed on one stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stream {
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
pub struct Closed {
    /// What is known.
    pub how: Closing,
    /// Standard output, as found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Stream>,
    /// Standard error, as found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Stream>,
}

words! {
    /// Why an end will never be known.
    Closing {
        /// The start was recorded and the keeper is gone. It may have run, wholly or in part.
        KeeperLost = "keeper_lost",
        /// The machine was started anew while it ran.
        Reboot = "reboot",
        /// The asker went away before the start was recorded. Nothing was run.
        NeverStarted = "never_started",
    }
}
