//! An answer as JSON, whatever its form, so that one kind of expectation fits all of them.

use serde_json::{Map, Value, json};

/// The labels of labelled text, in order.
const LABELS: [&str; 9] = [
    "Command",
    "Directory",
    "Stdout",
    "Stderr",
    "Error",
    "Exit Code",
    "Signal",
    "Background PIDs",
    "Process Group PGID",
];

/// What `shellgate call` printed.
pub(crate) fn answer(text: &str, events: bool) -> Result<Value, String> {
    if events {
        return of_events(text);
    }
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"));
    }
    if text.starts_with("Command: ") { labelled(text) } else { Ok(json!({"markdown": text})) }
}

/// Every label must be there, at the start of a line, in order, once.
fn labelled(text: &str) -> Result<Value, String> {
    let mut values = Map::new();
    let mut rest = text.strip_prefix("Command: ").unwrap_or(text);
    for pair in LABELS.windows(2) {
        let [label, next] = pair else { continue };
        let (value, after) =
            rest.split_once(&format!("\n{next}: ")).ok_or_else(|| format!("no line begins `{next}: `"))?;
        values.insert((*label).to_owned(), value.into());
        rest = after;
    }
    // For a call that keeps running, the last label is its job.
    let (group, job) = rest.split_once("\nJob: ").map_or((rest, None), |(group, job)| (group, Some(job)));
    values.insert("Process Group PGID".to_owned(), group.into());
    values.extend(job.map(|job| ("Job".to_owned(), job.into())));
    Ok(values.into())
}

/// The events of a call: its states, what it printed, what an assistant said, and its answer.
fn of_events(text: &str) -> Result<Value, String> {
    let (mut states, mut streams, mut assistant, mut result) =
        (Vec::new(), Map::new(), Value::Null, Value::Null);
    for line in text.lines() {
        let event: Value =
            serde_json::from_str(line).map_err(|error| format!("not an event: {error}: {line}"))?;
        let word = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match word("type").as_str() {
            "state" => states.push(word("status")),
            "tool-stream" => {
                let so_far = streams.entry(word("stream")).or_insert_with(|| "".into());
                *so_far = format!("{}{}", so_far.as_str().unwrap_or_default(), word("text")).into();
            }
            "assistant" => assistant = word("text").into(),
            "result" => result = event.get("json").or(event.get("text")).cloned().unwrap_or_default(),
            other => return Err(format!("an event of type {other:?}")),
        }
    }
    Ok(json!({"states": states.join(" "), "streams": streams, "assistant": assistant, "result": result}))
}

/// The declaration of a tool, whatever envelope it is in: its name, its description, its fields and which are required.
pub(crate) fn schema(text: &str) -> Result<Value, String> {
    let whole: Value =
        serde_json::from_str(text).map_err(|error| format!("the schema is not JSON: {error}"))?;
    let tool = tool(&whole).ok_or("no tool with an `inputSchema`")?;
    let part = |pointer: &str| tool.pointer(pointer).cloned().unwrap_or_default();
    let required = part("/inputSchema/required");
    let required: Vec<&str> = required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    Ok(json!({
        "name": part("/name"),
        "description": part("/description"),
        "properties": part("/inputSchema/properties"),
        "required": required.join(" "),
        "all": texts(tool).join("\n"),
    }))
}

fn tool(value: &Value) -> Option<&Value> {
    match value {
        Value::Object(entries) if entries.contains_key("inputSchema") => Some(value),
        Value::Object(entries) => entries.values().find_map(tool),
        Value::Array(list) => list.iter().find_map(tool),
        _ => None,
    }
}

/// Every text in it.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(entries) => entries.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
