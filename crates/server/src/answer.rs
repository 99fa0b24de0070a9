//! From a report to what the client gets: one block of text and the same facts as structured content.
//!
//! Agents show their model one of the two and drop the other, and most drop the mark of an error: so each has to be enough.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use shellgate::{Code, Dialect, Report};

/// The answer to a call of the dialect's own tool.
pub(crate) fn of_report(dialect: &Dialect, report: &Report) -> CallToolResult {
    // A report is strings, numbers and lists: it always serializes.
    let structured = serde_json::to_value(report).unwrap_or_default();
    result(dialect.write(report), structured, is_error(report))
}

/// A call that nothing was started for. A command that ran is an answer, however it ended.
fn is_error(report: &Report) -> bool {
    report.is_refusal() || report.error.as_ref().is_some_and(|error| error.code == Code::SpawnFailed)
}

/// Text and structured content, never empty.
pub(crate) fn result(text: String, structured: Value, is_error: bool) -> CallToolResult {
    let mut result = CallToolResult::default();
    let text = if text.is_empty() { structured.to_string() } else { text };
    result.content = vec![ContentBlock::text(text)];
    result.structured_content = Some(structured);
    result.is_error = Some(is_error);
    result
}
