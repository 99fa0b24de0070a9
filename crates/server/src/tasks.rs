//! Tasks: calls that take long, for clients with the extension `io.modelcontextprotocol/tasks`.
//!
//! There is no store of tasks. A task is an execution, by its id: the keeper knows whether it runs, and record and spool
//! have the answer that its call would have had. So a task outlives the server, and any later server of the same session
//! knows it. Only waiting questions are kept here, because only this process can go on with the answer.
//!
//! There are no notifications about tasks: the client polls, as often as `pollIntervalMs` says.

mod status_message;

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, DetailedTask, ElicitRequest, InputRequest, InputRequests, InputResponses, Task,
    TaskPayload, TaskStatus,
};
use shellgate::jobs::{Call, CallState};
use shellgate::journal::calendar::exact;
use shellgate::{Code, ErrorObject, Gate, State, Urgency};

use crate::answer::ToolResult;
use crate::client::{Client, FormSupport};
use crate::jobs::JobSources;
use crate::questions::WaitingQuestion;
use crate::questions::form::Form;
use crate::workers;

/// The key of the one input that a task requests.
const APPROVAL_KEY: &str = "approval";
/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;
/// How often a client is to poll: a tenth of the task's age, within these bounds.
const POLL_INTERVAL_MS: std::ops::RangeInclusive<u64> = 250..=5_000;
/// How long an answered question is waited for: the command has started by then.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(1);

/// The answer to a call whose command runs on.
pub(crate) enum TaskStart {
    /// The task.
    Task(Box<Task>),
    /// The result: the command has ended meanwhile.
    Ended(ToolResult),
}

/// Makes a call that runs on a task. The client finds it by this id from now on.
pub(crate) async fn begin(
    sources: JobSources<'_>,
    id: &str,
    client: &Client,
) -> Result<TaskStart, ErrorData> {
    let Some(question) = sources.questions.exactly(id, &client.principal) else {
        let call = found(sources.gate, id, client).await?;
        return Ok(match &call.state {
            CallState::Ended(report) if report.status != State::Canceled => {
                TaskStart::Ended(ToolResult::of_report(call.dialect.over_mcp(), report))
            }
            _ => TaskStart::Task(Box::new(of_call(sources.gate, &call).task)),
        });
    };
    if question.number.is_none() {
        // There is no record that could have its end.
        return Err(unknown());
    }
    Ok(TaskStart::Task(Box::new(
        of_question(sources.gate, &question, form(&question, client, WaitingQuestion::form)).task,
    )))
}

/// The state of a task.
pub(crate) async fn get(
    sources: JobSources<'_>,
    id: &str,
    client: &Client,
) -> Result<DetailedTask, ErrorData> {
    match sources.questions.exactly(id, &client.principal) {
        Some(question) => {
            Ok(of_question(sources.gate, &question, form(&question, client, WaitingQuestion::show_form)))
        }
        None => Ok(of_call(sources.gate, &found(sources.gate, id, client).await?)),
    }
}

/// Takes what the user of the client answered. A response to no question, or to a settled one, changes nothing.
pub(crate) async fn update(
    sources: JobSources<'_>,
    id: &str,
    responses: &InputResponses,
    client: &Client,
) -> Result<(), ErrorData> {
    let Some(question) = sources.questions.exactly(id, &client.principal) else {
        return found(sources.gate, id, client).await.map(drop);
    };
    if let Some(response) = responses.get(APPROVAL_KEY)
        && sources.questions.respond(&question, response).await
    {
        // So that the next `tasks/get` sees the effect. If it takes longer, it sees it later.
        let _ = tokio::time::timeout(SETTLE_TIMEOUT, question.settled()).await;
    }
    Ok(())
}

/// Stops a task with all of its processes. A task that has ended stays as it is.
pub(crate) async fn cancel(sources: JobSources<'_>, id: &str, client: &Client) -> Result<(), ErrorData> {
    if let Some(question) = sources.questions.exactly(id, &client.principal) {
        question.withdraw().await;
        question.settled().await;
    }
    // The question may have been approved a moment ago: then the command runs.
    let (gate, scope, call) =
        (sources.gate, client.principal.scope(), found(sources.gate, id, client).await?);
    if let CallState::Running(_) = call.state {
        off_thread(move || gate.scoped(&scope)?.jobs()?.stop(&call.id, Urgency::Politely).map(drop)).await?;
    }
    Ok(())
}

/// The client's call of this id. Another client's call gets the same error as an unknown id.
async fn found(gate: &'static Gate, id: &str, client: &Client) -> Result<Call, ErrorData> {
    let (id, scope) = (id.to_owned(), client.principal.scope());
    off_thread(move || gate.scoped(&scope)?.call(&id)).await
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorObject> + Send + 'static,
) -> Result<T, ErrorData> {
    match workers::run(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) if matches!(error.code, Code::UnknownJob | Code::InvalidInput) => Err(unknown()),
        Ok(Err(error)) => Err(ErrorData::internal_error(error.to_string(), None)),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no such task, or it has expired", None)
}

/// The form of a question, by `take`, if the client supports forms.
fn form(
    question: &WaitingQuestion,
    client: &Client,
    take: fn(&WaitingQuestion) -> Option<Form>,
) -> Option<Form> {
    if client.forms == FormSupport::None { None } else { take(question) }
}

/// The task of a waiting question. The client's own user can answer it if there is a form.
fn of_question(gate: &Gate, question: &WaitingQuestion, form: Option<Form>) -> DetailedTask {
    let payload = match form.and_then(|form| form.params()) {
        Some(params) => TaskPayload::InputRequired {
            input_requests: InputRequests::from([(
                APPROVAL_KEY.to_owned(),
                InputRequest::Elicitation(ElicitRequest::new(params)),
            )]),
        },
        None => TaskPayload::Working,
    };
    let made = time_of(&question.id);
    let task = task(gate, &question.id, (made, made), status_message::of_question(question.number));
    DetailedTask::new(task.with_poll_interval_ms(*POLL_INTERVAL_MS.start()), payload)
}

/// The task of a call that has no question here.
fn of_call(gate: &Gate, call: &Call) -> DetailedTask {
    let base = |message| task(gate, &call.id, (call.made_at, call.changed_at), message);
    let polled = |message, age: u64| {
        let interval = (age / 10).clamp(*POLL_INTERVAL_MS.start(), *POLL_INTERVAL_MS.end());
        base(message).with_poll_interval_ms(interval)
    };
    match &call.state {
        CallState::AwaitingApproval => {
            DetailedTask::new(polled(status_message::of_question(None), 0), TaskPayload::Working)
        }
        CallState::Running(job) => {
            DetailedTask::new(polled(status_message::of_job(job), job.age_ms), TaskPayload::Working)
        }
        CallState::Ended(report) => {
            let payload = match report.status {
                State::Canceled => TaskPayload::Cancelled,
                // An answer always serializes to an object.
                _ => match serde_json::to_value(CallToolResult::from(ToolResult::of_report(
                    call.dialect.over_mcp(),
                    report,
                ))) {
                    Ok(serde_json::Value::Object(result)) => TaskPayload::Completed { result },
                    _ => TaskPayload::Cancelled,
                },
            };
            DetailedTask::new(base(status_message::of_end(report)), payload)
        }
    }
}

/// A task with the fields that all have. It expires with the record.
fn task(gate: &Gate, id: &str, (made, changed): (u64, u64), message: String) -> Task {
    let mut task = Task::new(id, TaskStatus::Working, written(made), written(changed.max(made)))
        .with_status_message(message);
    let days = gate.settings().journal.keep_days;
    task.ttl_ms = (days > 0).then(|| days.saturating_mul(DAY_MS));
    task
}

/// When the execution of this id was made: an id begins with the time.
fn time_of(id: &str) -> u64 {
    ulid::Ulid::from_string(id).map_or(0, |name| name.timestamp_ms())
}

fn written(ms: u64) -> String {
    exact(i64::try_from(ms).unwrap_or(0))
}
