//! What a task says of itself in a sentence.

use std::time::Duration;

use shellgate::jobs::JobSummary;
use shellgate::journal::QuestionId;
use shellgate::{Report, State, seconds};

/// One that waits for a yes: where to give it.
pub(super) fn of_question(number: Option<QuestionId>) -> String {
    match number {
        Some(number) => format!(
            "a person must say yes: `shellgate approvals list` shows the question, `shellgate approvals approve {number}` \
             answers it"
        ),
        None => "a person must say yes".to_owned(),
    }
}

/// One that goes on.
pub(super) fn of_job(job: &JobSummary) -> String {
    let printed = job.stdout_bytes.saturating_add(job.stderr_bytes);
    let mut words = match job.status {
        State::Queued => "it waits for its turn".to_owned(),
        _ => format!("it has run for {}, and printed {printed} bytes", about(job.age_ms)),
    };
    if job.waiting_for_input {
        words.push_str(&format!("; it waits for input: `shell_input` with job `{}` types at it", job.id));
    } else if !job.last_line.is_empty() {
        words.push_str(&format!("; the last line: {}", job.last_line));
    }
    words
}

/// One that is over.
pub(super) fn of_end(report: &Report) -> String {
    let after = about(report.duration_ms);
    match (&report.error, report.exit_code, &report.signal) {
        (Some(error), _, _) if report.status == State::Canceled && report.pid.is_some() => {
            format!("{}; `shell_output` with job `{}` reads what it printed", error.message, report.id)
        }
        (Some(error), _, _) => format!("{}: {}", error.code, error.message),
        (None, Some(code), _) => format!("exit code {code} after {after}"),
        (None, None, Some(signal)) => format!("ended by {} after {after}", signal.name),
        (None, None, None) => format!("ended after {after}"),
    }
}

/// Whole seconds, once there are some.
fn about(ms: u64) -> String {
    seconds(Duration::from_millis(if ms < 1_000 { ms } else { ms / 1_000 * 1_000 }))
}
