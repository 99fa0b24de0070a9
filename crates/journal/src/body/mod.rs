//! The contents of entries, as types. Their JSON is the body of an entry; `docs/journal.md` lists every field.

mod approval;
mod execution;
mod foretold;
mod upkeep;

use serde::{Deserialize, Serialize};

pub use approval::{
    ApprovalChannel, EndedGrant, GrantEndCause, GrantId, GrantScope, PersonAnswer, QuestionId,
    QuestionOutcome, RecordedAnswer, RecordedChoice, RecordedPart, RecordedQuestion, RecordedStdin,
    SessionGrant, SettingsLines, UnwrittenSettings,
};
pub use execution::{
    AnswerOptions, EndStatus, LossCause, OutputDetail, RecordedApproval, RecordedDecision, RecordedDenial,
    RecordedEffects, RecordedEnd, RecordedError, RecordedLoss, RecordedProgram, RecordedReason,
    RecordedRequest, RecordedStart, RecordedStream, RecordedVerdict, RecordedView,
};
pub use foretold::{ForetoldCall, ForetoldEffect, RecordedForecast};
pub use upkeep::{Checkpoint, Gap, Note, PruneCause, Tombstone, TrustedFile};

use crate::status::named_enum;

/// Milliseconds since 1970, UTC.
pub type Millis = i64;

/// Identifies a process, so that another process can tell whether it is still alive: say by its pid, start time and boot.
/// The journal doesn't interpret it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessIdentity(pub String);

/// Makes the enum of all records, and the enum of their kinds.
macro_rules! records {
    ($($(#[$doc:meta])* $kind:ident($body:ty) = $word:literal,)*) => {
        named_enum! {
            /// The kind of an entry.
            EntryKind { $($(#[$doc])* $kind = $word,)* }
        }

        /// The content of an entry.
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
    /// It was refused: no process was started.
    Refused(RecordedError) = "refused",
    /// A process is about to be started.
    Started(RecordedStart) = "started",
    /// The execution ended.
    Ended(RecordedEnd) = "ended",
    /// The end of the execution will never be known.
    Closed(RecordedLoss) = "closed",
    /// A person is asked.
    Question(RecordedQuestion) = "question",
    /// A question was closed.
    Answer(RecordedAnswer) = "answer",
    /// An approval that holds for more than one call.
    Grant(SessionGrant) = "grant",
    /// A grant ended before its time.
    GrantEnded(EndedGrant) = "grant_ended",
    /// A project's settings file may loosen the rules while it has this content.
    Trusted(TrustedFile) = "trusted",
    /// Older entries were removed.
    Checkpoint(Checkpoint) = "checkpoint",
    /// The entries before this one were lost.
    Gap(Gap) = "gap",
    /// The content of an execution's entries was removed.
    Tombstone(Tombstone) = "tombstone",
    /// A later call than the one that started the execution showed some of its output.
    Read(RecordedView) = "read",
    /// Anything that has no kind of its own.
    Note(Note) = "note",
}

/// The next entry of an execution, as a caller appends it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// No process will be started.
    Refused(RecordedError),
    /// A process is about to be started.
    Started(RecordedStart),
    /// The execution ended.
    Ended(RecordedEnd),
    /// The end of the execution will never be known.
    Closed(RecordedLoss),
    /// A later call showed some of its output.
    Read(RecordedView),
    /// Anything else.
    Note(Note),
}

impl From<Step> for EntryBody {
    fn from(step: Step) -> Self {
        match step {
            Step::Refused(body) => body.into(),
            Step::Started(body) => body.into(),
            Step::Ended(body) => body.into(),
            Step::Closed(body) => body.into(),
            Step::Read(body) => body.into(),
            Step::Note(body) => body.into(),
        }
    }
}
