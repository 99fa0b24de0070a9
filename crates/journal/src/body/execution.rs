//! Entries about an execution, from its request to its end.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::foretold::RecordedForecast;
use super::{ApprovalChannel, Millis, ProcessIdentity, QuestionId};
use crate::hash::Sha;
use crate::status::{Status, named_enum};

/// A request and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRequest {
    /// The dialect of the request.
    pub dialect: String,
    /// The command as a person reads it. A search looks here.
    pub text: String,
    /// Its arguments, when it runs without a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// The tool call as it was received, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The agent's description of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The root of the call.
    pub root: String,
    /// The directory to run in, relative to the root.
    pub directory: String,
    /// The verdict.
    pub verdict: RecordedVerdict,
    /// How the answer is to be written.
    #[serde(default, skip_serializing_if = "AnswerOptions::is_usual")]
    pub wanted: AnswerOptions,
    /// The process that made the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<ProcessIdentity>,
}

/// How the answer to a request is to be written. A process that fetches the answer later needs to know this.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerOptions {
    /// How much of the output the answer has, if not the usual amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<OutputDetail>,
    /// Whether the answer is Markdown, where the dialect has a choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub markdown: bool,
    /// Whether it is the output with a closing line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text: bool,
    /// The files that the answer describes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// Whether the answer is given at once, while the command keeps running.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
}

impl AnswerOptions {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

named_enum! {
    /// How much of the output an answer has.
    OutputDetail {
        /// All of it, within limits.
        All = "all",
        /// A few lines.
        Preview = "preview",
        /// The usual amount, but not condensed.
        Raw = "raw",
    }
}

/// The verdict on a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedVerdict {
    /// The decision.
    pub decision: RecordedDecision,
    /// The rules that led to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The reasons for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<RecordedReason>,
}

named_enum! {
    /// The decision of a verdict.
    RecordedDecision {
        /// The command may run.
        Allow = "allow",
        /// A person decides.
        Ask = "ask",
        /// The command may not run.
        Deny = "deny",
    }
}

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedReason {
    /// Its code, for programs.
    pub code: String,
    /// A sentence, for people.
    pub message: String,
    /// The part of the text that it is about: its first byte, and the byte after its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<(u64, u64)>,
    /// The rule that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// Why a request was refused, or what went wrong with its execution: the error that the caller was given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedError {
    /// Its code, for programs.
    pub code: String,
    /// A sentence, for people.
    pub message: String,
    /// The part of the input that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The rule that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What the caller can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The start of an execution. Written before the process exists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedStart {
    /// The sandbox as data: its mode.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub confinement: Value,
    /// The person or the setting that approved it, if approval was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<RecordedApproval>,
    /// The process that asks the keeper for the start. The keeper itself isn't known yet, and may not even run. Older
    /// entries name the same process `keeper`.
    #[serde(default, alias = "keeper", skip_serializing_if = "Option::is_none")]
    pub caller: Option<ProcessIdentity>,
    /// The file of standard output. It is named here and not at the end, so that it is found after a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout_file: Option<String>,
    /// The file of standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_file: Option<String>,
    /// What the judge foretold. `None`: nothing runs, or an older version wrote this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foretold: Option<Box<RecordedForecast>>,
}

/// Who approved a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedApproval {
    /// The user name of the person, or the setting.
    pub who: String,
    /// Where the person was asked.
    pub channel: ApprovalChannel,
    /// The question that was answered, now or earlier in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionId>,
    /// What did not work of the approval, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// The end of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedEnd {
    /// How it ended.
    pub status: EndStatus,
    /// The exit code, if the process exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that killed the process, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What else went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RecordedError>>,
    /// The pid.
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
    /// Whether it was a job: the call was answered before the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub job: bool,
    /// When a job printed what: periods, each with the time of its end, and how many bytes of standard output and of
    /// standard error were printed before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<(Millis, u64, u64)>,
    /// What the sandbox refused. `None`: it was not confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denials: Option<Vec<RecordedDenial>>,
    /// How many refusals are not in that list.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted_denials: u64,
    /// What the caller's answer showed of the output. `None`: another answer did, or an older version wrote this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Box<RecordedView>>,
    /// What it did. `None`: it was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Box<RecordedEffects>>,
}

/// What an answer showed of the output, in tokens of a model, about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedView {
    /// Tokens of the output that it showed.
    pub tokens: u64,
    /// Tokens of all output, if that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_tokens: Option<u64>,
    /// Lines before and after lines were left out that say nothing new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condensed: Option<(u64, u64)>,
    /// The program that wrote the output, with its subcommand, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// What a command did, each once. Paths in its root are relative to that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedEffects {
    /// The programs that its processes started, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<RecordedProgram>,
    /// Files that they wrote. `FOLDER/…` stands for several in a folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Files that they removed or renamed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deletes: Vec<String>,
    /// Addresses that they connected to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connects: Vec<String>,
    /// How many effects are not here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

/// A program that a process started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedProgram {
    /// Its words, as far as they are short.
    pub command: String,
    /// Its file.
    pub program: String,
    /// The process.
    pub pid: u32,
    /// The process that this one was started by.
    pub parent: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What the sandbox refused, as the caller was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedDenial {
    /// What was tried: `write`, `connect` or `run`.
    pub operation: String,
    /// The file, socket or program.
    pub target: String,
    /// The part of the sandbox that refused it.
    pub rule: String,
    /// Settings that allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The argument list of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
}

named_enum! {
    /// How an execution ended.
    EndStatus {
        /// Exit code 0.
        Completed = "completed",
        /// Another exit code, a signal, or no start.
        Failed = "failed",
        /// Stopped on request.
        Canceled = "canceled",
        /// Stopped because its time was over.
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

/// The output on one stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedStream {
    /// How many bytes were printed.
    pub bytes: u64,
    /// How many of them, from the first on, the file or the text has.
    pub spooled: u64,
    /// The hash of the bytes in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha>,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// All that was printed, if that is little: then there is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// An execution whose end will never be known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedLoss {
    /// Why not.
    pub how: LossCause,
    /// Standard output, as far as it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<RecordedStream>,
    /// Standard error, as far as it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<RecordedStream>,
}

named_enum! {
    /// Why the end of an execution will never be known.
    LossCause {
        /// The start was recorded and the keeper is gone. The command may have run, wholly or in part.
        KeeperLost = "keeper_lost",
        /// The machine was restarted while it ran.
        Reboot = "reboot",
        /// The calling process ended before the start was recorded. The command never ran.
        NeverStarted = "never_started",
    }
}
