//! A report as the client gets it: one block of text, and the same facts as structured content.
//!
//! Agents show their model one of the two, and most drop `isError`. So each must be complete by itself.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use shellgate::{Code, Dialect, DialectAnswer, Report};

use crate::questions::WaitingQuestion;

/// The result of a call of the dialect's own tool, while facts can still be added.
pub(crate) struct ToolResult {
    text: DialectAnswer,
    structured: Map<String, Value>,
    is_error: bool,
}

/// The reply to a call of the dialect's own tool.
pub(crate) enum Reply {
    /// The result.
    Result(ToolResult),
    /// A task, or a form for the user: it has no result yet.
    Unfinished(Box<CallToolResponse>),
}

impl ToolResult {
    /// The answer with this report.
    pub(crate) fn of_report(dialect: &Dialect, report: &Report) -> Self {
        let mut text = dialect.write(report);
        text.add_denials(report);
        text.add_job_of_leftovers(report);
        Self { text, structured: dialect.structured(report), is_error: is_error(report) }
    }

    /// The answer to a call whose question waits: how a person answers it, and how the model goes on.
    pub(crate) fn of_question(dialect: &Dialect, question: &WaitingQuestion) -> Self {
        let mut answer = Self::of_report(dialect, question.report());
        answer.add("Approval", approval(question));
        answer
    }

    /// Adds a fact: to the structured content, and to the text in the text's own form.
    pub(crate) fn add(&mut self, label: &str, fact: Value) {
        self.text.add(label, &fact);
        self.structured.insert(label.to_ascii_lowercase(), fact);
    }
}

impl From<ToolResult> for CallToolResult {
    fn from(answer: ToolResult) -> Self {
        result(answer.text.to_string(), answer.structured.into(), answer.is_error)
    }
}

impl From<ToolResult> for Reply {
    fn from(answer: ToolResult) -> Self {
        Self::Result(answer)
    }
}

impl Reply {
    /// A reply that has no result yet.
    pub(crate) fn unfinished(response: impl Into<CallToolResponse>) -> Self {
        Self::Unfinished(Box::new(response.into()))
    }
}

impl From<Reply> for CallToolResponse {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Result(answer) => CallToolResult::from(answer).into(),
            Reply::Unfinished(response) => *response,
        }
    }
}

/// A waiting question, for the tools about jobs.
pub(crate) fn waiting_job(question: &WaitingQuestion) -> Value {
    json!({"id": question.id, "status": question.report().status, "job": question.id, "approval": approval(question)})
}

fn approval(question: &WaitingQuestion) -> Value {
    json!({"id": question.number.map(|number| number.0), "hint": approval_hint(question)})
}

/// How a person answers a question, and how the model goes on.
pub(crate) fn approval_hint(question: &WaitingQuestion) -> String {
    match question.number {
        Some(number) => format!(
            "needs a person's approval: `shellgate approvals list` shows it, `shellgate approvals approve {number}` \
             approves it. Wait for that with `shell_wait`, job `{}`.",
            question.id
        ),
        None => "needs a person's approval in your own program".to_owned(),
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
