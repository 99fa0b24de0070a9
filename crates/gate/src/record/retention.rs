//! Pruning by the settings `keep_days` and `keep_mb`: entries of the journal, and their spool files.

use std::collections::BTreeMap;

use shellgate_exec::StateFolder;
use shellgate_journal::calendar::DAY_MS;
use shellgate_journal::{self as journal, Journal, Millis, Retention};

use tracing::debug;

use super::translate;
use crate::settings;

/// Removes executions that need not be kept, never one that runs or waits.
///
/// # Errors
/// When the journal can't be read or written.
pub(super) fn prune(
    journal: &Journal,
    state: &StateFolder,
    keep: &settings::JournalSettings,
) -> Result<(), journal::Error> {
    let days = Millis::try_from(keep.keep_days).ok().filter(|days| *days > 0);
    let retention = Retention {
        since: days.map(|days| translate::now().saturating_sub(days.saturating_mul(DAY_MS))),
        bytes: (keep.keep_mb > 0).then(|| keep.keep_mb.saturating_mul(1 << 20)),
    };
    let folder = state.spool();
    let pruned = journal.prune(retention, &sizes(&folder))?;
    debug!(entries = pruned.entries, executions = pruned.executions.len(), "pruned the record");
    for id in pruned.executions {
        for stream in ["stdout", "stderr", "stdout.tail", "stderr.tail"] {
            // Most executions have no `.tail`. A file that can't be removed is tried again when exec prunes the spool.
            let _ = std::fs::remove_file(folder.join(format!("{id}.{stream}")));
        }
    }
    Ok(())
}

/// The bytes that each execution has in the spool.
fn sizes(folder: &std::path::Path) -> BTreeMap<String, u64> {
    let mut sizes = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.split_once('.')).map(|(id, _)| id.to_owned());
        if let (Some(id), Ok(metadata)) = (id, entry.metadata()) {
            *sizes.entry(id).or_insert(0) += metadata.len();
        }
    }
    sizes
}
