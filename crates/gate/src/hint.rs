//! Hints: what would help after an error.
//!
//! The library doesn't know its front end: a model calls tools, a person types commands and flags. So a hint that depends
//! on that is a code. It shows as a sentence for a model; a front end with other words for it matches on the code.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

/// What would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A sentence that is right for every front end.
    Text(Cow<'static, str>),
    /// A plainer command may be allowed.
    PlainerCommand,
    /// Choose a sandbox, or allow the network.
    ChooseSandbox,
    /// Name an existing folder as the root.
    ExistingRoot,
    /// Name a path inside the root, or use another root.
    PathInsideRoot,
    /// List the running jobs.
    ListJobs,
    /// List the executions, running or not.
    ListExecutions,
    /// List the questions that wait for an answer.
    ListQuestions,
    /// Stop this execution first.
    StopFirst {
        /// Its id.
        id: String,
    },
    /// Stop a job that is no longer needed.
    StopAJob,
    /// Give the command more time, or run it in the background.
    MoreTime,
    /// The user was asked and said no.
    UserSaidNo,
}

/// The hint in words for a model.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Text(text) => text,
            Self::PlainerCommand => "a plainer command may pass",
            Self::ChooseSandbox => {
                "the user can choose a sandbox, which denies it (`sandbox.mode = \"workspace\"`), or allow the network"
            }
            Self::ExistingRoot => "name an existing folder as the root",
            Self::PathInsideRoot => "name a path inside it, relative to it",
            Self::ListJobs => "`shell_jobs` lists running jobs",
            Self::ListExecutions => "`shell_jobs` lists your jobs; write more of the id if it is one of them",
            Self::ListQuestions => "the user sees open questions with `shellgate approvals list`",
            Self::StopFirst { id } => return write!(f, "stop it first: `shell_stop` with the id {id}"),
            Self::StopAJob => {
                "stop one that is no longer needed: `shell_jobs` lists them, `shell_stop` stops one"
            }
            Self::MoreTime => "give it more time, or run it in the background",
            Self::UserSaidNo => {
                "don't try it in another way; go on without it, or ask the user what to do instead"
            }
        };
        f.write_str(words)
    }
}

impl Serialize for Hint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<&'static str> for Hint {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_no_flags_of_the_command_line() {
        let hints = [
            Hint::PlainerCommand,
            Hint::ChooseSandbox,
            Hint::ExistingRoot,
            Hint::PathInsideRoot,
            Hint::ListJobs,
            Hint::ListExecutions,
            Hint::ListQuestions,
            Hint::StopFirst { id: "X".to_owned() },
            Hint::StopAJob,
            Hint::MoreTime,
            Hint::UserSaidNo,
        ];
        for hint in hints {
            assert!(!hint.to_string().contains("--"), "{hint}");
        }
    }
}
