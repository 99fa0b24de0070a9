//! `shellgate jobs`: lists running commands and those that ended within the hour.

use std::process::ExitCode;

use serde_json::json;
use shellgate::jobs::{JobList, JobSummary, MAX_ENDED_LISTED};
use shellgate::{RecordStore, State};

use crate::args::JobsArgs;
use crate::error::{self, CliError};
use crate::output::{self, escape};
use crate::table::{self, Cell, table};

pub(super) fn jobs(args: &JobsArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(list(args))
}

fn list(args: &JobsArgs) -> Result<(), CliError> {
    let record = RecordStore::open(None)?;
    let JobList { jobs, silent } = record.jobs(args.session.clone()).list()?;
    let told = silent.map_or(Ok(()), |error| Err(error.into()));
    if args.shown.json {
        output::print_json(&json!({"jobs": jobs}))?;
        return told;
    }
    if jobs.is_empty() {
        told?;
        return output::print("no command is running, and none ended within the hour\n");
    }
    let rows: Vec<[Cell; 9]> = jobs.iter().map(row).collect();
    let heads = ["ID", "STATE", "SESSION", "AGE", "CPU", "MEMORY", "PORTS", "COMMAND", "LAST LINE"];
    output::print(&table(heads, &rows, table::width()))?;
    if jobs.iter().filter(|job| job.status.is_final()).count() >= MAX_ENDED_LISTED {
        output::print_note("older ones that ended are left out: `shellgate history` lists all");
    }
    told
}

fn row(job: &JobSummary) -> [Cell; 9] {
    let state = match (job.status, job.exit_code, &job.signal) {
        (State::Failed, Some(code), _) => format!("failed {code}"),
        (State::Failed, None, Some(signal)) => format!("failed {}", signal.name),
        (State::Running, _, _) if job.kind.is_foreground() => "foreground".to_owned(),
        (State::Running, _, _) if job.kind.is_leftover() => "left running".to_owned(),
        (status, _, _) => status.to_string(),
    };
    let ports: Vec<String> = job.ports.iter().map(ToString::to_string).collect();
    [
        job.id.clone().into(),
        Cell::colored(state, color(job.status)),
        short(&escape(&job.session), 20).into(),
        age(job.age_ms).into(),
        job.cpu_ms.map_or("-".to_owned(), age).into(),
        job.memory_bytes.map_or("-".to_owned(), size).into(),
        if ports.is_empty() { "-".into() } else { ports.join(" ").into() },
        short(&escape(&job.command), 40).into(),
        escape(&job.last_line).into(),
    ]
}

const fn color(state: State) -> &'static str {
    match state {
        State::Completed => "\x1b[32m",
        State::Failed | State::TimedOut => "\x1b[31m",
        State::Canceled => "\x1b[33m",
        State::Queued | State::Starting | State::Running => "\x1b[36m",
    }
}

/// Shortens a text to `most` characters: a path, such as the name of a session, at its beginning, other text at its end.
fn short(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let start_matters = !text.starts_with('/');
    if start_matters {
        let kept: String = text.chars().take(most - 1).collect();
        return format!("{kept}…");
    }
    let kept: String = text.chars().skip(length - most + 1).collect();
    format!("…{kept}")
}

/// A duration in at most two units.
fn age(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms}ms"),
        1..60 => format!("{s}s"),
        60..3_600 => format!("{}m{:02}s", s / 60, s % 60),
        3_600..86_400 => format!("{}h{:02}m", s / 3_600, s / 60 % 60),
        _ => format!("{}d{:02}h", s / 86_400, s / 3_600 % 24),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} kB", bytes / 1024),
        1_048_576..1_073_741_824 => format!("{} MB", bytes >> 20),
        _ => format!("{}.{} GB", bytes >> 30, (bytes >> 20) % 1024 * 10 / 1024),
    }
}
