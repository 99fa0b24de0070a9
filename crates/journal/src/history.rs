//! Looking back: what was asked and run, newest first.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::body::{
    EntryBody, Millis, RecordedEnd, RecordedError, RecordedLoss, RecordedRequest, RecordedStart,
};
use crate::canonical;
use crate::entry::{COLUMNS, EntryRow, JournalEntry};
use crate::error::Error;
use crate::journal::Journal;
use crate::status::Status;

/// An execution and what is known of it. What was forgotten is `None`.
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
    /// Where it stands.
    pub status: Status,
    /// The request.
    pub asked: Option<RecordedRequest>,
    /// Why it was refused.
    pub refused: Option<RecordedError>,
    /// Its start; the last one when it was tried twice. The files of its output are here, also after a crash.
    pub started: Option<RecordedStart>,
    /// Its end.
    pub ended: Option<RecordedEnd>,
    /// What was found in place of an end.
    pub closed: Option<RecordedLoss>,
}

/// Which executions to show.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Of this session and its chats.
    pub session: Option<String>,
    /// In one of these states; empty: in any.
    pub statuses: Vec<Status>,
    /// Asked for at this time or later.
    pub since: Option<Millis>,
    /// Asked for before this time.
    pub until: Option<Millis>,
    /// With this text somewhere in the command.
    pub containing: Option<String>,
    /// Older than the one with this name: the last of the page before.
    pub before: Option<String>,
    /// At most so many; 0: all.
    pub limit: usize,
}

impl Journal {
    /// The executions that match, newest first. For the next page set `before` to the last one's `id`.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn history(&self, query: &Query) -> Result<Vec<PastExecution>, Error> {
        let connection = self.reader()?;
        let moment = connection.unchecked_transaction()?;
        let (sql, parameters) = select(query)?;
        let mut statement = moment.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(parameters))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let execution = load(&moment, row)?;
            if execution.contains(query.containing.as_deref()) {
                found.push(execution);
            }
            if query.limit != 0 && found.len() == query.limit {
                break;
            }
        }
        Ok(found)
    }

    /// The executions that may still start or run, oldest first: what to look at after a crash. Whoever finds that the
    /// asker of one, or its keeper, is gone appends [`RecordedLoss`].
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn open_executions(&self) -> Result<Vec<PastExecution>, Error> {
        let connection = self.reader()?;
        let moment = connection.unchecked_transaction()?;
        let mut statement = moment.prepare(
            "SELECT id, session, at, status FROM executions WHERE status IN ('asked', 'running') ORDER BY id",
        )?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(load(&moment, row)?);
        }
        Ok(found)
    }

    /// One execution; `None` when the journal doesn't know it, or no longer.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn execution(&self, id: &str) -> Result<Option<PastExecution>, Error> {
        let connection = self.reader()?;
        let moment = connection.unchecked_transaction()?;
        let mut statement = moment.prepare("SELECT id, session, at, status FROM executions WHERE id = ?")?;
        let mut rows = statement.query([id])?;
        rows.next()?.map(|row| load(&moment, row)).transpose()
    }

    /// The names of executions that begin with `prefix`, oldest first; at most `most`.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn names(&self, prefix: &str, most: usize) -> Result<Vec<String>, Error> {
        let connection = self.reader()?;
        // `~` is behind every character of a name.
        let mut statement = connection
            .prepare("SELECT id FROM executions WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT ?2")?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let names = statement.query_map(rusqlite::params![prefix, most], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// All entries about one execution, in the order in which they happened: the whole story.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn entries_of(&self, id: &str) -> Result<Vec<JournalEntry>, Error> {
        latest(&self.reader()?, id)?.into_iter().map(EntryRow::into_entry).collect()
    }
}

impl PastExecution {
    fn contains(&self, text: Option<&str>) -> bool {
        text.is_none_or(|text| self.asked.as_ref().is_some_and(|asked| asked.text.contains(text)))
    }
}

/// The statement for a query, and its parameters.
fn select(query: &Query) -> Result<(String, Vec<Value>), Error> {
    let mut sql = String::from("SELECT id, session, at, status FROM executions WHERE TRUE");
    let mut parameters = Vec::new();
    let mut demand = |condition: &str, values: Vec<Value>| {
        sql.push_str(" AND ");
        sql.push_str(condition);
        parameters.extend(values);
    };
    if let Some(before) = &query.before {
        demand("id < ?", vec![before.clone().into()]);
    }
    if let Some(since) = query.since {
        demand("at >= ?", vec![since.into()]);
    }
    if let Some(until) = query.until {
        demand("at < ?", vec![until.into()]);
    }
    if let Some(session) = &query.session {
        // `0` is the character after `/`.
        let chats = [format!("{session}/"), format!("{session}0")];
        let values = [session.clone()].into_iter().chain(chats).map(Value::from).collect();
        demand("(session = ? OR (session > ? AND session < ?))", values);
    }
    if !query.statuses.is_empty() {
        let marks = vec!["?"; query.statuses.len()].join(", ");
        let values = query.statuses.iter().map(|status| Value::from(status.name().to_owned())).collect();
        demand(&format!("status IN ({marks})"), values);
    }
    if let Some(text) = &query.containing {
        // Quick and a little too wide, because the body has other fields too: the caller looks again.
        let condition = "EXISTS (SELECT 1 FROM entries
            WHERE exec_id = executions.id AND kind = 'asked' AND instr(body, ?) > 0)";
        demand(condition, vec![canonical::escaped(text)?.into()]);
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
    };
    for raw in latest(connection, &execution.id)? {
        execution.last_at = raw.at;
        match raw.parse_body()? {
            Some(EntryBody::Asked(body)) => execution.asked = Some(body),
            Some(EntryBody::Refused(body)) => execution.refused = Some(body),
            Some(EntryBody::Started(body)) => execution.started = Some(body),
            Some(EntryBody::Ended(body)) => execution.ended = Some(body),
            Some(EntryBody::Closed(body)) => execution.closed = Some(body),
            _ => {}
        }
    }
    Ok(execution)
}

/// The entries about one execution in the order in which they happened, each as it stands now: of one that was carried
/// the old place may still be there.
pub(crate) fn latest(connection: &Connection, id: &str) -> Result<Vec<EntryRow>, Error> {
    let select =
        format!("SELECT {COLUMNS} FROM entries WHERE exec_id = ? ORDER BY coalesce(carried, seq), seq DESC");
    let mut statement = connection.prepare_cached(&select)?;
    let mut story = statement.query_map([id], EntryRow::read)?.collect::<Result<Vec<_>, _>>()?;
    story.dedup_by_key(|row| row.origin());
    Ok(story)
}
