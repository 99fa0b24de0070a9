//! What an entry says, as types. Their JSON is the body of the entry; `docs/journal.md` lists every field.

mod approval;
mod execution;
mod keeping;

use serde::{Deserialize, Serialize};

pub use approval::{
    Always, Answer, Answered, Channel, Choice, Grant, Input, Part, Question, QuestionId, Scope, Settled,
};
pub use execution::{
    ApprovedBy, Asked, Closed, Closing, Decision, Ended, Finish, Problem, Reason, Shows, Started, Stream,
    Verdict, Wanted,
};
pub use keeping::{Cause, Checkpoint, Note, Tombstone, Trusted};

use crate::status::words;

/// Milliseconds since 1970, UTC.
pub type Millis = i64;

/// Names a process so that somebody else can tell whether it is still alive: its number, start time and boot, say.
/// The journal never looks inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Owner(pub String);

/// Makes the enum of all records, and the enum of their kinds.
macro_rules! records {
    ($($(#[$doc:meta])* $kind:ident($body:ty) = $word:literal,)*) => {
        words! {
            /// What kind of entry it is.
            Kind { $($(#[$doc])* $kind = $word,)* }
        }

        /// What an entry says.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Record { $($(#[$doc])* $kind($body),)* }

        impl Record {
            /// Its kind.
            #[must_use]
            pub const fn kind(&self) -> Kind {
                match self { $(Self::$kind(_) => Kind::$kind,)* }
            }

            /// Reads the body of an entry of this kind.
            pub(crate) fn read(kind: Kind, body: &str) -> Result<Self, serde_json::Error> {
                Ok(match kind { $(Kind::$kind => Self::$kind(serde_json::from_str(body)?),)* })
            }
        }

        $(impl From<$body> for Record {
            fn from(body: $body) -> Self {
                Self::$kind(body)
            }
        })*
    };
}

records! {
    /// A request was judged.
    Asked(Asked) = "asked",
    /// It was refused: nothing was started.
    Refused(Problem) = "refused",
    /// It is about to be started.
    Started(Started) = "started",
    /// It ended.
    Ended(Ended) = "ended",
    /// It was found without anybody who could know its end.
    Closed(Closed) = "closed",
    /// A person is asked.
    Question(Question) = "question",
    /// A question is no longer open.
    Answer(Answer) = "answer",
    /// An approval that holds for more than one call.
    Grant(Grant) = "grant",
    /// A project's file may loosen the rules, as long as it has this content.
    Trusted(Trusted) = "trusted",
    /// Older entries were removed.
    Checkpoint(Checkpoint) = "checkpoint",
    /// The content of an execution's entries was removed.
    Tombstone(Tombstone) = "tombstone",
    /// Something worth keeping that has no kind of its own.
    Note(Note) = "note",
}

/// What a caller may add to an execution that the journal knows.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing will be started.
    Refused(Problem),
    /// Written before the process exists.
    Started(Started),
    /// How it ended.
    Ended(Ended),
    /// Its end will never be known.
    Closed(Closed),
    /// Something else worth keeping.
    Note(Note),
}

impl From<Step> for Record {
    fn from(step: Step) -> Self {
        match step {
            Step::Refused(body) => body.into(),
            Step::Started(body) => body.into(),
            Step::Ended(body) => body.into(),
            Step::Closed(body) => body.into(),
            Step::Note(body) => body.into(),
        }
    }
}
