//! Is the record what it was when it was written?
//!
//! First the chain, entry by entry. Then what is derived from it, and the file as such. Without an anchor this finds
//! every change but one: a chain that was computed anew to its end, or cut off at its end, with all that is derived.
//! With a head that was kept elsewhere it finds that too.

mod chain;
mod derived;

use rusqlite::Connection;

use crate::error::Error;
use crate::hash::{Head, Sha};
use crate::journal::Journal;
use crate::schema::{self, STEPS};

/// What verifying found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Nothing was changed.
    Intact(Intact),
    /// Something was.
    Broken(Break),
}

/// A record that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intact {
    /// Its last entry.
    pub head: Head,
    /// How many entries it has.
    pub entries: u64,
    /// How many of them were forgotten, as tombstones say.
    pub forgotten: u64,
    /// The last entry that was pruned, if any was.
    pub pruned: Option<Head>,
}

/// The first thing that isn't as it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq}: {what}")]
pub struct Break {
    /// The entry where it shows.
    pub seq: u64,
    /// What differs.
    pub what: Difference,
}

/// What isn't as it was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// A number is left out.
    #[error("it is missing; entry {found} comes next")]
    Missing {
        /// The next one that there is.
        found: u64,
    },
    /// The first entry isn't where the last checkpoint says that the chain begins.
    #[error("the chain begins here, and no checkpoint says so")]
    Beginning,
    /// It doesn't follow the one before.
    #[error("it follows an entry with hash {recorded}, but the entry before it has {found}")]
    Link {
        /// The hash that it was written after.
        recorded: Sha,
        /// The hash of the entry before.
        found: Sha,
    },
    /// Its columns were changed.
    #[error("its columns were changed: their hash is {found}, not {recorded}")]
    Columns {
        /// The hash that was written with it.
        recorded: Sha,
        /// The hash that it has.
        found: Sha,
    },
    /// Its content was changed.
    #[error("its content was changed: its hash is {found}, not {recorded}")]
    Content {
        /// The hash that was written with it.
        recorded: Sha,
        /// The hash that it has.
        found: Sha,
    },
    /// Its content is gone, and nobody had it forgotten.
    #[error("its content is gone, and no tombstone says why")]
    Gone,
    /// It isn't an entry at all.
    #[error("it can't be read: {0}")]
    Unreadable(String),
    /// The chain ends elsewhere than it should.
    #[error("the chain ends here, but its head was recorded as {recorded}")]
    End {
        /// What the table `head` says.
        recorded: Head,
    },
    /// The anchored entry has another hash: what leads to it was changed and computed anew.
    #[error("its hash is {found}, but it was anchored with {anchored}")]
    Anchor {
        /// The hash that was kept elsewhere.
        anchored: Sha,
        /// The hash that it has.
        found: Sha,
    },
    /// The anchored entry isn't there yet: the chain was cut off.
    #[error("the chain ends here, but entry {anchored} was anchored: what followed was removed")]
    Shortened {
        /// The entry that was anchored.
        anchored: u64,
    },
    /// The anchored entry was pruned, so nothing can be said about it.
    #[error(
        "the chain begins after it; entry {anchored}, which was anchored, was pruned and can't be compared"
    )]
    AnchorPruned {
        /// The entry that was anchored.
        anchored: u64,
    },
    /// The record is whole, but a table that is derived from it says otherwise.
    #[error("table `{table}` doesn't agree with the record: {message}")]
    Derived {
        /// The table.
        table: &'static str,
        /// What it says.
        message: String,
    },
    /// The tables aren't those that shellgate makes.
    #[error("the tables were changed: `{name}` was added, removed or altered")]
    Schema {
        /// The table, index or trigger.
        name: String,
    },
    /// SQLite says that the file is damaged.
    #[error("the file is damaged: {0}")]
    File(String),
}

impl Journal {
    /// Looks at every entry and names the first that isn't as it was written.
    ///
    /// # Errors
    /// When the journal can't be read at all. What can't be read of it is a break, not an error.
    pub fn verify(&self) -> Result<Verification, Error> {
        self.check(None)
    }

    /// The same, with a head that was kept elsewhere: also a chain that was computed anew, or cut off, is found.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_with_head(&self, anchor: Head) -> Result<Verification, Error> {
        self.check(Some(anchor))
    }

    fn check(&self, anchor: Option<Head>) -> Result<Verification, Error> {
        let connection = self.reader()?;
        let moment = connection.unchecked_transaction()?;
        let mut reached = 0;
        match whole(&moment, anchor, &mut reached) {
            Ok(intact) => Ok(Verification::Intact(intact)),
            Err(VerifyError::Broken(broken)) => Ok(Verification::Broken(broken)),
            Err(VerifyError::Error(Error::Damaged { message })) => {
                Ok(Verification::Broken(Break { seq: reached + 1, what: Difference::Unreadable(message) }))
            }
            Err(VerifyError::Error(error)) => Err(error),
        }
    }
}

/// What ends a verification.
enum VerifyError {
    Broken(Break),
    Error(Error),
}

impl<E: Into<Error>> From<E> for VerifyError {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

fn broken<T>(seq: u64, what: Difference) -> Result<T, VerifyError> {
    Err(VerifyError::Broken(Break { seq, what }))
}

fn whole(connection: &Connection, anchor: Option<Head>, reached: &mut u64) -> Result<Intact, VerifyError> {
    let intact = chain::check(connection, anchor, reached)?;
    derived::check(connection, intact.head.seq)?;
    tables(connection, intact.head.seq)?;
    Ok(intact)
}

fn tables(connection: &Connection, head: u64) -> Result<(), VerifyError> {
    let mut model = Connection::open_in_memory()?;
    schema::migrate(&mut model, STEPS)?;
    let (expected, found) = (schema::objects(&model)?, schema::objects(connection)?);
    let odd = |from: &[(String, _)], other: &[(String, _)]| {
        from.iter().find(|object| !other.contains(object)).map(|(name, _)| name.clone())
    };
    if let Some(name) = odd(&found, &expected).or_else(|| odd(&expected, &found)) {
        return broken(head, Difference::Schema { name });
    }
    // Also compares the indexes with their tables, which no query of ours does.
    let message: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if message == "ok" { Ok(()) } else { broken(head, Difference::File(message)) }
}
