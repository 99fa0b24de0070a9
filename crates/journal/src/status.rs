//! The state of an execution according to its entries, and which entry may follow which.

use crate::body::{EntryBody, EntryKind};

/// Makes an enum whose values have the same name in JSON, in the database and in messages.
macro_rules! named_enum {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$inner])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value of this name.
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
pub(crate) use named_enum;

named_enum! {
    /// The state of an execution.
    Status {
        /// Judged, and neither refused nor started yet. Perhaps a question is pending.
        Asked = "asked",
        /// Refused: no process was started.
        Refused = "refused",
        /// The entry before the start was written, and no end yet.
        Running = "running",
        /// Ended with exit code 0.
        Completed = "completed",
        /// Ended with another exit code or by a signal, or could not be started.
        Failed = "failed",
        /// Stopped on request.
        Canceled = "canceled",
        /// Stopped because its time was over.
        TimedOut = "timed_out",
        /// Its keeper or its caller is gone, and its end is not known.
        Lost = "lost",
        /// A person had the content of its entries removed. It had ended before.
        Forgotten = "forgotten",
    }
}

impl Status {
    /// Whether it has no end yet: it may still start, or it runs.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Asked | Self::Running)
    }

    /// Whether an entry of this kind may follow. An end may follow "lost": one process may close an execution as lost
    /// before another finds the end that the keeper stored, and the stored end is right.
    #[must_use]
    pub(crate) fn admits(self, kind: EntryKind) -> bool {
        ALLOWED_AFTER.iter().any(|(allowed, states)| *allowed == kind && states.contains(&self))
    }

    /// The state that an entry leads to, if it changes the state.
    pub(crate) fn after(body: &EntryBody) -> Option<Self> {
        match body {
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

/// All states but [`Status::Forgotten`].
const NOT_FORGOTTEN: &[Status] = &[
    Status::Asked,
    Status::Refused,
    Status::Running,
    Status::Completed,
    Status::Failed,
    Status::Canceled,
    Status::TimedOut,
    Status::Lost,
];

/// Which entries may follow in which states. A second start is a second attempt, with fewer restrictions than the first.
/// An end without a start belongs to a request that could not be started, or was canceled while its question waited.
const ALLOWED_AFTER: &[(EntryKind, &[Status])] = &[
    (EntryKind::Refused, &[Status::Asked, Status::Running]),
    (EntryKind::Started, &[Status::Asked, Status::Running]),
    (EntryKind::Ended, &[Status::Asked, Status::Running, Status::Lost]),
    (EntryKind::Closed, &[Status::Asked, Status::Running]),
    (EntryKind::Question, &[Status::Asked, Status::Running]),
    (EntryKind::Read, NOT_FORGOTTEN),
    (EntryKind::Note, NOT_FORGOTTEN),
];
