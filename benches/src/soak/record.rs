//! The record as it was seen from time to time: pruning removes old executions from it while the soak runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::{Soak, lock, marks};

/// Time between two looks. An execution stays in the record for much longer.
const INTERVAL: Duration = Duration::from_secs(8);
/// Executions that are looked at. There are fewer in this time.
const LIMIT: &str = "1500";

/// The executions of the record.
#[derive(Default)]
pub(super) struct Record {
    /// The last status of each, by its mark.
    seen: Mutex<BTreeMap<String, Execution>>,
    /// Those that were there at the last look, by id. Pruning removes only executions that have ended.
    there: Mutex<BTreeSet<String>>,
}

/// An execution in the record.
#[derive(Clone, Deserialize)]
struct Execution {
    id: String,
    status: String,
    command: Option<String>,
}

impl Record {
    /// Looks at the record until the load is over.
    pub(super) fn follow(&self, soak: &Soak) {
        let mut next = Instant::now();
        while !soak.is_over() {
            if Instant::now() < next {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
            next = Instant::now() + INTERVAL;
            // The process may be killed, like all front ends; then it is started again.
            let looked = (0..10).any(|_| self.look(soak, LIMIT).is_ok());
            if !looked {
                soak.tally.wrong("record", "it can't be read ten times in a row".to_owned());
            }
        }
    }

    /// Takes the newest executions of the record. Returns their number.
    pub(super) fn look(&self, soak: &Soak, limit: &str) -> Result<usize, String> {
        let output = soak.place.shellgate(["history", "--json", "--limit", limit]).output();
        let output = output.map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{output:?}"));
        }
        let history: Vec<Execution> =
            serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let (mut seen, count) = (lock(&self.seen), history.len());
        *lock(&self.there) = history.iter().map(|execution| execution.id.clone()).collect();
        for execution in history {
            if let Some(mark) = execution.command.as_deref().and_then(marks::find) {
                seen.insert(mark.to_owned(), execution);
            }
        }
        Ok(count)
    }

    /// What is wrong with the record, given the marks of the commands that ran.
    pub(super) fn differences(&self, ran: &BTreeSet<String>) -> Vec<String> {
        let (seen, there) = (lock(&self.seen), lock(&self.there));
        let endless = seen.values().filter(|execution| {
            there.contains(&execution.id)
                && matches!(execution.status.as_str(), "asked" | "queued" | "starting" | "running")
        });
        let endless = endless.map(|Execution { id, status, command }| {
            format!("no end in the record: {id} {status} {}", command.as_deref().unwrap_or_default())
        });
        let unrecorded = ran.iter().filter_map(|mark| match seen.get(mark) {
            None => Some(format!("{mark} ran and isn't in the record")),
            Some(execution) if execution.status == "refused" => {
                Some(format!("{mark} ran, and the record says that it was refused"))
            }
            Some(_) => None,
        });
        endless.chain(unrecorded).collect()
    }

    /// Executions by status.
    pub(super) fn statuses(&self) -> BTreeMap<String, u64> {
        let mut statuses = BTreeMap::new();
        for execution in lock(&self.seen).values() {
            *statuses.entry(execution.status.clone()).or_default() += 1;
        }
        statuses
    }
}
