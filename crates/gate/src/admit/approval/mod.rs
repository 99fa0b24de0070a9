//! Asking a person.
//!
//! The gate asks when the rules say so, and knows only [`Approver`]: a front end brings whoever can answer. What is asked
//! and answered is recorded. Nobody to ask is a no, and so is no answer in time.

mod always;
mod offer;
mod posted_question;
mod queue;

use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

pub use always::Always;
pub use queue::{QueueApprover, QueueWait};

pub(crate) use offer::prefixes;
pub(crate) use posted_question::{AnswerError, PostedQuestion};

use crate::admit::judge::{Decision, Part, Verdict};
use crate::intake::request::Request;

/// What a person is asked, with all that they need to know.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is to run.
    pub request: &'a Request,
    /// Why it is asked, and the parts of the command.
    pub verdict: &'a Verdict,
    /// The root.
    pub root: &'a Path,
    /// Where it would run, relative to the root.
    pub directory: &'a str,
    /// The session that it belongs to.
    pub session: &'a str,
    /// What "exactly this" lets pass later.
    pub(crate) exact: &'a shellgate_journal::GrantScope,
    /// The prefixes that can be approved for the session: one for each part that made it ask. Empty: none can.
    pub prefixes: &'a [Vec<String>],
    /// What "always" would write. `None`: it isn't offered.
    pub always: Option<&'a Always>,
    /// What the command will be able to reach, line by line.
    pub reach: &'a [String],
    /// After this, no answer is a no.
    pub timeout: Duration,
}

impl Question<'_> {
    /// The parts that made it ask. When none of them asks by itself, they ask together.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        let parts = self.verdict.parts();
        let asks = parts.iter().any(|part| part.decision == Decision::Ask);
        parts.iter().filter(move |part| !asks || part.decision == Decision::Ask)
    }
}

/// What a person says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may run.
    Yes(Choice),
    /// It may not, and this is what the model is told, if anything.
    No(Option<String>),
    /// Nobody was there to answer.
    Nobody,
    /// Nobody answered in time.
    TimedOut,
    /// Whoever asked no longer wants to know.
    Canceled,
}

/// How far a yes goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This time.
    Once,
    /// In this session, for exactly this.
    SessionExact,
    /// In this session, for whatever begins with the prefixes of the question.
    SessionPrefix,
    /// From now on: the lines of the question are written.
    Always,
}

pub use shellgate_journal::ApprovalChannel;

/// Who approved something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedBy {
    /// The person, or the setting.
    pub who: String,
    /// How.
    pub channel: ApprovalChannel,
}

impl std::fmt::Display for ApprovedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.channel {
            ApprovalChannel::Settings => f.write_str(&self.who),
            ApprovalChannel::Terminal => write!(f, "{} at the terminal", self.who),
            ApprovalChannel::Queue => write!(f, "{} from the queue", self.who),
            ApprovalChannel::Page => write!(f, "{} on the page", self.who),
            ApprovalChannel::Elicitation => write!(f, "{} in the agent's program", self.who),
        }
    }
}

/// Somebody who can answer.
pub trait Approver: Debug + Send + Sync {
    /// How they are asked.
    fn channel(&self) -> ApprovalChannel;

    /// Asks, and waits for the answer. A person at another terminal may answer first: `queue` tells.
    fn ask(&self, question: &Question<'_>, queue: &QueueWait) -> Answer;
}

/// The person who uses this machine, as the system names them.
pub(crate) fn user() -> String {
    std::env::var("USER")
        .ok()
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| format!("uid {}", rustix::process::geteuid().as_raw()))
}
