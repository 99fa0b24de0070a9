//! What an entry says, as types. Their JSON is the body of the entry; `docs/journal.md` lists every field.

mod approval;
mod execution;
mod upkeep;

use serde::{Deserialize, Serialize};

pub use approval::{
    ApprovalChannel, GrantScope, PersonAnswer, QuestionId, QuestionOutcome, RecordedAnswer, RecordedChoice,
    RecordedPart, RecordedQuestion, RecordedStdin, SessionGrant, SettingsLines,
};
pub use execution::{
    AnswerOptions, EndStatus, LossCause, OutputDetail, RecordedApproval, RecordedDecision, RecordedEnd,
    RecordedError, RecordedLoss, RecordedReason, RecordedRequest, RecordedStart, RecordedStream,
    RecordedVerdict,
};
pub use upkeep::{Checkpoint, Note, PruneCause, Tombstone, TrustedFile};

use crate::status::words;

/// Milliseconds since 1970, UTC.
pub type Millis = i64;

/// Names a process so that somebody else can tell whether it is still alive: its number, start time and boot, say.
/// The journal never looks inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessIdentity(pub String);

/// Makes the enum of all records, and the enum of their kinds.
macro_rules! records {
    ($($(#[$doc:meta])* $kind:ident($body:ty) = $word:literal,)*) => {
        words! {
            /// What kind of entry it is.
            EntryKind { $($(#[$doc])* $kind = $word,)* }
        }

        /// What an entry says.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum EntryBody { $($(#[$doc])* $kind($body),)* }

        impl EntryBody {
            /// Its kind.
            #[must_use]
            pub const fn kind(&self) -> EntryKind {
                match self { $(Self::$kind(_) => EntryKind::$kind,)* }
            }

            /// Reads the body of an entry of this kind.
            pub(crate) fn read(kind: EntryKind, body: &str) -> Result<Self, serde_json::Error> {
                Ok(match kind { $(EntryKind::$kind => Self::$kind(serde_json::from_str(body)?),)* })
            }
        }

        $(impl From<$body> for EntryBody {
            fn from(body: $body) -> Self {
                Self::$kind(body)
            }
        })*
    };
}

records! {
    /// A request was judged.
    Asked(RecordedRequest) = "asked",
    /// It was refused: nothing was started.
    Refused(RecordedError) = "refused",
    /// It is about to be started.
    Started(RecordedStart) = "started",
    /// It ended.
    Ended(RecordedEnd) = "ended",
    /// It was found without anybody who could know its end.
    Closed(RecordedLoss) = "closed",
    /// A person is asked.
    Question(RecordedQuestion) = "question",
    /// A question is no longer open.
    Answer(RecordedAnswer) = "answer",
    /// An approval that holds for more than one call.
    Grant(SessionGrant) = "grant",
    /// A project's file may loosen the rules, as long as it has this content.
    Trusted(TrustedFile) = "trusted",
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
    Refused(RecordedError),
    /// Written before the process exists.
    Started(RecordedStart),
    /// How it ended.
    Ended(RecordedEnd),
    /// Its end will never be known.
    Closed(RecordedLoss),
    /// Something else worth keeping.
    Note(Note),
}

impl From<Step> for EntryBody {
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
