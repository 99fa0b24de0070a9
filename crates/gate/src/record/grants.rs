//! Grants: which hold, and ending them before their time.

use shellgate_journal::{GrantEndCause, GrantId, HeldGrant, Journal};

use super::RecordStore;
use super::store::journal_error;
use crate::admit::approval;
use crate::admit::inside::{self, RestrictedAction};
use crate::session_name::SessionName;
use crate::views::{format_time, until_text};
use crate::{Code, ErrorObject};

impl RecordStore {
    /// The grants that hold, oldest first. `session`: only of this session and its chats.
    ///
    /// # Errors
    /// `config` when the record can't be read.
    pub fn grants(&self, session: Option<&str>) -> Result<Vec<HeldGrant>, ErrorObject> {
        let held = self.journal.grants_in_force(super::now()).map_err(|error| journal_error(&error))?;
        let is_wanted = |held: &HeldGrant| session.is_none_or(|name| is_of_session(held, name));
        Ok(held.into_iter().filter(is_wanted).collect())
    }

    /// Ends a grant. Commands that run because of it go on.
    ///
    /// # Errors
    /// `unknown_job` when no grant of this number holds, `config` when its end can't be written.
    pub fn revoke(&self, id: GrantId) -> Result<HeldGrant, ErrorObject> {
        inside::refuse(RestrictedAction::Revoke)?;
        let ended = end(&self.journal, GrantEndCause::Revoked, |held| held.id == id)?;
        match ended.into_iter().next() {
            Some(held) => Ok(held),
            None => Err(self.no_such_grant(id)),
        }
    }

    fn no_such_grant(&self, id: GrantId) -> ErrorObject {
        let message = match self.journal.grant_end(id) {
            Ok(Some((at, ended))) => {
                let how = match ended.cause {
                    GrantEndCause::Revoked => "was taken back",
                    GrantEndCause::SessionStopped => "ended when its session was stopped",
                };
                format!("grant {id} {how} at {} UTC", format_time(at))
            }
            // At time 0, grants count whose time is over.
            _ => {
                match self.journal.grants_in_force(0).unwrap_or_default().iter().find(|held| held.id == id) {
                    Some(held) => format!("grant {id} ended at {}", until_text(held.ends_at())),
                    None => format!("no grant {id} is in the record"),
                }
            }
        };
        ErrorObject::new(Code::UnknownJob, message)
            .token(id.to_string())
            .hint("`shellgate approvals grants` lists those that hold")
    }
}

/// Ends the grants of a session that was stopped, and of its chats. Returns how many they were.
pub(crate) fn end_for_session(
    journal: &Journal,
    is_stopped: impl Fn(&HeldGrant) -> bool,
) -> Result<usize, ErrorObject> {
    end(journal, GrantEndCause::SessionStopped, is_stopped).map(|ended| ended.len())
}

/// Whether a grant belongs to a session that a person calls by this name.
pub(super) fn is_of_session(held: &HeldGrant, name: &str) -> bool {
    SessionName::is_meant(name, &held.session, Some(&held.grant.root))
}

fn end(
    journal: &Journal,
    cause: GrantEndCause,
    wanted: impl Fn(&HeldGrant) -> bool,
) -> Result<Vec<HeldGrant>, ErrorObject> {
    let ended = journal.end_grants(super::now(), cause, &approval::user(), wanted);
    ended.map_err(|error| journal_error(&error))
}
