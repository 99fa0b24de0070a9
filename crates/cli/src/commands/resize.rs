//! `shellgate resize`: changes the size of a job's terminal.

use std::process::ExitCode;

use shellgate::RecordStore;
use shellgate::request::parse_size;

use crate::args::ResizeArgs;
use crate::error::{self, CliError};

pub(super) fn resize(args: &ResizeArgs) -> ExitCode {
    error::finish(resized(args))
}

fn resized(args: &ResizeArgs) -> Result<(), CliError> {
    let size = parse_size(&args.size)?;
    Ok(RecordStore::open(None)?.jobs(None).resize(&args.id, size)?)
}
