//! The declarations of the tools: the dialect's own, and those about jobs.

use rmcp::model::Tool;
use serde_json::{Value, json};
use shellgate::jobs::tools::TOOLS;
use shellgate::{Advertised, Dialect, Envelope, State};

use crate::OfferedTools;

/// The tools, as `tools/list` answers them.
pub(crate) fn listed(dialect: &Dialect, tools: OfferedTools) -> Vec<Tool> {
    let advertised = match tools {
        OfferedTools::Full => Advertised::All,
        OfferedTools::Common | OfferedTools::Shell => Advertised::Common,
    };
    let mut own = dialect.declaration(Envelope::Mcp, advertised);
    if let Some(own) = own.as_object_mut() {
        own.insert("outputSchema".to_owned(), report());
    }
    let jobs = TOOLS.iter().filter(|_| tools != OfferedTools::Shell).map(|tool| {
        let mut annotations =
            json!({"title": tool.title, "readOnlyHint": tool.reads_only, "openWorldHint": false});
        if let (Some(annotations), false) = (annotations.as_object_mut(), tool.reads_only) {
            annotations.insert("destructiveHint".to_owned(), tool.destroys.into());
        }
        json!({
            "name": tool.name,
            "description": tool.about,
            "inputSchema": tool.input_schema(advertised),
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

/// The schema of a report. It says less than is there, so that it stays short: names and types of what programs read.
fn report() -> Value {
    let or_null = |kind: &str| json!({"type": [kind, "null"]});
    let text = || json!({"type": "string"});
    let number = || json!({"type": "integer"});
    json!({
        "type": "object",
        "properties": {
            "id": text(),
            "status": {"enum": State::ALL},
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
        // Our own dialect has the others only if they say something.
        "required": ["exit_code", "stdout"],
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;
    use shellgate::{Code, ErrorObject, Report};

    use super::report;

    /// Fields of a report that the schema leaves out to stay short. A new field is either here or in the schema.
    const LEFT_OUT: [&str; 10] = [
        "stdout_truncated",
        "stderr_truncated",
        "stdout_file",
        "stderr_file",
        "timed_out",
        "canceled",
        "host_pid",
        "waiting_for_input",
        "effects",
        "denials",
    ];

    #[test]
    fn every_field_of_a_report_is_in_the_schema_or_left_out_on_purpose() {
        let report_value =
            serde_json::to_value(Report::of_error(ErrorObject::new(Code::Busy, "busy"))).unwrap();
        let fields: BTreeSet<&str> = report_value.as_object().unwrap().keys().map(String::as_str).collect();
        let schema = report();
        let properties = schema["properties"].as_object().unwrap();
        let described: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        let expected: BTreeSet<&str> = described.iter().copied().chain(LEFT_OUT).collect();
        assert_eq!(fields, expected);
        assert_eq!(described.len() + LEFT_OUT.len(), fields.len(), "no field is in both");
        for name in schema["required"].as_array().unwrap() {
            assert!(described.contains(name.as_str().unwrap()), "{name}");
        }
        for (name, property) in properties {
            assert!(fits(&report_value[name], property), "{name}: {} for {property}", report_value[name]);
        }
    }

    /// Whether a value has the type, or is one of the values, that a property allows.
    fn fits(value: &Value, property: &Value) -> bool {
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        match (&property["enum"], &property["type"]) {
            (Value::Array(values), _) => values.contains(value),
            (_, Value::Array(kinds)) => kinds.iter().any(|allowed| allowed == kind),
            (_, allowed) => allowed == kind,
        }
    }
}
