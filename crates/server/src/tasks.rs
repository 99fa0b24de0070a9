//! Tasks: a call that isn't over yet, for clients that have the extension `io.modelcontextprotocol/tasks`.
//!
//! There is no store of tasks. A task is an execution under its own name: the keeper knows whether it goes on, the record
//! and the spool what its call would have been answered. So a task outlives the server, and a client may ask any later
//! server of the same session for it. Only a question is held here, because only we can go on with its answer.
//!
//! Nothing tells a client that a task has moved on: it asks as often as `pollIntervalMs` says.

mod words;

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, DetailedTask, ElicitRequest, InputRequest, InputRequests, InputResponses, Task,
    TaskPayload, TaskStatus,
};
use shellgate::jobs::{Call, CallState};
use shellgate::journal::calendar::exact;
use shellgate::{Code, ErrorObject, Gate, State, Urgency};

use crate::answer;
use crate::asking::Held;
use crate::asking::form::Form;
use crate::client::{Asks, Client};
use crate::jobs::{Places, is_below};

/// What the one thing is called that a task asks its client for. A task asks it once.
const APPROVAL: &str = "approval";
/// A day, in milliseconds.
const DAY: u64 = 86_400_000;
/// How often a task is to be asked about: soon while it is young, seldom when it takes its time.
const PACE: std::ops::RangeInclusive<u64> = 250..=5_000;
/// An answer is at work by then.
const SOON: Duration = Duration::from_secs(1);

/// What a call that goes on is answered with.
pub(crate) enum Begun {
    /// The task.
    Task(Box<Task>),
    /// Its end after all: it came meanwhile.
    Over(CallToolResult),
}

/// A call that goes on, as a task. The client finds it under this name from now on.
pub(crate) async fn begin(places: Places<'_>, id: &str, client: &Client) -> Result<Begun, ErrorData> {
    let Some(question) = places.questions.exactly(id, &client.principal) else {
        let call = found(places.gate, id, client).await?;
        return Ok(match &call.state {
            CallState::Ended(report) if report.status != State::Canceled => {
                Begun::Over(answer::of_report(call.dialect, report))
            }
            _ => Begun::Task(Box::new(shown(places.gate, &call).task)),
        });
    };
    if question.number.is_none() {
        // There is no record, in which its end could be found.
        return Err(unknown());
    }
    Ok(Begun::Task(Box::new(asked(places.gate, &question, form(&question, client, Held::form)).task)))
}

/// How a task stands.
pub(crate) async fn get(places: Places<'_>, id: &str, client: &Client) -> Result<DetailedTask, ErrorData> {
    match places.questions.exactly(id, &client.principal) {
        Some(question) => Ok(asked(places.gate, &question, form(&question, client, Held::show))),
        None => Ok(shown(places.gate, &found(places.gate, id, client).await?)),
    }
}

/// What somebody answered in the client's program. Answers to what isn't asked, or not any more, change nothing.
pub(crate) async fn update(
    places: Places<'_>,
    id: &str,
    responses: &InputResponses,
    client: &Client,
) -> Result<(), ErrorData> {
    let Some(question) = places.questions.exactly(id, &client.principal) else {
        return found(places.gate, id, client).await.map(drop);
    };
    if let Some(response) = responses.get(APPROVAL)
        && places.questions.respond(&question, response).await
    {
        // So that whoever looks next sees it.
        let _ = tokio::time::timeout(SOON, question.settled()).await;
    }
    Ok(())
}

/// Stops a task with all that it started. One that is over stays as it is.
pub(crate) async fn cancel(places: Places<'_>, id: &str, client: &Client) -> Result<(), ErrorData> {
    if let Some(question) = places.questions.exactly(id, &client.principal) {
        question.withdraw().await;
        question.settled().await;
    }
    // Also one whose question was answered a moment ago.
    let (gate, call) = (places.gate, found(places.gate, id, client).await?);
    if let CallState::Running(_) = call.state {
        aside(move || gate.jobs()?.stop(&call.id, Urgency::Politely).map(drop)).await?;
    }
    Ok(())
}

/// The client's call of this name. One of somebody else is as unknown as one that never was.
async fn found(gate: &'static Gate, id: &str, client: &Client) -> Result<Call, ErrorData> {
    let (name, own) = (id.to_owned(), client.principal.session(gate));
    let call = aside(move || gate.call_named(&name)).await?;
    if own.is_some_and(|own| !is_below(&call.session, &own)) {
        return Err(unknown());
    }
    Ok(call)
}

async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorObject> + Send + 'static,
) -> Result<T, ErrorData> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) if matches!(error.code, Code::UnknownJob | Code::InvalidInput) => Err(unknown()),
        Ok(Err(error)) => Err(ErrorData::internal_error(error.to_string(), None)),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no such task, or it is kept no longer", None)
}

/// The form of a question, by `take`, if the client shows forms.
fn form(question: &Held, client: &Client, take: fn(&Held) -> Option<Form>) -> Option<Form> {
    if client.asks == Asks::Never { None } else { take(question) }
}

/// A task that waits for somebody's yes: its client's own user can give it, if it shows forms.
fn asked(gate: &Gate, question: &Held, form: Option<Form>) -> DetailedTask {
    let payload = match form.and_then(|form| form.params()) {
        Some(params) => TaskPayload::InputRequired {
            input_requests: InputRequests::from([(
                APPROVAL.to_owned(),
                InputRequest::Elicitation(ElicitRequest::new(params)),
            )]),
        },
        None => TaskPayload::Working,
    };
    let made = of_name(&question.id);
    let task = task(gate, &question.id, (made, made), words::of_question(question.number));
    DetailedTask::new(task.with_poll_interval_ms(*PACE.start()), payload)
}

/// A call that waits for no yes here, as a task.
fn shown(gate: &Gate, call: &Call) -> DetailedTask {
    let base = |words| task(gate, &call.id, (call.made_at, call.changed_at), words);
    let paced =
        |words, age: u64| base(words).with_poll_interval_ms((age / 10).clamp(*PACE.start(), *PACE.end()));
    match &call.state {
        CallState::AwaitingApproval => {
            DetailedTask::new(paced(words::of_question(None), 0), TaskPayload::Working)
        }
        CallState::Running(job) => {
            DetailedTask::new(paced(words::of_job(job), job.age_ms), TaskPayload::Working)
        }
        CallState::Ended(report) => {
            let payload = match report.status {
                State::Canceled => TaskPayload::Cancelled,
                // What a call is answered with is always an object.
                _ => match serde_json::to_value(answer::of_report(call.dialect, report)) {
                    Ok(serde_json::Value::Object(result)) => TaskPayload::Completed { result },
                    _ => TaskPayload::Cancelled,
                },
            };
            DetailedTask::new(base(words::of_end(report)), payload)
        }
    }
}

/// What every task says of itself. It is kept as long as the record is.
fn task(gate: &Gate, id: &str, (made, changed): (u64, u64), words: String) -> Task {
    let mut task = Task::new(id, TaskStatus::Working, written(made), written(changed.max(made)))
        .with_status_message(words);
    let days = gate.settings().journal.keep_days;
    task.ttl_ms = (days > 0).then(|| days.saturating_mul(DAY));
    task
}

/// When an execution was named: its name begins with that.
fn of_name(id: &str) -> u64 {
    ulid::Ulid::from_string(id).map_or(0, |name| name.timestamp_ms())
}

fn written(ms: u64) -> String {
    exact(i64::try_from(ms).unwrap_or(0))
}
