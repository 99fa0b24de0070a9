//! `shellgate stop`: stops running commands.

use std::process::ExitCode;

use serde_json::json;
use shellgate::inside::{self, RestrictedAction};
use shellgate::{Code, ErrorObject, RecordStore, Stopped, Urgency};

use crate::args::StopArgs;
use crate::error::{self, CliError};
use crate::output::{self, escape};

pub(super) fn stop(args: &StopArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(stopped(args))
}

fn stopped(args: &StopArgs) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Stop)?;
    let urgency = if args.now { Urgency::Now } else { Urgency::Politely };
    let without_record = |error: ErrorObject| match args.session {
        // Which executions are of a session is in the record alone.
        Some(_) => error,
        None => RecordStore::stop_without_record(None, args.id.as_deref(), urgency, error),
    };
    let record = RecordStore::open(None).map_err(without_record)?;
    if let Some(id) = &args.id {
        let id = record.find(id).map_err(|error| match error.code {
            Code::Config => without_record(error),
            _ => error,
        })?;
        record.stop(&id, urgency)?;
        return match args.shown.json {
            true => output::print_json(&json!({"stopped": 1, "id": id})),
            false => output::print(&format!("stopped {id}\n")),
        };
    }
    let (Stopped { executions: count, grants }, of) = match &args.session {
        Some(session) => (record.stop_session(session, urgency)?, format!(" of {}", escape(session))),
        None => (record.stop_all(urgency)?, String::new()),
    };
    match (args.shown.json, count) {
        (true, _) => return output::print_json(&json!({"stopped": count, "grants_ended": grants})),
        (false, 1) => output::print(&format!("stopped 1 execution{of}\n"))?,
        (false, count) => output::print(&format!("stopped {count} executions{of}\n"))?,
    }
    match grants {
        0 => Ok(()),
        1 => output::print("ended 1 approval for the session\n"),
        grants => output::print(&format!("ended {grants} approvals for the session\n")),
    }
}
