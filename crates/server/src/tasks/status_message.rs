//! The status message of a task: one sentence.

use std::time::Duration;

use shellgate::jobs::JobSummary;
use shellgate::journal::QuestionId;
use shellgate::{Report, State, seconds};

/// For a task whose question waits: how a person answers it.
pub(super) fn of_question(number: Option<QuestionId>) -> String {
    match number {
        Some(number) => format!(
            "needs a person's approval: `shellgate approvals list` shows it, `shellgate approvals approve {number}` \
             approves it"
        ),
        None => "needs a person's approval".to_owned(),
    }
}

/// For a task whose command runs.
pub(super) fn of_job(job: &JobSummary) -> String {
    let printed = job.stdout_bytes.saturating_add(job.stderr_bytes);
    let mut message = match job.status {
        State::Queued => "waits until fewer commands run".to_owned(),
        _ => format!("running for {}, {printed} bytes of output", rounded(job.age_ms)),
    };
    if job.waiting_for_input {
        message.push_str(&format!("; waits for input: use `shell_input` with job `{}`", job.id));
    } else if !job.last_line.is_empty() {
        message.push_str(&format!("; the last line: {}", job.last_line));
    }
    message
}

/// For a task whose command has ended.
pub(super) fn of_end(report: &Report) -> String {
    let after = rounded(report.duration_ms);
    match (&report.error, report.exit_code, &report.signal) {
        (Some(error), _, _) if report.status == State::Canceled && report.pid.is_some() => {
            format!("{}; `shell_output` with job `{}` has its output", error.message, report.id)
        }
        (Some(error), _, _) => format!("{}: {}", error.code, error.message),
        (None, Some(code), _) => format!("exit code {code} after {after}"),
        (None, None, Some(signal)) => format!("ended by {} after {after}", signal.name),
        (None, None, None) => format!("ended after {after}"),
    }
}

/// A time in whole seconds, or in milliseconds below one second.
fn rounded(ms: u64) -> String {
    seconds(Duration::from_millis(if ms < 1_000 { ms } else { ms / 1_000 * 1_000 }))
}
