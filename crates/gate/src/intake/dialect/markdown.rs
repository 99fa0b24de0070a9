//! Answers as Markdown. Output can't end its block: the fence is longer than any run of backticks inside.

use crate::answer::duration::seconds;
use crate::answer::report::Report;

/// The report as Markdown.
pub(super) fn answer(report: &Report) -> String {
    let command = if report.command.is_empty() { String::new() } else { span(&report.command) };
    let mut paragraphs = vec![format!("**{}** {command}", report.status).trim_end().to_owned()];
    if let Some(error) = &report.error {
        let sentence = match &error.hint {
            Some(hint) => format!("{}. Hint: {hint}", error.message),
            None => error.message.clone(),
        };
        let json = serde_json::to_string(error).unwrap_or_default();
        paragraphs.extend([one_line(&sentence), block("json", &json)]);
    }
    if report.pid.is_some() {
        paragraphs.push(facts(report).join(", "));
        for (name, output) in [("stdout", &report.stdout), ("stderr", &report.stderr)] {
            paragraphs.push(match output.is_empty() {
                true => format!("{name}: (empty)"),
                false => format!("{name}:\n{}", block("text", output)),
            });
        }
    }
    for artifact in &report.artifacts {
        let what = match (&artifact.sha256, artifact.bytes, &artifact.error) {
            (Some(sha256), Some(bytes), _) => format!("{bytes} bytes, sha256 {sha256}"),
            (_, _, error) => error.clone().unwrap_or_default(),
        };
        paragraphs.push(format!("artifact {}: {}", span(&artifact.path), one_line(&what)));
    }
    paragraphs.extend(report.unfinished_job().map(|job| format!("Job: {job}")));
    paragraphs.join("\n\n").trim_end().to_owned()
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

/// A fenced block that `text` can't end.
fn block(kind: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{kind}\n{text}{newline}{fence}")
}

/// A code span that `text` can't end.
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
        fn text_never_ends_its_block(text in "(`|a|\n){0,40}") {
            let block = block("text", &text);
            let fence: String = block.chars().take_while(|c| *c == '`').collect();
            let inner = block.lines().skip(1).take(block.lines().count().saturating_sub(2));
            prop_assert!(inner.into_iter().all(|line| !line.trim_start().starts_with(&fence)));
            prop_assert!(block.ends_with(&fence));
        }
    }
}
