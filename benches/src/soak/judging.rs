//! Whether an answer is right, tells an error, or is wrong.

use serde_json::Value;

use super::marks::{Mark, Marks};
use super::watchdog::Ended;

/// What an answer is.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The result that the call must have.
    Right,
    /// Another result, with the kind of error that was told.
    Honest(String),
    /// False success, a hang, a wrong exit code, or an error that wasn't told.
    Wrong(String),
}

/// Codes of errors that say that nothing was started.
const REFUSALS: &[&str] = &[
    "invalid_input",
    "parse_error",
    "denied_by_policy",
    "denied_by_user",
    "approval_timeout",
    "approval_unavailable",
    "out_of_scope",
    "sandbox_unavailable",
    "config",
    "busy",
    "unknown_job",
];

/// What a confined command prints that can't make a file because its broker was killed. The other parts of its text go on.
const BROKER_GONE: &str = "Function not implemented";

/// What a command must answer.
pub(super) struct Expected<'a> {
    pub(super) mark: &'a Mark,
    pub(super) code: i32,
    pub(super) stdout: &'a [u8],
}

impl Expected<'_> {
    /// The verdict on `shellgate run`.
    pub(super) fn run(&self, marks: &Marks, ended: &Ended) -> Verdict {
        let (code, has_run) = (ended.output.status.code(), self.mark.is_set());
        let is_complete = ended.output.stdout == self.stdout;
        if code == Some(self.code) && is_complete && has_run {
            return Verdict::Right;
        }
        if String::from_utf8_lossy(&ended.output.stderr).contains(BROKER_GONE) {
            return Verdict::Honest("told by the command: its broker was killed".to_owned());
        }
        // Output may be missing if that is told. A missing effect is never success.
        let is_false = match code {
            Some(code) if code == self.code => !has_run,
            // The codes that shellgate itself exits with are higher.
            Some(code) => code < 10 && code != 2,
            None => false,
        };
        if is_false && !ended.hangs {
            return Verdict::Wrong(format!(
                "expected exit code {}, effect {has_run}: {}",
                self.code,
                told(ended)
            ));
        }
        honest_run(marks, self.mark, ended)
    }

    /// The verdict on the JSON of an answer.
    pub(super) fn report(&self, marks: &Marks, report: &Value) -> Verdict {
        if let Some(error) = error_of(marks, self.mark, report) {
            return Verdict::Honest(error);
        }
        if report["stderr"].as_str().is_some_and(|stderr| stderr.contains(BROKER_GONE)) {
            return Verdict::Honest("told by the command: its broker was killed".to_owned());
        }
        let is_code = report["exit_code"].as_i64() == Some(i64::from(self.code));
        let is_complete = report["stdout"].as_str().map(str::as_bytes) == Some(self.stdout);
        match (is_code, is_complete, self.mark.is_set()) {
            (true, true, true) => Verdict::Right,
            (true, false, true) if report["stdout_truncated"] == true || report["truncated"] == true => {
                Verdict::Honest("output missing".to_owned())
            }
            (false, _, _) if report["signal"].is_object() => {
                Verdict::Honest(format!("killed by {}", report["signal"]["name"].as_str().unwrap_or("?")))
            }
            (_, _, has_run) => {
                Verdict::Wrong(format!("expected exit code {}, effect {has_run}: {report}", self.code))
            }
        }
    }

    /// The verdict on `shellgate call`.
    pub(super) fn call(&self, marks: &Marks, ended: &Ended) -> Verdict {
        match answer_of(ended) {
            Ok(report) => self.report(marks, &report),
            Err(verdict) => verdict,
        }
    }
}

/// The code of the error in an answer. Notes the mark if the error says that nothing was started.
pub(super) fn error_of(marks: &Marks, mark: &Mark, report: &Value) -> Option<String> {
    let code = report["error"]["code"].as_str()?;
    if REFUSALS.contains(&code) {
        marks.say_unrun(mark, &report["error"].to_string());
    }
    let message = report["error"]["message"].as_str().unwrap_or_default();
    Some(if code == "config" { format!("{code}: {}", without_digits(message)) } else { code.to_owned() })
}

/// The JSON of an answer, or the verdict on a process that gave none.
pub(super) fn answer_of(ended: &Ended) -> Result<Value, Verdict> {
    match serde_json::from_slice::<Value>(&ended.output.stdout) {
        Ok(report) if !ended.hangs && ended.output.status.code().is_some() => Ok(report),
        _ => Err(honest(ended)),
    }
}

/// The verdict on a process that didn't end as it should: it must have told an error.
pub(super) fn honest(ended: &Ended) -> Verdict {
    let stderr = String::from_utf8_lossy(&ended.output.stderr);
    if ended.hangs {
        return Verdict::Wrong(format!("it hangs: {}", told(ended)));
    }
    // Rust's runtime panics by itself when it can't set up its stacks, before `main`.
    if stderr.contains("panicked") && !stderr.contains("fatal runtime error") {
        return Verdict::Wrong(format!("it panicked: {}", told(ended)));
    }
    match ended.output.status.code() {
        None => Verdict::Honest("killed".to_owned()),
        Some(_) if stderr.trim().is_empty() => Verdict::Wrong(format!("no error is told: {}", told(ended))),
        Some(code) => Verdict::Honest(format!("exit {code}: {}", first_words(&stderr))),
    }
}

/// The same for `shellgate run`, whose error may say that nothing was started.
pub(super) fn honest_run(marks: &Marks, mark: &Mark, ended: &Ended) -> Verdict {
    let stderr = String::from_utf8_lossy(&ended.output.stderr);
    let mut codes = stderr.lines().filter_map(|line| line.split_once(": ")).map(|(code, _)| code);
    if let Some(code) = codes.find(|code| REFUSALS.contains(code)) {
        marks.say_unrun(mark, &format!("{code}: {}", told(ended)));
    }
    // A command that a signal ended has an exit code of its own, and needs no error.
    match ended.output.status.code() {
        Some(code @ 129..) if stderr.trim().is_empty() => Verdict::Honest(format!("exit {code}")),
        _ => honest(ended),
    }
}

/// The beginning of an error, without numbers and names that differ each time.
fn first_words(stderr: &str) -> String {
    let line = stderr.lines().find(|line| !line.contains("is waiting for an answer")).unwrap_or_default();
    match line.split_once(": ") {
        Some((code, _)) if !matches!(code, "config" | "error") => code.to_owned(),
        _ => without_digits(line),
    }
}

fn without_digits(text: &str) -> String {
    let words =
        text.split(' ').map(|word| if word.bytes().any(|byte| byte.is_ascii_digit()) { "…" } else { word });
    words.collect::<Vec<_>>().join(" ").chars().take(110).collect()
}

/// All that a process said, in one line.
pub(super) fn told(ended: &Ended) -> String {
    let part = |bytes: &[u8]| -> String {
        let text: String = String::from_utf8_lossy(bytes).chars().take(600).collect();
        format!("{text:?} ({} bytes)", bytes.len())
    };
    let Ended { output, took, .. } = ended;
    format!(
        "{} after {took:?}, stdout {}, stderr {}",
        output.status,
        part(&output.stdout),
        part(&output.stderr)
    )
}
