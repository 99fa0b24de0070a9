//! Asking a person.
//!
//! The gate asks through an [`Approver`], which the front end provides. Questions and answers are recorded. Without an
//! approver, or without an answer in time, the request is refused.

mod always;
mod offer;
mod posted_question;
mod queue;
mod settings_file;

use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

pub use always::{Always, WrittenRules};
pub use queue::{QueueApprover, QueueWait};

pub(crate) use always::RuleReach;
pub(crate) use offer::Offers;
pub(crate) use posted_question::{AnswerError, Answered, PostedQuestion, unwritten_text};

use crate::admit::judge::{Decision, Part, Verdict};
use crate::intake::request::Request;

/// A question to a person, with all that they need to know.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The request that needs approval.
    pub request: &'a Request,
    /// The verdict: why approval is needed, and the parts of the command.
    pub verdict: &'a Verdict,
    /// The root.
    pub root: &'a Path,
    /// The working directory, relative to the root.
    pub directory: &'a str,
    /// The session that it belongs to.
    pub session: &'a str,
    /// What an approval of exactly this request grants to later calls.
    pub(crate) exact: &'a shellgate_journal::GrantScope,
    /// The prefixes that can be approved for the session: one for each part that needs approval. Empty: none is offered.
    pub prefixes: &'a [Vec<String>],
    /// The lines that "always" would add to the settings. `None`: it isn't offered.
    pub always: Option<&'a Always>,
    /// The lines that "always exactly this" would add to the settings. `None`: it isn't offered.
    pub always_exact: Option<&'a Always>,
    /// When an approval for the session ends, if the session isn't stopped before.
    pub grant_until: shellgate_journal::Millis,
    /// What the command will be able to reach, line by line.
    pub reach: &'a [String],
    /// After this time without an answer, the request is refused.
    pub timeout: Duration,
}

impl Question<'_> {
    /// The parts that need approval. When no single part does, the command as a whole does, and these are all its parts.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        let parts = self.verdict.parts();
        let asks = parts.iter().any(|part| part.decision == Decision::Ask);
        parts.iter().filter(move |part| !asks || part.decision == Decision::Ask)
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may run.
    Yes(Choice),
    /// It may not. The text, if any, is the reason that the model is told.
    No(Option<String>),
    /// No person could be asked.
    Unavailable,
    /// No person answered in time.
    TimedOut,
    /// The question was withdrawn.
    Canceled,
}

/// How far a yes goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// For this call only.
    Once,
    /// In this session, for exactly this request.
    SessionExact,
    /// In this session, for commands that begin with the question's prefixes.
    SessionPrefix,
    /// From now on, for commands that begin with the question's prefixes: the question's lines are added to the settings.
    Always,
    /// From now on, for exactly this command: its lines are added to the settings.
    AlwaysExact,
}

pub use shellgate_journal::ApprovalChannel;

/// Who approved something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedBy {
    /// The person, or the setting.
    pub who: String,
    /// How the person was asked, or that it was a setting.
    pub channel: ApprovalChannel,
    /// What did not work of the approval, in words.
    pub remark: Option<String>,
}

impl std::fmt::Display for ApprovedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.channel {
            ApprovalChannel::Settings => f.write_str(&self.who),
            ApprovalChannel::Terminal => write!(f, "{} at the terminal", self.who),
            ApprovalChannel::Queue => write!(f, "{} from the queue", self.who),
            ApprovalChannel::Page => write!(f, "{} on the page", self.who),
            ApprovalChannel::Elicitation => write!(f, "{} in the agent's program", self.who),
        }?;
        self.remark.as_ref().map_or(Ok(()), |remark| write!(f, "; {remark}"))
    }
}

/// A way to ask a person.
pub trait Approver: Debug + Send + Sync {
    /// The channel through which it asks.
    fn channel(&self) -> ApprovalChannel;

    /// Asks, and waits for the answer. A person at another terminal may answer first: check `queue` for that.
    fn ask(&self, question: &Question<'_>, queue: &QueueWait) -> Answer;
}

/// The person who uses this machine, as the system names them.
pub(crate) fn user() -> String {
    std::env::var("USER")
        .ok()
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| format!("uid {}", rustix::process::geteuid().as_raw()))
}
