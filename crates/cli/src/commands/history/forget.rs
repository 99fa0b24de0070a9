//! `shellgate history forget`.

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
        false => "; somebody was reading, so its bytes go from the file a little later",
    };
    output::print(&format!("forgot {id}: {} entries are empty now{rest}\n", forgotten.entries))
}
