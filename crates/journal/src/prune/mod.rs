//! Pruning: removing the oldest entries, by age or by size.
//!
//! Entries are removed from the beginning of the chain, and a checkpoint entry says where the chain begins now. An
//! execution is removed together with its last entry. An execution that stays, because it still runs or because its last
//! entry stays, is **carried**: all of its entries are appended again, and the old copies no longer count. Grants and
//! trust that still hold are carried too. So a job that runs for a month doesn't keep a month of entries alive.
//!
//! Pruning works in batches, because one transaction over a million rows would make other writers wait for seconds. Each
//! batch is complete by itself, with its own checkpoint.

mod carry;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::body::{Checkpoint, EntryBody, Millis, PruneCause};
use crate::chain::Writer;
use crate::entry::{COLUMNS, EntryRow};
use crate::error::Error;
use crate::journal::Journal;
use crate::status::Status;

/// Number of entries that one transaction removes: some 20 ms of work.
const BATCH_ENTRIES: u64 = 1000;

/// How often the end of a batch is moved so that it splits no execution. An execution that is split nevertheless is
/// carried, and so kept for longer than needed.
const MAX_BATCH_EXTENSIONS: usize = 8;

/// Estimated size of a row without its body: its other columns, the two indexes, its share of half-empty pages.
const ROW_OVERHEAD_BYTES: u64 = 400;

/// What is to be kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Remove entries that were written before this time.
    pub since: Option<Millis>,
    /// Remove the oldest entries until the journal and the spooled output together have no more than this many bytes.
    pub bytes: Option<u64>,
}

impl Retention {
    /// From the settings `keep_days` and `keep_mb`.
    #[must_use]
    pub const fn new(now: Millis, keep_days: u32, keep_mb: u64) -> Self {
        Self {
            since: Some(now.saturating_sub(keep_days as Millis * 86_400_000)),
            bytes: Some(keep_mb.saturating_mul(1_000_000)),
        }
    }
}

/// What pruning removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// How many entries were removed.
    pub entries: u64,
    /// How many of those were appended again.
    pub carried: u64,
    /// The executions that were removed. Their spooled output may be deleted.
    pub executions: Vec<String>,
}

impl Journal {
    /// Removes what need not be kept, except executions that run or wait. `spools` has the size of the spooled output of
    /// each execution in bytes; executions that the journal doesn't know are not counted.
    ///
    /// # Errors
    /// When the journal can't be read or written. Batches that were removed before that stay removed.
    pub fn prune(&self, retention: Retention, spools: &BTreeMap<String, u64>) -> Result<PruneReport, Error> {
        crate::new_file::remove_abandoned(&self.folder);
        let mut pruned = PruneReport::default();
        let Some(PruneEnd { through, cause }) = find_end(&self.reader()?, retention, spools)? else {
            return Ok(pruned);
        };
        loop {
            let more = self.write(|writer| prune_batch(writer, through, cause, &mut pruned))?;
            if !more {
                return Ok(pruned);
            }
        }
    }
}

/// The last entry to remove, and why.
struct PruneEnd {
    through: u64,
    cause: PruneCause,
}

fn find_end(
    connection: &Connection,
    retention: Retention,
    spools: &BTreeMap<String, u64>,
) -> Result<Option<PruneEnd>, Error> {
    let snapshot = connection.unchecked_transaction()?;
    let (mut size, freed_at) = sizes(&snapshot, spools)?;
    let mut statement = snapshot.prepare(
        "SELECT seq, at, carried IS NOT NULL, coalesce(octet_length(body), 0) FROM entries ORDER BY seq",
    )?;
    let mut rows = statement.query([])?;
    let mut end = None;
    // The first entry that is young enough ends the search by age: a later entry with an earlier time was written by a
    // machine whose clock was set back.
    let mut aged = retention.since.is_some();
    while let Some(row) = rows.next()? {
        let (seq, at, carried, bytes): (u64, Millis, bool, u64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        // A carried entry is older than its neighbours.
        aged &= carried || retention.since.is_some_and(|since| at < since);
        let large = retention.bytes.is_some_and(|keep| size > keep);
        let cause = match (aged, large) {
            (true, _) => PruneCause::Age,
            (false, true) => PruneCause::Size,
            (false, false) => break,
        };
        end = Some(PruneEnd { through: seq, cause });
        size = size.saturating_sub(bytes + ROW_OVERHEAD_BYTES + freed_at.get(&seq).copied().unwrap_or(0));
    }
    Ok(end)
}

/// The bytes in use, and how many bytes of spooled output go with which entry.
fn sizes(
    connection: &Connection,
    spools: &BTreeMap<String, u64>,
) -> Result<(u64, BTreeMap<u64, u64>), Error> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    let mut size = pages * pragma("page_size")?;
    let mut freed_at = BTreeMap::<u64, u64>::new();
    let mut select = connection.prepare("SELECT last, status FROM executions WHERE id = ?")?;
    for (id, bytes) in spools {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, u64>(0)?, row.get::<_, Status>(1)?));
        if let Some((last, status)) = select.query_row([id], read).optional()? {
            size += bytes;
            if !status.is_open() {
                *freed_at.entry(last).or_default() += bytes;
            }
        }
    }
    Ok((size, freed_at))
}

/// Removes the first entries up to `through`, one batch of them. Returns whether there are more to remove.
fn prune_batch(
    writer: &mut Writer<'_>,
    through: u64,
    cause: PruneCause,
    pruned: &mut PruneReport,
) -> Result<bool, Error> {
    // Another process may prune at the same time.
    let first: Option<u64> =
        writer.connection.query_row("SELECT min(seq) FROM entries", [], |row| row.get(0))?;
    let Some(first) = first.filter(|first| *first <= through) else { return Ok(false) };
    let end = extend_batch(writer, first + BATCH_ENTRIES - 1, through)?;

    let rows = {
        let select = format!("SELECT {COLUMNS} FROM entries WHERE seq <= ? ORDER BY seq");
        let mut statement = writer.connection.prepare_cached(&select)?;
        statement.query_map([end], EntryRow::read)?.collect::<Result<Vec<_>, _>>()?
    };
    let Some(last) = rows.last() else { return Ok(false) };
    let ids: BTreeSet<&str> = rows.iter().filter_map(|row| row.exec_id.as_deref()).collect();
    let removed_executions = drop_executions(writer, &ids, end)?;
    let carried = carry::executions(writer, &ids, end)? + carry::grants_and_trust(writer, &rows, end)?;
    remove_entries(writer, end)?;
    let removed = rows.len() as u64;
    let checkpoint = Checkpoint { through: last.seq, hash: last.hash, removed, carried, cause };
    writer.append_body(None, None, &EntryBody::Checkpoint(checkpoint))?;

    pruned.entries += removed;
    pruned.carried += carried;
    pruned.executions.extend(removed_executions);
    Ok(end < through)
}

/// Where the batch ends: at `end`, or somewhat later if that splits fewer executions, but never after `through`.
fn extend_batch(writer: &Writer<'_>, end: u64, through: u64) -> Result<u64, Error> {
    let mut end = end.min(through);
    let mut select = writer.connection.prepare_cached(
        "SELECT max(last) FROM executions WHERE last <= ?1 AND status NOT IN ('asked', 'running')
           AND id IN (SELECT exec_id FROM entries WHERE seq <= ?2)",
    )?;
    for _ in 0..MAX_BATCH_EXTENSIONS {
        match select.query_row([through, end], |row| row.get::<_, Option<u64>>(0))? {
            Some(last) if last > end => end = last,
            _ => break,
        }
    }
    Ok(end)
}

/// Removes executions from the derived tables: those among `ids` that have ended and have no entry after `end`.
fn drop_executions(writer: &Writer<'_>, ids: &BTreeSet<&str>, end: u64) -> Result<Vec<String>, Error> {
    let mut executions = writer.connection.prepare_cached(
        "DELETE FROM executions WHERE id = ? AND last <= ? AND status NOT IN ('asked', 'running')",
    )?;
    let mut questions = writer.connection.prepare_cached("DELETE FROM questions WHERE exec_id = ?")?;
    let mut removed = Vec::new();
    for id in ids {
        if executions.execute(params![id, end])? > 0 {
            questions.execute([id])?;
            removed.push((*id).to_owned());
        }
    }
    Ok(removed)
}

/// Removes the entries up to `end`, and the rows derived from them that were not carried.
fn remove_entries(writer: &Writer<'_>, end: u64) -> Result<(), Error> {
    for delete in [
        "DELETE FROM grants WHERE seq <= ?",
        "DELETE FROM trusted WHERE seq <= ?",
        "DELETE FROM entries WHERE seq <= ?",
    ] {
        writer.connection.prepare_cached(delete)?.execute([end])?;
    }
    Ok(())
}
