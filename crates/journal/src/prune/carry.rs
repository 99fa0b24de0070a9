//! Carrying: appending entries again that still count, before the old copies are removed.

use std::collections::BTreeSet;

use rusqlite::params;

use crate::body::{EntryBody, EntryKind, GrantId};
use crate::chain::{NewEntry, Writer};
use crate::entry::EntryRow;
use crate::error::Error;
use crate::execution::{find_row, set_last_entry};
use crate::grants::ends_at;
use crate::history::latest_entries;
use crate::status::Status;

/// Carries the executions among `ids` that stay although they have entries up to `end`. Returns how many entries it
/// appended.
pub(super) fn executions(writer: &mut Writer<'_>, ids: &BTreeSet<&str>, end: u64) -> Result<u64, Error> {
    let mut carried = 0;
    for id in ids {
        // A forgotten execution has no content to carry.
        if find_row(writer, id)?.is_none_or(|row| row.status == Status::Forgotten) {
            continue;
        }
        let entries = latest_entries(writer.connection, id)?;
        let entries: Vec<_> = entries.into_iter().filter(|row| !row.kind.is_of_grant()).collect();
        // All of its entries or none: the entries of one execution stay together and in order.
        if entries.iter().any(|row| row.seq <= end) {
            for row in &entries {
                carried += u64::from(append_copy(writer, row)?);
            }
            set_last_entry(writer, id, None, writer.head().seq)?;
        }
    }
    Ok(carried)
}

/// Carries the grants and the trust among `rows`, the entries up to `end`, that still hold. Returns how many entries it
/// appended.
pub(super) fn grants_and_trust(writer: &mut Writer<'_>, rows: &[EntryRow], end: u64) -> Result<u64, Error> {
    let mut carried = 0;
    for row in rows {
        let holds = match row.parse_body()? {
            Some(EntryBody::Grant(grant)) => {
                // A grant also stays with the execution whose question it belongs to.
                (is_unended(writer, row.seq)? && writer.now < ends_at(row.at, &grant))
                    || find_row(writer, row.exec_id.as_deref().unwrap_or_default())?.is_some()
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
        if holds {
            carried += u64::from(append_copy(writer, row)?);
        }
    }
    // After all grants: while a grant stays in the journal, so does its end. Without it the grant would hold again.
    for row in rows {
        if let Some(EntryBody::GrantEnded(ended)) = row.parse_body()?
            && stays(writer, row, ended.grant, end)?
        {
            carried += u64::from(append_copy(writer, row)?);
        }
    }
    Ok(carried)
}

/// Whether the grant of this entry was not ended before its time.
fn is_unended(writer: &Writer<'_>, seq: u64) -> Result<bool, Error> {
    let mut select = writer.connection.prepare_cached("SELECT 1 FROM grants WHERE seq = ?")?;
    Ok(select.exists([seq])?)
}

/// Whether an entry after `end` gives the grant that the entry `row` ends.
fn stays(writer: &Writer<'_>, row: &EntryRow, grant: GrantId, end: u64) -> Result<bool, Error> {
    let select = "SELECT 1 FROM entries
                  WHERE exec_id = ? AND kind = 'grant' AND coalesce(carried, seq) = ? AND seq > ?";
    Ok(writer.connection.prepare_cached(select)?.exists(params![row.exec_id, grant.0, end])?)
}

/// Appends a copy of an entry, and points the derived row to the copy. `false` when the entry has no content.
fn append_copy(writer: &mut Writer<'_>, row: &EntryRow) -> Result<bool, Error> {
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
