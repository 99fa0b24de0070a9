//! Where an execution stands, as far as the record tells, and which entry may follow which.

use crate::body::{EntryBody, EntryKind};

/// Makes an enum of words: the same word in JSON, in the database and in messages.
macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$inner])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word that programs read.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value that has this word for a name.
            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl rusqlite::types::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(rusqlite::types::ToSqlOutput::from(self.name()))
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                Self::named(value.as_str()?).ok_or(rusqlite::types::FromSqlError::InvalidType)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Where an execution stands.
    Status {
        /// Judged. Neither refused nor started yet; perhaps a person is being asked.
        Asked = "asked",
        /// Nothing was started, and the record says why.
        Refused = "refused",
        /// The entry that goes before a start was written, and no end yet.
        Running = "running",
        /// Ended with exit code 0.
        Completed = "completed",
        /// Ended in another way of its own, or could not be started.
        Failed = "failed",
        /// Ended because somebody said so.
        Canceled = "canceled",
        /// Ended because a clock ran out.
        TimedOut = "timed_out",
        /// Whoever held it is gone and its end is not known.
        Lost = "lost",
        /// A person had its content removed. It had ended before.
        Forgotten = "forgotten",
    }
}

impl Status {
    /// Whether more is to come: it may still start, or it runs.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Asked | Self::Running)
    }

    /// Whether an entry of this kind may follow. A real end may come after "lost": the finder of a dead keeper can be
    /// faster than the one who reads what that keeper left behind, and the end is the better truth.
    #[must_use]
    pub(crate) fn admits(self, kind: EntryKind) -> bool {
        MOVES.iter().any(|(moved, from)| *moved == kind && from.contains(&self))
    }

    /// The state that `record` leads to, if it leads to another.
    pub(crate) fn after(record: &EntryBody) -> Option<Self> {
        match record {
            EntryBody::Asked(_) => Some(Self::Asked),
            EntryBody::Refused(_) => Some(Self::Refused),
            EntryBody::Started(_) => Some(Self::Running),
            EntryBody::Ended(ended) => Some(ended.status.into()),
            EntryBody::Closed(_) => Some(Self::Lost),
            EntryBody::Tombstone(_) => Some(Self::Forgotten),
            _ => None,
        }
    }
}

/// All that still have content.
const KNOWN: &[Status] = &[
    Status::Asked,
    Status::Refused,
    Status::Running,
    Status::Completed,
    Status::Failed,
    Status::Canceled,
    Status::TimedOut,
    Status::Lost,
];

/// Which entries may follow in which states. A second start is the second attempt of one that was first tried with
/// less; one that ends without a start could not be started or was canceled while it waited.
const MOVES: &[(EntryKind, &[Status])] = &[
    (EntryKind::Refused, &[Status::Asked, Status::Running]),
    (EntryKind::Started, &[Status::Asked, Status::Running]),
    (EntryKind::Ended, &[Status::Asked, Status::Running, Status::Lost]),
    (EntryKind::Closed, &[Status::Asked, Status::Running]),
    (EntryKind::Question, &[Status::Asked, Status::Running]),
    (EntryKind::Note, KNOWN),
];
