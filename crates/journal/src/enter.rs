//! Entering the lines of the log into the database.
//!
//! A line that follows the last entry is entered as it is. Where the database is behind (a log of SQLite was lost) or ahead (a process
//! died before it had kept the head), the line gets a new number and hash, and a gap says what is missing before it. What an
//! execution's state doesn't admit is left out: it was entered before, or another process has recorded the end.

use std::ffi::c_int;
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, params};
use tracing::warn;

use crate::body::{EntryBody, EntryKind, Gap};
use crate::chain::{NewEntry, Writer};
use crate::error::Error;
use crate::execution::{find_row, set_last_entry};
use crate::hash::Head;
use crate::journal::Journal;
use crate::log::{self, Line};
use crate::open;
use crate::status::Status;

/// From this length on the log is entered by those who write to it. That takes some milliseconds.
const LONG_LOG_BYTES: u64 = 64 << 10;

/// How many pages are copied at once.
const COPIED_PAGES: c_int = 1024;

impl Journal {
    /// Enters what is in the log. Calls that read the record do it themselves.
    ///
    /// # Errors
    /// When the database can't be written.
    pub fn enter(&self) -> Result<(), Error> {
        match self.log() {
            Some(log) if log.bytes() > 0 => self.write(|_| Ok(())),
            Some(_) => Ok(()),
            None => self.enter_elsewhere(),
        }
    }

    /// Enters what is in the log, if that is long.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    pub fn enter_if_long(&self) -> Result<(), Error> {
        if self.has_long_log() { self.enter() } else { Ok(()) }
    }

    /// Whether the log is so long that it should be entered.
    #[must_use]
    pub fn has_long_log(&self) -> bool {
        self.log().is_some_and(|log| log.bytes() > LONG_LOG_BYTES)
    }

    /// The same for a journal that is open for reading.
    fn enter_elsewhere(&self) -> Result<(), Error> {
        if log::head_in(&self.folder).is_none() {
            return Ok(());
        }
        Self::open(&self.folder)?.enter()
    }

    /// A copy of the database in memory, with what is in the log: for readers where the disk takes no more.
    pub(crate) fn copy_with_log(&self) -> Result<Connection, Error> {
        let database = open::to_read(&self.folder)?;
        let mut copy = Connection::open_in_memory()?;
        Backup::new(&database, &mut copy)?.run_to_completion(COPIED_PAGES, Duration::ZERO, None)?;
        let mut writer = Writer::new(&copy, crate::journal::now())?;
        enter_all(&mut writer, log::lines_in(&self.folder)?)?;
        writer.finish()?;
        Ok(copy)
    }
}

/// Enters all lines. Returns whether one of them isn't linked as it was written.
pub(crate) fn enter_all(
    writer: &mut Writer<'_>,
    lines: impl Iterator<Item = Result<Line, Error>>,
) -> Result<bool, Error> {
    let mut entering = Entering { writer, before: Before::Database, is_relinked: false };
    for line in lines {
        match line {
            Ok(line) => entering.enter(line)?,
            Err(error @ Error::Damaged { .. }) => {
                warn!(%error, "a line of the log can't be entered");
                entering.lose(None)?;
                entering.before = Before::Lost;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(entering.is_relinked)
}

struct Entering<'a, 'b> {
    writer: &'a mut Writer<'b>,
    before: Before,
    /// Whether a line isn't linked as it was written.
    is_relinked: bool,
}

/// What comes before a line.
enum Before {
    /// The entries of the database.
    Database,
    /// A line with this head.
    Line(Head),
    /// A line that can't be read, and a gap.
    Lost,
}

impl Entering<'_, '_> {
    fn enter(&mut self, line: Line) -> Result<(), Error> {
        let follows = match self.before {
            Before::Database => line.head.seq <= self.writer.head().seq + 1,
            Before::Line(last) => line.head.seq == last.seq + 1 && line.previous == last.hash,
            Before::Lost => true,
        };
        self.before = Before::Line(line.head);
        if !follows {
            self.lose(Some(&line))?;
        }
        let head = self.writer.head();
        if line.head.seq <= head.seq && self.has(&line)? {
            return Ok(());
        }
        let Some(status) = status_after(self.writer, &line)? else {
            warn!(id = line.exec_id, kind = %line.kind, "an entry of the log was recorded before");
            self.is_relinked = true;
            return Ok(());
        };
        if line.previous == head.hash && line.head.seq == head.seq + 1 {
            self.writer.append_line(&line)?;
        } else {
            self.is_relinked = true;
            let Line { at, kind, exec_id, session, body, .. } = &line;
            let (exec_id, session) = (Some(exec_id.as_str()), Some(session.as_str()));
            self.writer.append(&NewEntry {
                at: *at,
                kind: *kind,
                exec_id,
                session,
                carried: None,
                body: body.clone(),
            })?;
        }
        self.derive(&line, status)
    }

    /// Whether the database has this very entry.
    fn has(&self, line: &Line) -> Result<bool, Error> {
        let select = "SELECT 1 FROM entries WHERE seq = ? AND hash = ?";
        let mut statement = self.writer.connection.prepare_cached(select)?;
        Ok(statement.exists(params![line.head.seq, line.head.hash.0])?)
    }

    /// Notes that entries are missing: those before `line`, or some that can't be read.
    fn lose(&mut self, line: Option<&Line>) -> Result<(), Error> {
        let head = self.writer.head();
        let gap = match line {
            Some(line) => Gap { through: line.head.seq - 1, hash: line.previous },
            None => Gap { through: head.seq + 1, hash: head.hash },
        };
        self.is_relinked = true;
        self.writer.append_body(None, None, &EntryBody::Gap(gap))?;
        Ok(())
    }

    /// Writes the derived tables for the entry that was appended last.
    fn derive(&mut self, line: &Line, status: Status) -> Result<(), Error> {
        let seq = self.writer.head().seq;
        if line.kind == EntryKind::Asked {
            let insert = "INSERT INTO executions (id, session, at, status, last) VALUES (?, ?, ?, ?, ?)";
            let row = params![line.exec_id, line.session, line.at, status, seq];
            self.writer.connection.prepare_cached(insert)?.execute(row)?;
            return Ok(());
        }
        set_last_entry(self.writer, &line.exec_id, Some(status), seq)?;
        if matches!(line.kind, EntryKind::Refused | EntryKind::Ended | EntryKind::Closed) {
            crate::question::cancel_all(self.writer, &line.exec_id)?;
        }
        Ok(())
    }
}

/// The state that a line leads to. `None`: the execution doesn't admit it.
fn status_after(writer: &Writer<'_>, line: &Line) -> Result<Option<Status>, Error> {
    let row = find_row(writer, &line.exec_id)?;
    let is_admitted = match &row {
        None => line.kind == EntryKind::Asked,
        Some(row) => line.kind != EntryKind::Asked && row.status.admits(line.kind),
    };
    if !is_admitted {
        return Ok(None);
    }
    let body = EntryBody::read(line.kind, &line.body)?;
    Ok(Status::after(&body).or(row.map(|row| row.status)))
}
