//! The facts of a report that say something: structured content that a model reads.

use serde_json::{Map, Value, json};
use shellgate_exec::State;

use super::report::{Background, Report};
use crate::ErrorObject;

/// An error with the fields that say something.
pub(crate) fn without_nulls(error: &ErrorObject) -> Value {
    let mut error = json!(error);
    if let Some(fields) = error.as_object_mut() {
        fields.retain(|_, field| !field.is_null());
    }
    error
}

/// A process that was left running, by the number that commands of the session know. `detail: "full"` has the machine's, too.
fn left(process: &Background) -> Value {
    json!({"pid": process.pid, "command": process.command})
}

/// Always the exit code and standard output; everything else only if it says something.
pub(crate) fn facts(report: &Report) -> Map<String, Value> {
    let mut facts = Map::new();
    let mut say = |name: &str, says: bool, fact: Value| {
        if says {
            facts.insert(name.to_owned(), fact);
        }
    };
    let truncated = report.stdout_truncated || report.stderr_truncated;
    // A job's name is its id.
    let is_read_later = report.job.is_none() && (truncated || report.condensed.is_some());
    say("exit_code", true, json!(report.exit_code));
    say("stdout", true, json!(report.stdout));
    say("stderr", !report.stderr.is_empty(), json!(report.stderr));
    say("signal", report.signal.is_some(), json!(report.signal));
    say("error", report.error.is_some(), report.error.as_ref().map_or(Value::Null, without_nulls));
    say("timed_out", report.timed_out, json!(true));
    say("canceled", report.canceled, json!(true));
    say("truncated", truncated, json!(true));
    say("condensed", report.condensed.is_some(), json!(report.condensed));
    let is_open = matches!(report.status, State::Queued | State::Starting | State::Running);
    say("status", is_open, json!(report.status));
    say("job", report.job.is_some(), json!(report.job));
    // While it runs, they are the job itself.
    let has_left = !report.background.is_empty() && report.unfinished_job().is_none();
    say("background", has_left, report.background.iter().map(left).collect());
    say("waiting_for_input", report.waiting_for_input, json!(true));
    let denials = report.denials.as_ref().filter(|denials| !denials.is_empty());
    say("denials", denials.is_some(), json!(denials));
    say("unconfined", report.unconfined.is_some(), json!(report.unconfined));
    say("artifacts", !report.artifacts.is_empty(), json!(report.artifacts));
    say("id", is_read_later, json!(report.id));
    facts
}
