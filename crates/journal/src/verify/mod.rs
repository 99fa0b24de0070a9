//! Verifying that the entries are as they were written.
//!
//! First the chain, entry by entry, then the derived tables, then the file as such. Without a head that was kept
//! elsewhere (an anchor), two changes can't be found: a chain that was recomputed to its end, and a chain whose end was
//! cut off, each with the derived tables adjusted. With an anchor they are found.

mod chain;
mod derived;

use rusqlite::Connection;

use crate::error::Error;
use crate::hash::{Head, Sha};
use crate::head_file::HeadFile;
use crate::journal::Journal;
use crate::log;
use crate::open;
use crate::schema::{self, MIGRATIONS};

/// The result of verifying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// No entry was changed.
    Intact(Intact),
    /// This was changed.
    Broken(Break),
}

/// A journal without changes.
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

/// The first place that isn't as it was written.
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
    /// An entry is missing.
    #[error("it is missing; entry {found} comes next")]
    Missing {
        /// The number of the next entry.
        found: u64,
    },
    /// The chain doesn't begin where the last checkpoint says.
    #[error("the chain begins here, and no checkpoint says so")]
    Beginning,
    /// Its link to the entry before is wrong.
    #[error("it follows an entry with hash {recorded}, but the entry before it has {found}")]
    Link {
        /// The hash of the previous entry that was written with it.
        recorded: Sha,
        /// The hash that the entry before has.
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
    /// Its content is gone, and no tombstone lists it.
    #[error("its content is gone, and no tombstone says why")]
    Gone,
    /// It can't be read as an entry.
    #[error("it can't be read: {0}")]
    Unreadable(String),
    /// The chain doesn't end where the table `head` says.
    #[error("the chain ends here, but its head was recorded as {recorded}")]
    End {
        /// What the table `head` says.
        recorded: Head,
    },
    /// The anchored entry has another hash: it or an entry before it was changed, and the chain recomputed.
    #[error("its hash is {found}, but it was anchored with {anchored}")]
    Anchor {
        /// The hash that was kept elsewhere.
        anchored: Sha,
        /// The hash that it has.
        found: Sha,
    },
    /// The chain ends before the anchored entry: its end was cut off.
    #[error("the chain ends here, but entry {anchored} was anchored: what followed was removed")]
    Shortened {
        /// The entry that was anchored.
        anchored: u64,
    },
    /// The anchored entry was pruned, so it can't be compared.
    #[error(
        "the chain begins after it; entry {anchored}, which was anchored, was pruned and can't be compared"
    )]
    AnchorPruned {
        /// The entry that was anchored.
        anchored: u64,
    },
    /// Entries before it were lost, and the entry says so.
    #[error("it follows a loss: the record had entries up to {through}, and the database no longer had them")]
    Lost {
        /// The last entry that was lost.
        through: u64,
    },
    /// The entries are intact, but a derived table doesn't agree with them.
    #[error("table `{table}` doesn't agree with the entries: {message}")]
    Derived {
        /// The table.
        table: &'static str,
        /// Which row differs.
        message: String,
    },
    /// The tables aren't those that shellgate creates.
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
    /// Checks every entry and finds the first that isn't as it was written.
    ///
    /// # Errors
    /// When the journal can't be read at all. An entry that can't be read is a [`Break`], not an error.
    pub fn verify(&self) -> Result<Verification, Error> {
        self.check(None)
    }

    /// Verifies against a head that was kept elsewhere: this also finds a chain that was recomputed or cut off.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_with_head(&self, anchor: Head) -> Result<Verification, Error> {
        self.check(Some(anchor))
    }

    fn check(&self, anchor: Option<Head>) -> Result<Verification, Error> {
        let connection = match self.reader() {
            // What is wrong with it is found below.
            Err(Error::Damaged { .. }) => open::to_read(&self.folder)?,
            connection => connection?,
        };
        // Before the snapshot: other processes go on writing. While the log has lines, the head that was kept is theirs. The end
        // of the log may be a line that is being written, so its beginning is looked at.
        let has_lines = || log::lines_in(&self.folder).is_ok_and(|mut lines| lines.next().is_some());
        let kept = HeadFile::in_folder(&self.folder)?.filter(|_| !has_lines());
        let anchors = Anchors { given: anchor, kept };
        let snapshot = connection.unchecked_transaction()?;
        let mut reached = 0;
        match verify_all(&snapshot, anchors, &mut reached) {
            Ok(intact) => Ok(Verification::Intact(intact)),
            Err(VerifyError::Broken(broken)) => Ok(Verification::Broken(broken)),
            Err(VerifyError::Error(Error::Damaged { message })) => {
                Ok(Verification::Broken(Break { seq: reached + 1, what: Difference::Unreadable(message) }))
            }
            Err(VerifyError::Error(error)) => Err(error),
        }
    }
}

/// Heads that the chain is compared with.
#[derive(Clone, Copy)]
struct Anchors {
    /// The head that a person kept elsewhere. Losses before it are known to that person.
    given: Option<Head>,
    /// The head in the file beside the database.
    kept: Option<Head>,
}

impl Anchors {
    fn all(self) -> impl Iterator<Item = Head> {
        self.given.into_iter().chain(self.kept)
    }
}

/// Why a verification stopped.
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

fn verify_all(connection: &Connection, anchors: Anchors, reached: &mut u64) -> Result<Intact, VerifyError> {
    let intact = chain::check(connection, anchors, reached)?;
    derived::check(connection, intact.head.seq)?;
    compare_schema(connection, intact.head.seq)?;
    Ok(intact)
}

fn compare_schema(connection: &Connection, head: u64) -> Result<(), VerifyError> {
    let mut model = Connection::open_in_memory()?;
    schema::migrate(&mut model, MIGRATIONS)?;
    let (expected, found) = (schema::objects(&model)?, schema::objects(connection)?);
    let odd = |from: &[(String, _)], other: &[(String, _)]| {
        from.iter().find(|object| !other.contains(object)).map(|(name, _)| name.clone())
    };
    if let Some(name) = odd(&found, &expected).or_else(|| odd(&expected, &found)) {
        return broken(head, Difference::Schema { name });
    }
    // Compares the indexes with their tables, too; no query of ours does.
    let message: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if message == "ok" { Ok(()) } else { broken(head, Difference::File(message)) }
}
