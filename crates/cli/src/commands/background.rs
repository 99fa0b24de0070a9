//! `shellgate background`: turns a running foreground command into a job.

use std::process::ExitCode;

use serde_json::json;
use shellgate::RecordStore;
use shellgate::inside::{self, RestrictedAction};

use crate::args::BackgroundArgs;
use crate::error::{self, CliError};
use crate::output;

pub(super) fn background(args: &BackgroundArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(released(args))
}

fn released(args: &BackgroundArgs) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Release)?;
    let record = RecordStore::open(None)?;
    let report = record.jobs(None).release(&args.id)?;
    match args.shown.json {
        true => output::print_json(&json!(report)),
        false => output::print(&format!("{} is a job now\n", report.id)),
    }
}
