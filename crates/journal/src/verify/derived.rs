//! Comparing the derived tables with the entries.
//!
//! Entries and `executions` are read side by side in the order of the executions' names, so memory use doesn't grow with
//! them.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::{Difference, VerifyError, broken};
use crate::body::{EntryBody, EntryKind, Millis};
use crate::entry::{COLUMNS, EntryRow};
use crate::error::Error;
use crate::history::latest_entries;
use crate::status::Status;

/// A row of `executions`.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    id: String,
    session: String,
    at: Millis,
    status: Status,
    last: u64,
}

/// A row of `questions` without its key: entry, execution, entry of the answer.
type Question = (u64, String, Option<u64>);

pub(super) fn check(connection: &Connection, head: u64) -> Result<(), VerifyError> {
    let mut questions = BTreeMap::new();
    executions(connection, head, &mut questions)?;
    let select = "SELECT id, seq, exec_id, answer FROM questions";
    let found = table(connection, select, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))))?;
    compare("questions", head, &questions, &found)?;

    let found = table(connection, "SELECT seq, session FROM grants", |row| Ok((row.get(0)?, row.get(1)?)))?;
    compare("grants", head, &grants(connection)?, &found)?;

    let select = "SELECT path, sha256, seq FROM trusted";
    let found = table(connection, select, |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    compare("trusted", head, &trusted(connection)?, &found)
}

fn executions(
    connection: &Connection,
    head: u64,
    questions: &mut BTreeMap<u64, Question>,
) -> Result<(), VerifyError> {
    let mut names = connection.prepare(
        "SELECT DISTINCT exec_id FROM entries INDEXED BY entries_exec WHERE exec_id IS NOT NULL ORDER BY exec_id",
    )?;
    let mut rows = connection.prepare("SELECT id, session, at, status, last FROM executions ORDER BY id")?;
    let mut rows = rows
        .query_map([], |row| {
            Ok(Row {
                id: row.get(0)?,
                session: row.get(1)?,
                at: row.get(2)?,
                status: row.get(3)?,
                last: row.get(4)?,
            })
        })?
        .peekable();
    let mut names = names.query([])?;
    while let Some(name) = names.next()? {
        let id: String = name.get(0)?;
        let found = match rows.next_if(|row| row.as_ref().map_or(true, |row| row.id <= id)).transpose()? {
            Some(row) if row.id != id => return differs_in(head, "executions", &row.id),
            found => found,
        };
        let entries = latest_entries(connection, &id)?;
        let agrees = match (expected(&entries)?, &found) {
            // Pruning may have removed a part of the entries of a forgotten execution.
            (Expected::Forgotten, row) => row.as_ref().is_none_or(|row| row.status == Status::Forgotten),
            (Expected::Nothing, row) => row.is_none(),
            (Expected::Row(expected), row) => {
                collect_questions(&entries, questions)?;
                row.as_ref() == Some(&expected)
            }
        };
        if !agrees {
            return differs_in(head, "executions", &id);
        }
    }
    match rows.next().transpose()? {
        Some(row) => differs_in(head, "executions", &row.id),
        None => Ok(()),
    }
}

/// What `executions` should have for the entries of one execution.
enum Expected {
    Row(Row),
    Forgotten,
    /// No row: the only entries left are a grant that outlives its execution, and its end.
    Nothing,
}

fn expected(entries: &[EntryRow]) -> Result<Expected, Error> {
    if entries.iter().any(|raw| raw.kind == EntryKind::Tombstone) {
        return Ok(Expected::Forgotten);
    }
    let Some(asked) = entries.iter().find(|raw| raw.kind == EntryKind::Asked) else {
        return Ok(Expected::Nothing);
    };
    let mut row = Row {
        id: asked.exec_id.clone().unwrap_or_default(),
        session: asked.session.clone().unwrap_or_default(),
        at: asked.at,
        status: Status::Asked,
        last: 0,
    };
    for raw in entries.iter().filter(|raw| !raw.kind.is_of_grant()) {
        row.last = row.last.max(raw.seq);
        if let Some(status) = raw.parse_body()?.as_ref().and_then(Status::after) {
            row.status = status;
        }
    }
    Ok(Expected::Row(row))
}

fn collect_questions(entries: &[EntryRow], questions: &mut BTreeMap<u64, Question>) -> Result<(), Error> {
    for raw in entries {
        match raw.parse_body()? {
            Some(EntryBody::Question(_)) => {
                questions.insert(raw.origin(), (raw.seq, raw.exec_id.clone().unwrap_or_default(), None));
            }
            Some(EntryBody::Answer(answer)) => {
                if let Some(question) = questions.get_mut(&answer.question.0) {
                    question.2 = Some(raw.seq);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The grants that were not ended before their time.
fn grants(connection: &Connection) -> Result<BTreeMap<u64, String>, Error> {
    let select =
        format!("SELECT {COLUMNS} FROM entries WHERE kind IN ('grant', 'grant_ended') AND body IS NOT NULL");
    let mut statement = connection.prepare(&select)?;
    let (mut given, mut ended) = (Vec::new(), BTreeSet::new());
    for raw in statement.query_map([], EntryRow::read)? {
        let raw = raw?;
        match raw.parse_body()? {
            Some(EntryBody::GrantEnded(body)) => drop(ended.insert(body.grant.0)),
            _ => given.push(raw),
        }
    }
    given.retain(|raw| !ended.contains(&raw.origin()));
    Ok(given.into_iter().map(|raw| (raw.seq, raw.session.unwrap_or_default())).collect())
}

fn trusted(connection: &Connection) -> Result<BTreeMap<(String, [u8; 32]), u64>, Error> {
    let select = format!("SELECT {COLUMNS} FROM entries WHERE kind = 'trusted' ORDER BY seq");
    let mut statement = connection.prepare(&select)?;
    let mut expected = BTreeMap::new();
    for raw in statement.query_map([], EntryRow::read)? {
        let raw = raw?;
        if let Some(EntryBody::Trusted(trusted)) = raw.parse_body()? {
            expected.insert((trusted.path, trusted.sha256.0), raw.seq);
        }
    }
    Ok(expected)
}

fn table<K: Ord, V>(
    connection: &Connection,
    select: &str,
    read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<(K, V)>,
) -> Result<BTreeMap<K, V>, Error> {
    Ok(connection.prepare(select)?.query_map([], read)?.collect::<Result<_, _>>()?)
}

fn compare<K: Ord + std::fmt::Debug, V: PartialEq>(
    table: &'static str,
    head: u64,
    expected: &BTreeMap<K, V>,
    found: &BTreeMap<K, V>,
) -> Result<(), VerifyError> {
    let differs = |one: &BTreeMap<K, V>, other: &BTreeMap<K, V>| {
        one.iter().find(|(key, value)| other.get(key) != Some(value)).map(|(key, _)| format!("{key:?}"))
    };
    match differs(expected, found).or_else(|| differs(found, expected)) {
        Some(key) => differs_in(head, table, &key),
        None => Ok(()),
    }
}

fn differs_in<T>(head: u64, table: &'static str, key: &str) -> Result<T, VerifyError> {
    broken(head, Difference::Derived { table, message: format!("its row `{key}` differs") })
}
