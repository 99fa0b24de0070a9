//! What a dialect answers: an object, or text.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::DENIED;
use super::closing::ClosedText;
use crate::answer::report::Report;

/// The answer to a tool call, as its model gets it: [`Display`](fmt::Display) writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum DialectAnswer {
    /// A JSON object.
    Json(Map<String, Value>),
    /// Text, whatever it looks like.
    Text(String),
    /// Output with a closing line.
    Closed(ClosedText),
}

impl DialectAnswer {
    /// The JSON object that `answer` serializes to.
    pub(super) fn json(answer: &impl Serialize) -> Self {
        let failed = |error: String| Map::from_iter([("error".to_owned(), Value::from(error))]);
        Self::Json(match serde_json::to_value(answer) {
            Ok(Value::Object(fields)) => fields,
            // Answers are structures of strings, numbers and lists, which always serialize to an object.
            Ok(other) => failed(format!("the answer is not an object: {other}")),
            Err(error) => failed(error.to_string()),
        })
    }

    /// Adds what the sandbox refused, if something was and the answer doesn't have it by itself: a field `denials`, or a line.
    pub fn add_denials(&mut self, report: &Report) {
        let Some(targets) = report.denied_targets() else { return };
        match self {
            Self::Json(fields) => {
                fields.entry("denials").or_insert_with(|| json!(report.denials));
            }
            Self::Text(text) => {
                let line = format!("{DENIED}: {targets}");
                if !text.ends_with(&line) {
                    text.push_str(&format!("\n{line}"));
                }
            }
            // It names them in its closing line.
            Self::Closed(_) => {}
        }
    }

    /// Adds the job of the processes that a command left running. Dialects name those by process id at most.
    pub fn add_job_of_leftovers(&mut self, report: &Report) {
        let (Some(job), None) = (&report.job, report.unfinished_job()) else { return };
        // A closing line names both by itself.
        if !matches!(self, Self::Closed(_)) {
            self.add("Job", &job.as_str().into());
            self.add("Background", &json!(report.background));
        }
    }

    /// Adds a fact in the form of the answer: a field, or a line with a label. Of an object, text shows the `hint`; facts
    /// that text can't show are left out of it.
    pub fn add(&mut self, label: &str, fact: &Value) {
        match self {
            Self::Json(fields) => {
                fields.insert(label.to_ascii_lowercase(), fact.clone());
            }
            Self::Text(text) => {
                if let Some(shown) = fact.get("hint").unwrap_or(fact).as_str() {
                    text.push_str(&format!("\n{label}: {shown}"));
                }
            }
            Self::Closed(text) => {
                if let Some(shown) = fact.get("hint").unwrap_or(fact).as_str() {
                    text.add(label, shown);
                }
            }
        }
    }
}

impl fmt::Display for DialectAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(fields) => match serde_json::to_string(fields) {
                Ok(text) => f.write_str(&text),
                // Only a key that is no string fails, and a map's keys are strings.
                Err(_) => Err(fmt::Error),
            },
            Self::Text(text) => f.write_str(text),
            Self::Closed(text) => text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::DialectAnswer;

    #[test]
    fn a_fact_takes_the_form_of_the_answer() {
        let mut object = DialectAnswer::json(&json!({"b": 1, "a": 2}));
        object.add("Job", &json!("J"));
        object.add("Background", &json!([{"pid": 1}]));
        assert_eq!(object.to_string(), r#"{"b":1,"a":2,"job":"J","background":[{"pid":1}]}"#);

        // Text that looks like an object stays text.
        let mut text = DialectAnswer::Text("{}".to_owned());
        text.add("Job", &json!("J"));
        text.add("Approval", &json!({"id": 7, "hint": "ask"}));
        text.add("Background", &json!([{"pid": 1}]));
        assert_eq!(text.to_string(), "{}\nJob: J\nApproval: ask");
    }
}
