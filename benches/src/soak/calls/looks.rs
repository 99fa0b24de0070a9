//! Looks at the record and at the jobs.

use std::time::Duration;

use serde_json::Value;

use super::super::callers::Caller;
use super::super::judging::{Verdict, honest, told};
use super::untimed;

/// `history`, `jobs` or `approvals list`.
pub(super) fn look(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    const LOOKS: [&[&str]; 3] =
        [&["history", "--json", "--limit", "20"], &["jobs", "--json"], &["approvals", "list", "--json"]];
    untimed(|| {
        let words = caller.dice.pick(&LOOKS).copied().unwrap_or_default();
        let ended = caller.plainly(words)?;
        let is_json = serde_json::from_slice::<Value>(&ended.output.stdout).is_ok();
        match ended.output.status.success() {
            true if is_json => Ok(Verdict::Right),
            true => Err(Verdict::Wrong(format!("{words:?} is no JSON: {}", told(&ended)))),
            false => Ok(honest(&ended)),
        }
    })
}

/// `audit verify`: the record is never broken.
pub(super) fn verify(caller: &mut Caller<'_>) -> (Verdict, Option<Duration>) {
    untimed(|| {
        let ended = caller.plainly(&["audit", "verify"])?;
        match ended.output.status.code() {
            Some(0) => Ok(Verdict::Right),
            Some(5) => Err(Verdict::Wrong(format!("the record is broken: {}", told(&ended)))),
            _ => Ok(honest(&ended)),
        }
    })
}
