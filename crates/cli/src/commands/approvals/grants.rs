//! `shellgate approvals grants` and `revoke`: approvals for sessions.

use serde_json::json;
use shellgate::RecordStore;
use shellgate::inside::{self, RestrictedAction};
use shellgate::journal::GrantId;
use shellgate::views::{GrantView, scope_text, until_text};

use crate::error::CliError;
use crate::output::{self, escape};
use crate::table::{self, table};

/// Lists the approvals that are in force.
pub(super) fn list(session: Option<&str>, json: bool) -> Result<(), CliError> {
    let held = RecordStore::open(None)?.grants(session)?;
    if json {
        return output::print_json(&json!(held.iter().map(GrantView::of).collect::<Vec<_>>()));
    }
    if held.is_empty() {
        output::print_message("no approval for a session is in force");
        return Ok(());
    }
    let rows: Vec<_> = held
        .iter()
        .map(|held| {
            [
                held.id.to_string().into(),
                until_text(held.ends_at()).trim_end_matches(" UTC").to_owned().into(),
                escape(&held.session).into(),
                escape(&held.grant.directory).into(),
                scope_text(&held.grant.scope).into(),
            ]
        })
        .collect();
    output::print(&table(["ID", "UNTIL (UTC)", "SESSION", "DIRECTORY", "ALLOWS"], &rows, table::width()))
}

/// Ends an approval.
pub(super) fn revoke(id: GrantId, json: bool) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Revoke)?;
    let held = RecordStore::open(None)?.revoke(id)?;
    match json {
        true => output::print_json(&json!({"revoked": GrantView::of(&held)})),
        false => output::print(&format!("grant {id} has ended: {}\n", scope_text(&held.grant.scope))),
    }
}
