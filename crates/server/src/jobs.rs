//! The tools about jobs. The gate implements them, within the client's scope. The server adds that a waiting question is a
//! job too.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use shellgate::jobs::WaitControl;
use shellgate::jobs::tools::{JobTool, ToolAnswer};
use shellgate::text::quoted;
use shellgate::{Code, ErrorObject, Gate};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::answer;
use crate::client::Client;
use crate::limits::DEFAULT_WAIT;
use crate::progress::{Progress, append_end};
use crate::questions::input_approver::with_client;
use crate::questions::{Questions, WaitingQuestion};
use crate::workers::Workers;

/// The two sources of jobs: the gate has those that were started, `questions` those that wait for approval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobSources<'a> {
    pub(crate) gate: &'static Gate,
    pub(crate) questions: &'a Questions,
    pub(crate) workers: &'a Workers,
}

/// Answers a call of `tool`.
pub(crate) async fn answer(
    sources: JobSources<'_>,
    tool: &'static JobTool,
    arguments: String,
    client: &Client,
    progress: &mut Option<Progress>,
) -> CallToolResult {
    let JobSources { gate, questions, .. } = sources;
    let given: Value = serde_json::from_str(&arguments).unwrap_or_default();
    let mut arguments = arguments;
    if let Some(question) = job_named_in(&given).and_then(|job| questions.find(job, &client.principal)) {
        match answer_for_question(tool, &question, given.clone(), client, progress).await {
            Ok(rest) => arguments = rest,
            Err(answer) => return *answer,
        }
    }
    let scope = client.principal.scope();
    let run = move |cancel: Option<&WaitControl>| Ok(gate.scoped(&scope)?.job_tool(tool, &arguments, cancel));
    let mut done = off_thread(sources.workers, client, progress, run)
        .await
        .unwrap_or_else(|error| ToolAnswer::refused(&error));
    if tool.name == "shell_jobs" {
        add_waiting(&mut done, &questions.all_of(&client.principal));
    }
    result(done)
}

/// Does work that may block for long on another thread. The client ends it by canceling the call.
pub(crate) async fn off_thread<T: Send + 'static>(
    workers: &Workers,
    client: &Client,
    progress: &mut Option<Progress>,
    work: impl FnOnce(Option<&WaitControl>) -> Result<T, ErrorObject> + Send + 'static,
) -> Result<T, ErrorObject> {
    let (output, wants_output) = (Arc::new(JobOutput::default()), progress.is_some());
    let cancel = WaitControl::new().ok().map(|cancel| {
        let output = output.clone();
        if wants_output { cancel.on_output(move |bytes| output.add(bytes)) } else { cancel }
    });
    let cancel = Arc::new(cancel);
    let work = {
        let (cancel, client, runtime) = (cancel.clone(), client.clone(), Handle::current());
        let run = move || work(cancel.as_ref().as_ref());
        workers.run_wait(move || with_client(client, runtime, run))
    };
    tokio::pin!(work);
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            () = client.canceled.cancelled(), if !client.canceled.is_cancelled() => {}
            () = output.added.notified() => {
                if let Some(progress) = progress {
                    progress.add_output(&output.take());
                }
            }
            () = Progress::tell(progress) => {}
        }
        if let (true, Some(cancel)) = (client.canceled.is_cancelled(), cancel.as_ref()) {
            cancel.cancel();
        }
    };
    Progress::finish(progress).await;
    done.unwrap_or_else(|error| Err(ErrorObject::new(Code::Config, error.to_string())))
}

/// The output of a job that another thread waits for.
#[derive(Default)]
struct JobOutput {
    bytes: Mutex<Vec<u8>>,
    added: Notify,
}

impl JobOutput {
    /// Adds output. Only the end is kept: a notification has no more.
    fn add(&self, bytes: &[u8]) {
        append_end(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner), bytes);
        self.added.notify_one();
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The job that a call names.
fn job_named_in(given: &Value) -> Option<&str> {
    ["job", "id", "job_id"].iter().find_map(|name| given.get(name)?.as_str())
}

/// A call about a command whose question waits. Returns the arguments to go on with once it is settled, or the answer.
async fn answer_for_question(
    tool: &JobTool,
    question: &WaitingQuestion,
    mut given: Value,
    client: &Client,
    progress: &mut Option<Progress>,
) -> Result<String, Box<CallToolResult>> {
    let queued = |reason: &str| {
        let text =
            format!("[waits for a person's approval; reason: {reason}; {}]", answer::approval_hint(question));
        let mut facts = json!({"reason": reason});
        if let (Some(facts), Some(more)) = (facts.as_object_mut(), answer::waiting_job(question).as_object())
        {
            facts.extend(more.clone());
        }
        Err(Box::new(answer::result(text, facts, false)))
    };
    match tool.name {
        "shell_wait" => {
            let asked = given.get("timeout_ms").and_then(Value::as_u64).map(Duration::from_millis);
            let deadline = Instant::now() + asked.unwrap_or(DEFAULT_WAIT);
            loop {
                tokio::select! {
                    () = question.settled() => break,
                    () = client.canceled.cancelled() => return queued("canceled"),
                    () = tokio::time::sleep_until(deadline) => return queued("timed_out"),
                    () = Progress::tell(progress) => {}
                }
            }
            // The command gets the rest of the time.
            let left = deadline.saturating_duration_since(Instant::now()).as_millis().max(1);
            if let Some(given) = given.as_object_mut() {
                given.insert("timeout_ms".to_owned(), json!(u64::try_from(left).unwrap_or(1)));
            }
        }
        "shell_stop" => {
            question.withdraw().await;
            question.settled().await;
        }
        _ => return queued("waiting"),
    }
    Ok(given.to_string())
}

/// Adds waiting questions to the list: the client knows their ids as jobs.
fn add_waiting(answer: &mut ToolAnswer, questions: &[WaitingQuestion]) {
    let facts = questions.iter().map(|question| {
        let mut facts = answer::waiting_job(question);
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("command".to_owned(), question.report().command.clone().into());
        }
        facts
    });
    let line = |question: &WaitingQuestion| {
        format!("{} waits for a person's approval: {}", question.id, quoted(&question.report().command))
    };
    answer.add_waiting(facts.collect(), &questions.iter().map(line).collect::<Vec<_>>());
}

fn result(answer: ToolAnswer) -> CallToolResult {
    answer::result(answer.text, answer.structured, answer.is_error)
}
