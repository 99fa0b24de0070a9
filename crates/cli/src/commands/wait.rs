//! `shellgate wait`: waits for a job's end or another condition. Exits as `run` would.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use shellgate::RecordStore;
use shellgate::jobs::{Port, WaitConditions, WaitReport, WaitResult};

use super::logs::pattern;
use crate::args::WaitArgs;
use crate::error::{self, CliError, TIMED_OUT};
use crate::output::{self, escape, print_note};

pub(super) fn wait(args: &WaitArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(waited(args))
}

fn waited(args: &WaitArgs) -> Result<(), CliError> {
    let record = RecordStore::open(None)?;
    let conditions = WaitConditions {
        pattern: args.pattern.as_deref().map(pattern).transpose()?,
        port: args.port.map(|port| if port == 0 { Port::Any } else { Port::Is(port) }),
        silence: args.silence.map(Duration::from_millis),
        timeout: args.timeout.map(Duration::from_millis),
        ..WaitConditions::default()
    };
    let WaitReport { result, report } = record.jobs(None).wait(&args.id, conditions, None)?;
    if args.shown.json {
        let mut answer = json!(report);
        if let (Value::Object(answer), Value::Object(entries)) = (&mut answer, json!(result)) {
            answer.extend(entries);
        }
        output::print_json(&answer)?;
    } else {
        match &result {
            WaitResult::Matched { line, .. } => output::print(&format!("{}\n", escape(line)))?,
            WaitResult::Listening { ports } => {
                let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
                output::print(&format!("{}\n", ports.join(" ")))?;
            }
            WaitResult::TimedOut => print_note("timed out; the job keeps running"),
            WaitResult::Ended => {
                report.error.iter().for_each(error::show);
                super::run::show_denials(&report);
            }
            WaitResult::Silent | WaitResult::Canceled => {}
        }
    }
    match result {
        WaitResult::Ended => match error::run_code(&report) {
            0 => Ok(()),
            code => Err(CliError::Reported(code)),
        },
        WaitResult::TimedOut => Err(CliError::Reported(TIMED_OUT)),
        WaitResult::Matched { .. }
        | WaitResult::Listening { .. }
        | WaitResult::Silent
        | WaitResult::Canceled => Ok(()),
    }
}
