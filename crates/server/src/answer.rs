//! A report as the client gets it: one block of text, and the same facts as structured content.
//!
//! Agents show their model one of the two, and most drop `isError`. So each must be complete by itself.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use shellgate::{Code, Dialect, Report};

use crate::questions::WaitingQuestion;

/// The answer to a call of the dialect's own tool.
pub(crate) fn of_report(dialect: &Dialect, report: &Report) -> CallToolResult {
    // A report is strings, numbers and lists: it always serializes.
    let structured = serde_json::to_value(report).unwrap_or_default();
    let mut text = dialect.write(report);
    if let (Some(job), None) = (&report.job, report.unfinished_job()) {
        // Dialects name the processes that a command left running by pid at most. The model needs the job's id too.
        text = with(text, "Job", &job.as_str().into());
        if serde_json::from_str::<Value>(&text).is_ok() {
            text = with(text, "Background", &json!(report.background));
        }
    }
    result(text, structured, is_error(report))
}

/// The answer to a call whose question waits: how a person answers it, and how the model goes on.
pub(crate) fn of_question(dialect: &Dialect, question: &WaitingQuestion) -> CallToolResult {
    let mut answer = of_report(dialect, question.report());
    add(&mut answer, "Approval", approval(question));
    answer
}

/// A waiting question, for the tools about jobs.
pub(crate) fn waiting_job(question: &WaitingQuestion) -> Value {
    json!({"id": question.id, "status": question.report().status, "job": question.id, "approval": approval(question)})
}

fn approval(question: &WaitingQuestion) -> Value {
    let hint = match question.number {
        Some(number) => format!(
            "needs a person's approval: `shellgate approvals list` shows it, `shellgate approvals approve {number}` \
             approves it. Wait for that with `shell_wait`, job `{}`.",
            question.id
        ),
        None => "needs a person's approval in your own program".to_owned(),
    };
    json!({"id": question.number.map(|number| number.0), "hint": hint})
}

/// Adds a fact to an answer: to the structured content, and to the text in the text's own form.
pub(crate) fn add(answer: &mut CallToolResult, label: &str, fact: Value) {
    if let Some(ContentBlock::Text(block)) = answer.content.first_mut() {
        block.text = with(std::mem::take(&mut block.text), label, &fact);
    }
    if let Some(Value::Object(facts)) = &mut answer.structured_content {
        facts.insert(label.to_ascii_lowercase(), fact);
    }
}

/// A text with one more fact, in the text's own form.
fn with(text: String, label: &str, fact: &Value) -> String {
    match serde_json::from_str(&text) {
        Ok(Value::Object(mut facts)) => {
            facts.insert(label.to_ascii_lowercase(), fact.clone());
            Value::Object(facts).to_string()
        }
        _ => {
            let shown = fact.get("hint").unwrap_or(fact);
            format!("{text}\n{label}: {}", shown.as_str().unwrap_or_default())
        }
    }
}

/// Whether nothing was started. A command that ran is no error, whatever its exit code.
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
