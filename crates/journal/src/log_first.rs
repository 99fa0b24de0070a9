//! Writing the entries of a start or an end to the log, without the database.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use crate::body::{EntryBody, RecordedRequest, Step};
use crate::error::Error;
use crate::hash::Head;
use crate::journal::{Journal, now};
use crate::log::write_line;
use crate::status::Status;

/// A log that is longer than this is entered before anything else is written, so that it never fills the disk.
const MAX_LOG_BYTES: u64 = 128 << 10;

impl Journal {
    /// Writes a request and what follows it at once. `None`: only the database can take it.
    pub(crate) fn begin_in_log(
        &self,
        id: &str,
        session: &str,
        asked: &RecordedRequest,
        steps: &[Step],
    ) -> Result<Option<Head>, Error> {
        let mut bodies = vec![EntryBody::Asked(asked.clone())];
        bodies.extend(steps.iter().cloned().map(EntryBody::from));
        let status = follow(id, Status::Asked, bodies.get(1..).unwrap_or_default())?;
        let mut running = self.running();
        if running.contains_key(id) {
            return Err(Error::DuplicateExecution { id: id.to_owned() });
        }
        let Some(head) = self.write_log(id, session, &bodies)? else { return Ok(None) };
        if status == Status::Running {
            running.insert(id.to_owned(), session.to_owned());
        }
        Ok(Some(head))
    }

    /// Writes the end of an execution that this journal has begun in the log. `None`: only the database can take it.
    pub(crate) fn end_in_log(&self, id: &str, steps: &[Step]) -> Result<Option<Head>, Error> {
        let [Step::Ended(_)] = steps else { return Ok(None) };
        let Some(session) = self.running().remove(id) else { return Ok(None) };
        let bodies: Vec<EntryBody> = steps.iter().cloned().map(EntryBody::from).collect();
        self.write_log(id, &session, &bodies)
    }

    /// Appends entries to the log. `None`: only the database knows the end of the chain.
    fn write_log(&self, id: &str, session: &str, bodies: &[EntryBody]) -> Result<Option<Head>, Error> {
        let Some(log) = self.first_log() else { return Ok(None) };
        let mut log = log.lock()?;
        if log.bytes() > MAX_LOG_BYTES {
            return Ok(None);
        }
        let mut head = match log.head() {
            Some(head) => head,
            None if log.is_empty() => return Ok(None),
            None => {
                log.repair()?;
                let Some(head) = log.head() else { return Ok(None) };
                head
            }
        };
        let (mut lines, now) = (String::new(), now());
        for body in bodies {
            head = write_line(&mut lines, head, now, (id, session), body)?;
        }
        log.append(&lines, head)?;
        Ok(Some(head))
    }

    /// Whether an execution was begun, as far as that is known at once. One that slips through is left out when the log is
    /// entered.
    pub(crate) fn is_known(&self, id: &str) -> Result<bool, Error> {
        if self.running().contains_key(id) {
            return Ok(true);
        }
        let Some(connection) = self.try_lock() else { return Ok(false) };
        Ok(connection.prepare_cached("SELECT 1 FROM executions WHERE id = ?")?.exists([id])?)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state after `bodies`, if each may follow the one before.
fn follow(id: &str, mut status: Status, bodies: &[EntryBody]) -> Result<Status, Error> {
    for body in bodies {
        let kind = body.kind();
        if !status.admits(kind) {
            return Err(Error::IllegalMove { id: id.to_owned(), status, kind });
        }
        status = Status::after(body).unwrap_or(status);
    }
    Ok(status)
}
