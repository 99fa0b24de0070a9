//! An answer as Markdown. No output can end its own block: a fence is longer than any run of its characters inside.

use std::fmt::Write as _;

use crate::answer::duration::seconds;
use crate::answer::report::Report;

/// The report for a model that reads Markdown.
pub(super) fn answer(report: &Report) -> String {
    let mut text = String::new();
    let command = if report.command.is_empty() { String::new() } else { span(&report.command) };
    let _ = writeln!(text, "{}", format!("**{}** {command}", report.status).trim_end());
    if let Some(error) = &report.error {
        let sentence = match &error.hint {
            Some(hint) => format!("{}. Hint: {hint}", error.message),
            None => error.message.clone(),
        };
        let json = serde_json::to_string(error).unwrap_or_default();
        let _ = writeln!(text, "\n{}\n\n{}", one_line(&sentence), block("json", &json));
    }
    if report.pid.is_some() {
        let _ = writeln!(text, "\n{}", facts(report).join(", "));
        for (name, output) in [("stdout", &report.stdout), ("stderr", &report.stderr)] {
            if output.is_empty() {
                let _ = writeln!(text, "\n{name}: (empty)");
            } else {
                let _ = writeln!(text, "\n{name}:\n{}", block("text", output));
            }
        }
    }
    for artifact in &report.artifacts {
        let what = match (&artifact.sha256, artifact.bytes, &artifact.error) {
            (Some(sha256), Some(bytes), _) => format!("{bytes} bytes, sha256 {sha256}"),
            (_, _, error) => error.clone().unwrap_or_default(),
        };
        let _ = writeln!(text, "\nartifact {}: {}", span(&artifact.path), one_line(&what));
    }
    if let Some(job) = report.unfinished_job() {
        let _ = writeln!(text, "\nJob: {job}");
    }
    text.trim_end().to_owned()
}

fn facts(report: &Report) -> Vec<String> {
    let code = report.exit_code.map(|code| format!("exit code {code}"));
    let signal = report.signal.as_ref().map(|signal| format!("signal {} ({})", signal.number, signal.name));
    let duration = seconds(std::time::Duration::from_millis(report.duration_ms));
    let directory = format!("directory {}", span(&report.directory));
    let pids: Vec<String> = report.background.iter().map(|process| process.pid.to_string()).collect();
    let left = (!pids.is_empty()).then(|| format!("still running: {}", pids.join(" ")));
    [code, signal, Some(duration), Some(directory), left].into_iter().flatten().collect()
}

/// A block of text that nothing inside can end.
fn block(kind: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{kind}\n{text}{newline}{fence}")
}

/// Text within a line that nothing inside can end.
fn span(text: &str) -> String {
    let text = one_line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).collect::<Vec<_>>().join(" ")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_inside_ends_a_block(text in "(`|a|\n){0,40}") {
            let block = block("text", &text);
            let fence: String = block.chars().take_while(|c| *c == '`').collect();
            let inner = block.lines().skip(1).take(block.lines().count().saturating_sub(2));
            prop_assert!(inner.into_iter().all(|line| !line.trim_start().starts_with(&fence)));
            prop_assert!(block.ends_with(&fence));
        }
    }
}
