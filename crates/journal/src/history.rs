//! Reading past executions, newest first.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::body::{
    EntryBody, EntryKind, Millis, RecordedEnd, RecordedError, RecordedLoss, RecordedRequest, RecordedStart,
    RecordedView,
};
use crate::canonical;
use crate::entry::{COLUMNS, EntryRow, JournalEntry};
use crate::error::Error;
use crate::journal::Journal;
use crate::status::Status;

/// An execution as the journal knows it. Content that was forgotten is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct PastExecution {
    /// Its name.
    pub id: String,
    /// Its session.
    pub session: String,
    /// When it was asked for.
    pub at: Millis,
    /// When something was last written about it.
    pub last_at: Millis,
    /// Its state.
    pub status: Status,
    /// The request.
    pub asked: Option<RecordedRequest>,
    /// Why it was refused.
    pub refused: Option<RecordedError>,
    /// Its start; the last one when it was started twice. It names the files of the output, also after a crash.
    pub started: Option<RecordedStart>,
    /// Its end.
    pub ended: Option<RecordedEnd>,
    /// Why its end will never be known.
    pub closed: Option<RecordedLoss>,
    /// What later calls showed of its output.
    pub reads: Vec<RecordedView>,
}

/// Which executions to list. Every condition must hold.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only of this session and its chats.
    pub session: Option<String>,
    /// Only in one of these states. Empty: in any.
    pub statuses: Vec<Status>,
    /// Only requested at this time or later.
    pub since: Option<Millis>,
    /// Only requested before this time.
    pub until: Option<Millis>,
    /// Only with this text in the command, or in output that the record has.
    pub containing: Option<String>,
    /// Only older than the execution of this name: the last one of the previous page.
    pub before: Option<String>,
    /// How many at most. 0: all.
    pub limit: usize,
}

impl Journal {
    /// The executions that match, newest first. For the next page set `before` to the last one's `id`.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn history(&self, query: &Query) -> Result<Vec<PastExecution>, Error> {
        let connection = self.reader()?;
        let snapshot = connection.unchecked_transaction()?;
        let (sql, parameters) = select(query)?;
        let mut statement = snapshot.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(parameters))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let execution = load(&snapshot, row)?;
            if execution.contains(query.containing.as_deref()) {
                found.push(execution);
            }
            if query.limit != 0 && found.len() == query.limit {
                break;
            }
        }
        Ok(found)
    }

    /// The executions that have no end yet, oldest first. After a crash some of them have neither a keeper nor a caller
    /// any more: append [`RecordedLoss`] to those.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn open_executions(&self) -> Result<Vec<PastExecution>, Error> {
        let connection = self.reader()?;
        let snapshot = connection.unchecked_transaction()?;
        let mut statement = snapshot.prepare(
            "SELECT id, session, at, status FROM executions WHERE status IN ('asked', 'running') ORDER BY id",
        )?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(load(&snapshot, row)?);
        }
        Ok(found)
    }

    /// One execution. `None` when the journal doesn't know it, or when it was pruned.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn execution(&self, id: &str) -> Result<Option<PastExecution>, Error> {
        let connection = self.reader()?;
        let snapshot = connection.unchecked_transaction()?;
        let mut statement =
            snapshot.prepare("SELECT id, session, at, status FROM executions WHERE id = ?")?;
        let mut rows = statement.query([id])?;
        rows.next()?.map(|row| load(&snapshot, row)).transpose()
    }

    /// The names of executions that begin with `prefix`, oldest first, `limit` at most. `session`: only of this session and
    /// its chats.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn names(&self, prefix: &str, session: Option<&str>, limit: usize) -> Result<Vec<String>, Error> {
        let connection = self.reader()?;
        // `~` sorts after every character that a name can have.
        let mut sql = String::from("SELECT id FROM executions WHERE id >= ? AND id < ? || '~'");
        let mut parameters = vec![Value::from(prefix.to_owned()), Value::from(prefix.to_owned())];
        if let Some(session) = session {
            sql.push_str(" AND ");
            sql.push_str(OF_SESSION);
            parameters.extend(session_bounds(session).map(Value::from));
        }
        sql.push_str(" ORDER BY id LIMIT ?");
        parameters.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
        let mut statement = connection.prepare(&sql)?;
        let names = statement.query_map(params_from_iter(parameters), |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// All entries about one execution, in the order in which they were first written.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn entries_of(&self, id: &str) -> Result<Vec<JournalEntry>, Error> {
        latest_entries(&self.reader()?, id)?.into_iter().map(EntryRow::into_entry).collect()
    }
}

impl PastExecution {
    fn contains(&self, text: Option<&str>) -> bool {
        let output = self.ended.iter().flat_map(|ended| [&ended.stdout, &ended.stderr]);
        let mut texts = output
            .filter_map(|stream| stream.text.as_ref())
            .chain(self.asked.as_ref().map(|asked| &asked.text));
        text.is_none_or(|text| texts.any(|searched| searched.contains(text)))
    }
}

/// Whether the session `name` is `session` or a chat of it: `A/b` is a chat of `A`.
#[must_use]
pub fn session_contains(session: &str, name: &str) -> bool {
    name.strip_prefix(session).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The rule of [`session_contains`] as a condition. Its parameters are the [`session_bounds`].
const OF_SESSION: &str = "(session = ? OR (session >= ? AND session < ?))";

/// The names of chats begin with `SESSION/`, and `0` is the character after `/`.
fn session_bounds(session: &str) -> [String; 3] {
    [session.to_owned(), format!("{session}/"), format!("{session}0")]
}

/// The statement for a query, and its parameters.
fn select(query: &Query) -> Result<(String, Vec<Value>), Error> {
    let mut sql = String::from("SELECT id, session, at, status FROM executions WHERE TRUE");
    let mut parameters = Vec::new();
    let mut require = |condition: &str, values: Vec<Value>| {
        sql.push_str(" AND ");
        sql.push_str(condition);
        parameters.extend(values);
    };
    if let Some(before) = &query.before {
        require("id < ?", vec![before.clone().into()]);
    }
    if let Some(since) = query.since {
        require("at >= ?", vec![since.into()]);
    }
    if let Some(until) = query.until {
        require("at < ?", vec![until.into()]);
    }
    if let Some(session) = &query.session {
        require(OF_SESSION, session_bounds(session).map(Value::from).into());
    }
    if !query.statuses.is_empty() {
        let marks = vec!["?"; query.statuses.len()].join(", ");
        let values = query.statuses.iter().map(|status| Value::from(status.name().to_owned())).collect();
        require(&format!("status IN ({marks})"), values);
    }
    if let Some(text) = &query.containing {
        // Quick, but it also finds the text in other fields of the body: `history` compares command and output again.
        let condition = "EXISTS (SELECT 1 FROM entries
            WHERE exec_id = executions.id AND kind IN ('asked', 'ended') AND instr(body, ?) > 0)";
        require(condition, vec![canonical::escaped(text)?.into()]);
    }
    sql.push_str(" ORDER BY id DESC");
    Ok((sql, parameters))
}

fn load(connection: &Connection, row: &rusqlite::Row<'_>) -> Result<PastExecution, Error> {
    let mut execution = PastExecution {
        id: row.get(0)?,
        session: row.get(1)?,
        at: row.get(2)?,
        last_at: row.get(2)?,
        status: row.get(3)?,
        asked: None,
        refused: None,
        started: None,
        ended: None,
        closed: None,
        reads: Vec::new(),
    };
    for raw in latest_entries(connection, &execution.id)? {
        // A grant can be ended, and output can be read, long after the execution.
        if !matches!(raw.kind, EntryKind::GrantEnded | EntryKind::Read) {
            execution.last_at = raw.at;
        }
        match raw.parse_body()? {
            Some(EntryBody::Asked(body)) => execution.asked = Some(body),
            Some(EntryBody::Refused(body)) => execution.refused = Some(body),
            Some(EntryBody::Started(body)) => execution.started = Some(body),
            Some(EntryBody::Ended(body)) => execution.ended = Some(body),
            Some(EntryBody::Closed(body)) => execution.closed = Some(body),
            Some(EntryBody::Read(body)) => execution.reads.push(body),
            _ => {}
        }
    }
    Ok(execution)
}

/// The entries about one execution in the order in which they were first written. Of an entry that was carried, only the
/// newest copy: the old one may not have been removed yet.
pub(crate) fn latest_entries(connection: &Connection, id: &str) -> Result<Vec<EntryRow>, Error> {
    let select =
        format!("SELECT {COLUMNS} FROM entries WHERE exec_id = ? ORDER BY coalesce(carried, seq), seq DESC");
    let mut statement = connection.prepare_cached(&select)?;
    let mut entries = statement.query_map([id], EntryRow::read)?.collect::<Result<Vec<_>, _>>()?;
    entries.dedup_by_key(|row| row.origin());
    Ok(entries)
}
