//! The life of an execution: what may be appended, and what `executions` says about it.

use rusqlite::{OptionalExtension as _, params};

use crate::body::{EntryBody, EntryKind, RecordedRequest, Step};
use crate::chain::Writer;
use crate::error::Error;
use crate::hash::Head;
use crate::journal::Journal;
use crate::status::Status;

impl Journal {
    /// Records a request that was judged, and what follows at once (`steps`), as one transaction. When this returns,
    /// the entries are there whatever happens to this process: only now may a process be started.
    ///
    /// Names must be new, and sort by the time they were made, as ULIDs do: history shows them in that order.
    ///
    /// # Errors
    /// When the name was used before, or the entries can't be written. Nothing is recorded then.
    pub fn begin(
        &self,
        id: &str,
        session: &str,
        asked: RecordedRequest,
        steps: Vec<Step>,
    ) -> Result<Head, Error> {
        self.write(|writer| {
            writer.append_body(Some(id), Some(session), &EntryBody::Asked(asked))?;
            let mut update =
                ExecutionUpdate::new(id, ExecutionRow { session: session.to_owned(), status: Status::Asked });
            for step in steps {
                update.go_on(writer, &step.into())?;
            }
            let mut insert = writer.connection.prepare_cached(
                "INSERT INTO executions (id, session, at, status, last) VALUES (?, ?, ?, ?, ?)
                 ON CONFLICT DO NOTHING",
            )?;
            let row = params![id, session, writer.now, update.known.status, writer.head().seq];
            if insert.execute(row)? == 0 {
                return Err(Error::DuplicateExecution { id: id.to_owned() });
            }
            Ok(writer.head())
        })
    }

    /// Appends to an execution that the journal knows, as one transaction.
    ///
    /// # Errors
    /// [`Error::IllegalMove`] when the first of `steps`, or one after another, can't follow: an execution has one end.
    /// Else when the entries can't be written. Nothing is recorded then.
    pub fn append(&self, id: &str, steps: Vec<Step>) -> Result<Head, Error> {
        self.write(|writer| follow(writer, id, steps))
    }

    /// Keeps something that belongs to no execution.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn note(&self, session: Option<&str>, text: &str) -> Result<Head, Error> {
        let note = EntryBody::Note(crate::body::Note { text: text.to_owned() });
        self.write(|writer| writer.append_body(None, session, &note))
    }
}

fn follow(writer: &mut Writer<'_>, id: &str, steps: Vec<Step>) -> Result<Head, Error> {
    let records: Vec<EntryBody> = steps.into_iter().map(EntryBody::from).collect();
    append_all(writer, id, &records)
}

/// What `executions` says.
pub(crate) struct ExecutionRow {
    pub(crate) session: String,
    pub(crate) status: Status,
}

pub(crate) fn known(writer: &Writer<'_>, id: &str) -> Result<Option<ExecutionRow>, Error> {
    let mut select =
        writer.connection.prepare_cached("SELECT session, status FROM executions WHERE id = ?")?;
    let read = |row: &rusqlite::Row<'_>| Ok(ExecutionRow { session: row.get(0)?, status: row.get(1)? });
    Ok(select.query_row([id], read).optional()?)
}

pub(crate) fn expect(writer: &Writer<'_>, id: &str) -> Result<ExecutionRow, Error> {
    known(writer, id)?.ok_or_else(|| Error::UnknownExecution { id: id.to_owned() })
}

/// Appends `record` to an execution, if it may follow.
pub(crate) fn append(writer: &mut Writer<'_>, id: &str, record: &EntryBody) -> Result<Head, Error> {
    append_all(writer, id, std::slice::from_ref(record))
}

fn append_all(writer: &mut Writer<'_>, id: &str, records: &[EntryBody]) -> Result<Head, Error> {
    let mut update = ExecutionUpdate::new(id, expect(writer, id)?);
    if records.is_empty() {
        return Ok(writer.head());
    }
    for record in records {
        update.go_on(writer, record)?;
    }
    let head = writer.head();
    advance(writer, id, Some(update.known.status), head.seq)?;
    if update.is_over {
        crate::question::cancel_all(writer, id)?;
    }
    Ok(head)
}

/// An execution within a transaction: `executions` is read before it and written after it, once.
struct ExecutionUpdate<'a> {
    id: &'a str,
    known: ExecutionRow,
    is_over: bool,
}

impl<'a> ExecutionUpdate<'a> {
    const fn new(id: &'a str, known: ExecutionRow) -> Self {
        Self { id, known, is_over: false }
    }

    fn go_on(&mut self, writer: &mut Writer<'_>, record: &EntryBody) -> Result<(), Error> {
        let ExecutionRow { session, status } = &mut self.known;
        let kind = record.kind();
        if !status.admits(kind) {
            return Err(Error::IllegalMove { id: self.id.to_owned(), status: *status, kind });
        }
        writer.append_body(Some(self.id), Some(session), record)?;
        *status = Status::after(record).unwrap_or(*status);
        self.is_over |= matches!(kind, EntryKind::Refused | EntryKind::Ended | EntryKind::Closed);
        Ok(())
    }
}

/// Notes that `seq` is the last entry of an execution, and where it now stands.
pub(crate) fn advance(writer: &Writer<'_>, id: &str, status: Option<Status>, seq: u64) -> Result<(), Error> {
    let update = "UPDATE executions SET last = ?2, status = coalesce(?3, status) WHERE id = ?1";
    writer.connection.prepare_cached(update)?.execute(params![id, seq, status])?;
    Ok(())
}

/// Notes where an execution stands, by an entry that is about its record and not part of its update.
pub(crate) fn advance_status(writer: &Writer<'_>, id: &str, status: Status) -> Result<(), Error> {
    let update = "UPDATE executions SET status = ? WHERE id = ?";
    writer.connection.prepare_cached(update)?.execute(params![status, id])?;
    Ok(())
}
