//! What is offered: the dialect's own tool, and those about jobs.

use rmcp::model::Tool;
use serde_json::{Value, json};
use shellgate::jobs::tools::TOOLS;
use shellgate::{Dialect, Envelope};

/// The tools, as `tools/list` shows them.
pub(crate) fn all(dialect: &Dialect) -> Vec<Tool> {
    let mut own = dialect.schema(Envelope::Mcp);
    if let Some(own) = own.as_object_mut() {
        own.insert("outputSchema".to_owned(), report());
    }
    let jobs = TOOLS.iter().map(|tool| {
        json!({
            "name": tool.name,
            "description": tool.about,
            "inputSchema": tool.input_schema(),
            "outputSchema": tool.output_schema(),
            "annotations": {
                "title": tool.title,
                "readOnlyHint": tool.reads_only,
                "destructiveHint": tool.destroys,
                "openWorldHint": false,
            },
        })
    });
    std::iter::once(own).chain(jobs).filter_map(|tool| serde_json::from_value(tool).ok()).collect()
}

/// The native result. It says less than is there, so that it stays short: names and types of what programs read.
fn report() -> Value {
    let or_null = |kind: &str| json!({"type": [kind, "null"]});
    let text = || json!({"type": "string"});
    let number = || json!({"type": "integer"});
    let flag = || json!({"type": "boolean"});
    json!({
        "type": "object",
        "properties": {
            "id": text(),
            "status": {"enum": ["queued", "starting", "running", "completed", "failed", "canceled", "timed_out"]},
            "command": text(),
            "directory": text(),
            "exit_code": or_null("integer"),
            "signal": or_null("object"),
            "error": or_null("object"),
            "stdout": text(),
            "stderr": text(),
            "stdout_bytes": number(),
            "stderr_bytes": number(),
            "stdout_truncated": flag(),
            "stderr_truncated": flag(),
            "stdout_file": or_null("string"),
            "stderr_file": or_null("string"),
            "timed_out": flag(),
            "canceled": flag(),
            "duration_ms": number(),
            "pid": or_null("integer"),
            "host_pid": or_null("integer"),
            "background": {"type": "array", "items": {"type": "object"}},
            "job": or_null("string"),
            "waiting_for_input": flag(),
            "verdict": or_null("object"),
            "artifacts": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["id", "status", "command", "exit_code", "error", "stdout", "stderr", "job"],
    })
}
