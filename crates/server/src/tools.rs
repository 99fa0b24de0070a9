//! The declarations of the tools: the dialect's own, and those about jobs.

use rmcp::model::Tool;
use serde_json::{Value, json};
use shellgate::jobs::tools::TOOLS;
use shellgate::{Dialect, Envelope};

/// The tools, as `tools/list` answers them.
pub(crate) fn all(dialect: &Dialect) -> Vec<Tool> {
    let mut own = dialect.schema(Envelope::Mcp);
    if let Some(own) = own.as_object_mut() {
        own.insert("outputSchema".to_owned(), report());
    }
    let jobs = TOOLS.iter().map(|tool| {
        let mut annotations =
            json!({"title": tool.title, "readOnlyHint": tool.reads_only, "openWorldHint": false});
        if let (Some(annotations), false) = (annotations.as_object_mut(), tool.reads_only) {
            annotations.insert("destructiveHint".to_owned(), tool.destroys.into());
        }
        json!({
            "name": tool.name,
            "description": tool.about,
            "inputSchema": tool.input_schema(),
            "outputSchema": without_descriptions(tool.output_schema()),
            "annotations": annotations,
        })
    });
    std::iter::once(own).chain(jobs).filter_map(|tool| serde_json::from_value(tool).ok()).collect()
}

/// A schema of answers without descriptions: no agent shows them to its model, and every start transfers them.
fn without_descriptions(mut schema: Value) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("additionalProperties");
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
        for (_, property) in properties {
            if let Some(property) = property.as_object_mut() {
                property.remove("description");
            }
        }
    }
    schema
}

/// The native result. It says less than is there, so that it stays short: names and types of what programs read.
fn report() -> Value {
    let or_null = |kind: &str| json!({"type": [kind, "null"]});
    let text = || json!({"type": "string"});
    let number = || json!({"type": "integer"});
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
            "duration_ms": number(),
            "pid": or_null("integer"),
            "background": {"type": "array", "items": {"type": "object"}},
            "job": or_null("string"),
            "verdict": or_null("object"),
            "artifacts": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["id", "status", "command", "exit_code", "error", "stdout", "stderr", "job"],
    })
}
