//! Appending to an execution: which entries may follow, and what the table `executions` says.

use rusqlite::{OptionalExtension as _, params};

use crate::body::{EntryBody, EntryKind, RecordedRequest, Step};
use crate::chain::Writer;
use crate::error::Error;
use crate::hash::Head;
use crate::journal::Journal;
use crate::status::Status;

impl Journal {
    /// Records a request that was judged, and the entries that follow it at once (`steps`), as one transaction. When
    /// this has returned, the entries survive the death of this process. Start the command only then.
    ///
    /// `id` must be new, and must sort by the time at which it was made, as ULIDs do: history lists executions in that
    /// order.
    ///
    /// # Errors
    /// When `id` was used before, or the entries can't be written. Then none of them is.
    pub fn begin(
        &self,
        id: &str,
        session: &str,
        asked: RecordedRequest,
        steps: Vec<Step>,
    ) -> Result<Head, Error> {
        if self.is_known(id)? {
            return Err(Error::DuplicateExecution { id: id.to_owned() });
        }
        self.begin_new(id, session, asked, steps)
    }

    /// The same for an id that was made for this call, so that no other execution can have it: the database needn't be asked.
    ///
    /// # Errors
    /// When the entries can't be written. Then none of them is.
    pub fn begin_new(
        &self,
        id: &str,
        session: &str,
        asked: RecordedRequest,
        steps: Vec<Step>,
    ) -> Result<Head, Error> {
        if !steps.is_empty()
            && let Some(head) = self.begin_in_log(id, session, &asked, &steps)?
        {
            return Ok(head);
        }
        self.write(|writer| {
            writer.append_body(Some(id), Some(session), &EntryBody::Asked(asked))?;
            let mut update =
                ExecutionUpdate::new(id, ExecutionRow { session: session.to_owned(), status: Status::Asked });
            for step in steps {
                update.append(writer, &step.into())?;
            }
            let mut insert = writer.connection.prepare_cached(
                "INSERT INTO executions (id, session, at, status, last) VALUES (?, ?, ?, ?, ?)
                 ON CONFLICT DO NOTHING",
            )?;
            let row = params![id, session, writer.now, update.row.status, writer.head().seq];
            if insert.execute(row)? == 0 {
                return Err(Error::DuplicateExecution { id: id.to_owned() });
            }
            Ok(writer.head())
        })
    }

    /// Appends entries to an execution that the journal knows, as one transaction.
    ///
    /// # Errors
    /// [`Error::IllegalMove`] when one of `steps` can't follow the entry before it: an execution has one end. Another
    /// error when the entries can't be written. In both cases none of them is.
    pub fn append(&self, id: &str, steps: Vec<Step>) -> Result<Head, Error> {
        if let Some(head) = self.end_in_log(id, &steps)? {
            return Ok(head);
        }
        self.write(|writer| follow(writer, id, steps))
    }

    /// Writes a note that belongs to no execution.
    ///
    /// # Errors
    /// When the entry can't be written.
    pub fn note(&self, session: Option<&str>, text: &str) -> Result<Head, Error> {
        let note = EntryBody::Note(crate::body::Note { text: text.to_owned() });
        self.write(|writer| writer.append_body(None, session, &note))
    }
}

fn follow(writer: &mut Writer<'_>, id: &str, steps: Vec<Step>) -> Result<Head, Error> {
    let bodies: Vec<EntryBody> = steps.into_iter().map(EntryBody::from).collect();
    append_all(writer, id, &bodies)
}

/// A row of `executions`.
pub(crate) struct ExecutionRow {
    pub(crate) session: String,
    pub(crate) status: Status,
}

pub(crate) fn find_row(writer: &Writer<'_>, id: &str) -> Result<Option<ExecutionRow>, Error> {
    let mut select =
        writer.connection.prepare_cached("SELECT session, status FROM executions WHERE id = ?")?;
    let read = |row: &rusqlite::Row<'_>| Ok(ExecutionRow { session: row.get(0)?, status: row.get(1)? });
    Ok(select.query_row([id], read).optional()?)
}

pub(crate) fn require_row(writer: &Writer<'_>, id: &str) -> Result<ExecutionRow, Error> {
    find_row(writer, id)?.ok_or_else(|| Error::UnknownExecution { id: id.to_owned() })
}

/// Appends one entry to an execution, if it may follow.
pub(crate) fn append(writer: &mut Writer<'_>, id: &str, body: &EntryBody) -> Result<Head, Error> {
    append_all(writer, id, std::slice::from_ref(body))
}

fn append_all(writer: &mut Writer<'_>, id: &str, bodies: &[EntryBody]) -> Result<Head, Error> {
    let mut update = ExecutionUpdate::new(id, require_row(writer, id)?);
    if bodies.is_empty() {
        return Ok(writer.head());
    }
    for body in bodies {
        update.append(writer, body)?;
    }
    let head = writer.head();
    set_last_entry(writer, id, Some(update.row.status), head.seq)?;
    if update.is_over {
        crate::question::cancel_all(writer, id)?;
    }
    Ok(head)
}

/// Entries for one execution within one transaction. `executions` is read before the first and written after the last.
struct ExecutionUpdate<'a> {
    id: &'a str,
    row: ExecutionRow,
    is_over: bool,
}

impl<'a> ExecutionUpdate<'a> {
    const fn new(id: &'a str, row: ExecutionRow) -> Self {
        Self { id, row, is_over: false }
    }

    fn append(&mut self, writer: &mut Writer<'_>, body: &EntryBody) -> Result<(), Error> {
        let ExecutionRow { session, status } = &mut self.row;
        let kind = body.kind();
        if !status.admits(kind) {
            return Err(Error::IllegalMove { id: self.id.to_owned(), status: *status, kind });
        }
        writer.append_body(Some(self.id), Some(session), body)?;
        *status = Status::after(body).unwrap_or(*status);
        self.is_over |= matches!(kind, EntryKind::Refused | EntryKind::Ended | EntryKind::Closed);
        Ok(())
    }
}

/// Sets the last entry of an execution to `seq`, and its state if that changed.
pub(crate) fn set_last_entry(
    writer: &Writer<'_>,
    id: &str,
    status: Option<Status>,
    seq: u64,
) -> Result<(), Error> {
    let update = "UPDATE executions SET last = ?2, status = coalesce(?3, status) WHERE id = ?1";
    writer.connection.prepare_cached(update)?.execute(params![id, seq, status])?;
    Ok(())
}

/// Sets the state of an execution without a new last entry: a tombstone is about its entries, not one of them.
pub(crate) fn set_status(writer: &Writer<'_>, id: &str, status: Status) -> Result<(), Error> {
    let update = "UPDATE executions SET status = ? WHERE id = ?";
    writer.connection.prepare_cached(update)?.execute(params![status, id])?;
    Ok(())
}
