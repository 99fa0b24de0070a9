//! Appending again what still counts, before its old place is removed.

use std::collections::BTreeSet;

use rusqlite::params;

use crate::body::{EntryBody, EntryKind};
use crate::chain::{NewEntry, Writer};
use crate::entry::EntryRow;
use crate::error::Error;
use crate::execution::{advance, known};
use crate::history::latest;
use crate::status::Status;

/// Carries the executions among `ids` that stay and have entries up to `end` that count. Returns how many entries.
pub(super) fn executions(writer: &mut Writer<'_>, ids: &BTreeSet<&str>, end: u64) -> Result<u64, Error> {
    let mut carried = 0;
    for id in ids {
        // Of one that was forgotten there is nothing to carry.
        if known(writer, id)?.is_none_or(|known| known.status == Status::Forgotten) {
            continue;
        }
        let story = latest(writer.connection, id)?;
        let story: Vec<_> = story.into_iter().filter(|row| row.kind != EntryKind::Grant).collect();
        // The whole story, or none of it: entries of one execution stay together, and in order.
        if story.iter().any(|row| row.seq <= end) {
            for row in &story {
                carried += u64::from(append(writer, row)?);
            }
            advance(writer, id, None, writer.head().seq)?;
        }
    }
    Ok(carried)
}

/// Carries what still stands among `rows`. Returns how many entries.
pub(super) fn standing(writer: &mut Writer<'_>, rows: &[EntryRow]) -> Result<u64, Error> {
    let mut carried = 0;
    for row in rows {
        let stands = match row.parse_body()? {
            Some(EntryBody::Grant(grant)) => {
                // Also as a part of a story that stays.
                grant.holds_at(writer.now)
                    || known(writer, row.exec_id.as_deref().unwrap_or_default())?.is_some()
            }
            Some(EntryBody::Trusted(trusted)) => {
                let select = "SELECT seq FROM trusted WHERE path = ? AND sha256 = ?";
                let mut statement = writer.connection.prepare_cached(select)?;
                let newest: u64 =
                    statement.query_row(params![trusted.path, trusted.sha256.0], |found| found.get(0))?;
                newest == row.seq
            }
            _ => false,
        };
        if stands {
            carried += u64::from(append(writer, row)?);
        }
    }
    Ok(carried)
}

/// Appends the same again, and points what is derived from it to the new place.
fn append(writer: &mut Writer<'_>, row: &EntryRow) -> Result<bool, Error> {
    let Some(body) = &row.body else { return Ok(false) };
    let head = writer.append(&NewEntry {
        at: row.at,
        kind: row.kind,
        exec_id: row.exec_id.as_deref(),
        session: row.session.as_deref(),
        carried: Some(row.origin()),
        body: body.clone(),
    })?;
    let moved = match row.kind {
        EntryKind::Question => "UPDATE questions SET seq = ?1 WHERE exec_id = ?3 AND seq = ?2",
        EntryKind::Answer => "UPDATE questions SET answer = ?1 WHERE exec_id = ?3 AND answer = ?2",
        EntryKind::Grant => "UPDATE grants SET seq = ?1 WHERE seq = ?2 AND ?3 IS NOT NULL",
        EntryKind::Trusted => "UPDATE trusted SET seq = ?1 WHERE seq = ?2 AND ?3 IS NULL",
        _ => return Ok(true),
    };
    writer.connection.prepare_cached(moved)?.execute(params![head.seq, row.seq, row.exec_id])?;
    Ok(true)
}
