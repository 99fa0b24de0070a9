//! Removing what is older, or more, than is to be kept.
//!
//! Entries are removed from the beginning, so the chain stays one piece, and a checkpoint says where it now begins. An
//! execution goes with its last entry. One that stays, because it runs or its last entry is not among those that go, is
//! **carried**: all its entries are appended again, and the old ones count no longer. So are grants and trust that still
//! hold. A job that runs for a month holds up nothing.
//!
//! It works in batches, because a writer who waits for a transaction over a million rows would wait for seconds. Each
//! batch is a whole pruning of its own.

mod carry;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::body::{Checkpoint, EntryBody, Millis, PruneCause};
use crate::chain::Writer;
use crate::entry::{COLUMNS, EntryRow};
use crate::error::Error;
use crate::journal::Journal;
use crate::status::Status;

/// How many entries go in one transaction: some 20 ms of work.
const BATCH: u64 = 1000;

/// How often a batch is made longer so that no execution straddles its end. One that does is carried and so kept for
/// longer than it need be, which harms nobody.
const EXTENSIONS: usize = 8;

/// What a row costs beside its body: its other columns, the two indexes, its share of half-empty pages.
const ROW_BYTES: u64 = 400;

/// What is to be kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Remove what was written before this time.
    pub since: Option<Millis>,
    /// Remove the oldest, until the journal and the spools together have no more than this.
    pub bytes: Option<u64>,
}

impl Retention {
    /// As the settings say it.
    #[must_use]
    pub const fn new(now: Millis, keep_days: u32, keep_mb: u64) -> Self {
        Self {
            since: Some(now.saturating_sub(keep_days as Millis * 86_400_000)),
            bytes: Some(keep_mb.saturating_mul(1_000_000)),
        }
    }
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// How many entries.
    pub entries: u64,
    /// How many of those were appended again.
    pub carried: u64,
    /// The executions that are gone, whose spools may be deleted.
    pub executions: Vec<String>,
}

impl Journal {
    /// Removes what need not be kept, but nothing that runs or waits. `spools` says how many bytes the spooled output
    /// of each execution has; what it names and the journal doesn't know is not counted.
    ///
    /// # Errors
    /// When the journal can't be read or written. What was removed before that is removed.
    pub fn prune(&self, retention: Retention, spools: &BTreeMap<String, u64>) -> Result<PruneReport, Error> {
        let mut pruned = PruneReport::default();
        let Some(Cut { through, cause }) = find_cut(&self.reader()?, retention, spools)? else {
            return Ok(pruned);
        };
        loop {
            let more = self.write(|writer| batch(writer, through, cause, &mut pruned))?;
            if !more {
                return Ok(pruned);
            }
        }
    }
}

/// The last entry to go, and why.
struct Cut {
    through: u64,
    cause: PruneCause,
}

fn find_cut(
    connection: &Connection,
    retention: Retention,
    spools: &BTreeMap<String, u64>,
) -> Result<Option<Cut>, Error> {
    let moment = connection.unchecked_transaction()?;
    let (mut size, freed_at) = sizes(&moment, spools)?;
    let mut statement = moment.prepare(
        "SELECT seq, at, carried IS NOT NULL, coalesce(octet_length(body), 0) FROM entries ORDER BY seq",
    )?;
    let mut rows = statement.query([])?;
    let mut cut = None;
    // Once something is young enough, all that follows is, even if a clock that was set back says otherwise.
    let mut aged = retention.since.is_some();
    while let Some(row) = rows.next()? {
        let (seq, at, carried, bytes): (u64, Millis, bool, u64) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        // What was carried is older than its neighbours.
        aged &= carried || retention.since.is_some_and(|since| at < since);
        let large = retention.bytes.is_some_and(|keep| size > keep);
        let cause = match (aged, large) {
            (true, _) => PruneCause::Age,
            (false, true) => PruneCause::Size,
            (false, false) => break,
        };
        cut = Some(Cut { through: seq, cause });
        size = size.saturating_sub(bytes + ROW_BYTES + freed_at.get(&seq).copied().unwrap_or(0));
    }
    Ok(cut)
}

/// How many bytes there are, and how many of a spool are freed with which entry.
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

/// Removes the first entries up to `through`, about a batch of them. Whether there are more to remove.
fn batch(
    writer: &mut Writer<'_>,
    through: u64,
    cause: PruneCause,
    pruned: &mut PruneReport,
) -> Result<bool, Error> {
    // Somebody else may prune at the same time.
    let first: Option<u64> =
        writer.connection.query_row("SELECT min(seq) FROM entries", [], |row| row.get(0))?;
    let Some(first) = first.filter(|first| *first <= through) else { return Ok(false) };
    let end = extended(writer, first + BATCH - 1, through)?;

    let rows = {
        let select = format!("SELECT {COLUMNS} FROM entries WHERE seq <= ? ORDER BY seq");
        let mut statement = writer.connection.prepare_cached(&select)?;
        statement.query_map([end], EntryRow::read)?.collect::<Result<Vec<_>, _>>()?
    };
    let Some(last) = rows.last() else { return Ok(false) };
    let ids: BTreeSet<&str> = rows.iter().filter_map(|row| row.exec_id.as_deref()).collect();
    let gone = drop_executions(writer, &ids, end)?;
    let carried = carry::executions(writer, &ids, end)? + carry::standing(writer, &rows)?;
    remove(writer, end)?;
    let removed = rows.len() as u64;
    let checkpoint = Checkpoint { through: last.seq, hash: last.hash, removed, carried, cause };
    writer.append_body(None, None, &EntryBody::Checkpoint(checkpoint))?;

    pruned.entries += removed;
    pruned.carried += carried;
    pruned.executions.extend(gone);
    Ok(end < through)
}

/// Where the batch ends: at `end`, or a little later if that splits fewer executions, and never after `through`.
fn extended(writer: &Writer<'_>, end: u64, through: u64) -> Result<u64, Error> {
    let mut end = end.min(through);
    let mut select = writer.connection.prepare_cached(
        "SELECT max(last) FROM executions WHERE last <= ?1 AND status NOT IN ('asked', 'running')
           AND id IN (SELECT exec_id FROM entries WHERE seq <= ?2)",
    )?;
    for _ in 0..EXTENSIONS {
        match select.query_row([through, end], |row| row.get::<_, Option<u64>>(0))? {
            Some(last) if last > end => end = last,
            _ => break,
        }
    }
    Ok(end)
}

/// Takes the executions among `ids` that are over, and have no entry after `end`, out of the derived tables.
fn drop_executions(writer: &Writer<'_>, ids: &BTreeSet<&str>, end: u64) -> Result<Vec<String>, Error> {
    let mut executions = writer.connection.prepare_cached(
        "DELETE FROM executions WHERE id = ? AND last <= ? AND status NOT IN ('asked', 'running')",
    )?;
    let mut questions = writer.connection.prepare_cached("DELETE FROM questions WHERE exec_id = ?")?;
    let mut gone = Vec::new();
    for id in ids {
        if executions.execute(params![id, end])? > 0 {
            questions.execute([id])?;
            gone.push((*id).to_owned());
        }
    }
    Ok(gone)
}

/// Removes the entries up to `end`, and what is derived from them and was not carried.
fn remove(writer: &Writer<'_>, end: u64) -> Result<(), Error> {
    for delete in [
        "DELETE FROM grants WHERE seq <= ?",
        "DELETE FROM trusted WHERE seq <= ?",
        "DELETE FROM entries WHERE seq <= ?",
    ] {
        writer.connection.prepare_cached(delete)?.execute([end])?;
    }
    Ok(())
}
