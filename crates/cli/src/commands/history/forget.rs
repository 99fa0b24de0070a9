//! `shellgate history forget`: erases the record and the output of one execution.

use serde_json::json;
use shellgate::RecordStore;
use shellgate::inside::{self, RestrictedAction};

use crate::error::CliError;
use crate::output;

pub(super) fn forget(id: &str, json: bool) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Forget)?;
    let record = RecordStore::open(None)?;
    let id = record.find(id)?;
    let forgotten = record.forget(&id)?;
    if json {
        let forgotten = json!({
            "id": id,
            "entries": forgotten.entries,
            "erased": forgotten.erased,
            "head": forgotten.head.to_string(),
        });
        return output::print_json(&forgotten);
    }
    let rest = match forgotten.erased {
        true => "",
        false => "; the log could not be emptied now, so the bytes are erased from the file later",
    };
    output::print(&format!("forgot {id}: erased {} entries{rest}\n", forgotten.entries))
}
