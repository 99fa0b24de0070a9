//! The tools about jobs. The gate has them; here is what a server adds: a question that still waits is a job too, and
//! nobody gets at the jobs of another.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use shellgate::jobs::WaitControl;
use shellgate::jobs::tools::{JobTool, ToolAnswer};
use shellgate::{Code, ErrorObject, Gate};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::answer;
use crate::asking::typed::working_for;
use crate::asking::{Held, Questions};
use crate::client::Client;
use crate::limits::WAIT;
use crate::progress::{Progress, keep_end};

/// Where jobs are found: those that have started, and those that wait for a yes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    pub(crate) gate: &'static Gate,
    pub(crate) questions: &'a Questions,
}

/// Answers a call of `tool`.
pub(crate) async fn answer(
    Places { gate, questions }: Places<'_>,
    tool: &'static JobTool,
    arguments: String,
    client: &Client,
    progress: &mut Option<Progress>,
) -> CallToolResult {
    let given: Value = serde_json::from_str(&arguments).unwrap_or_default();
    let mut arguments = arguments;
    if let Some(job) = named(&given) {
        if let Some(question) = questions.find(job, &client.principal) {
            match at_question(tool, &question, given.clone(), client, progress).await {
                Ok(left) => arguments = left,
                Err(answer) => return *answer,
            }
        } else if let Err(error) = allowed(gate, job, client) {
            return result(refused(&error));
        }
    }
    let run = move |cancel: Option<&WaitControl>| Ok(gate.job_tool(tool, &arguments, cancel));
    let mut done = aside(client, progress, run).await.unwrap_or_else(|error| refused(&error));
    hide(gate, &mut done, client);
    if tool.name == "shell_jobs" {
        add_waiting(&mut done, &questions.all_of(&client.principal));
    }
    result(done)
}

/// Does on a thread of its own what may wait for long. A client that takes its call back ends the waiting.
pub(crate) async fn aside<T: Send + 'static>(
    client: &Client,
    progress: &mut Option<Progress>,
    work: impl FnOnce(Option<&WaitControl>) -> Result<T, ErrorObject> + Send + 'static,
) -> Result<T, ErrorObject> {
    let (heard, hearing) = (Arc::new(Heard::default()), progress.is_some());
    let cancel = WaitControl::new().ok().map(|cancel| {
        let heard = heard.clone();
        if hearing { cancel.on_output(move |bytes| heard.add(bytes)) } else { cancel }
    });
    let canceled = Arc::new(cancel);
    let work = {
        let (canceled, client, runtime) = (canceled.clone(), client.clone(), Handle::current());
        let run = move || work(canceled.as_ref().as_ref());
        tokio::task::spawn_blocking(move || working_for(client, runtime, run))
    };
    tokio::pin!(work);
    let done = loop {
        tokio::select! {
            done = &mut work => break done,
            () = client.canceled.cancelled(), if !client.canceled.is_cancelled() => {}
            () = heard.more.notified() => {
                if let Some(progress) = progress {
                    progress.printed(&heard.take());
                }
            }
            () = Progress::tell(progress) => {}
        }
        if let (true, Some(cancel)) = (client.canceled.is_cancelled(), canceled.as_ref()) {
            cancel.cancel();
        }
    };
    Progress::finish(progress).await;
    done.unwrap_or_else(|error| Err(ErrorObject::new(Code::Config, error.to_string())))
}

/// What a job prints while it is waited for on another thread.
#[derive(Default)]
struct Heard {
    printed: Mutex<Vec<u8>>,
    more: Notify,
}

impl Heard {
    /// Keeps the end of it, which is what will be told.
    fn add(&self, bytes: &[u8]) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        keep_end(&mut printed, bytes);
        self.more.notify_one();
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.printed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The job that a call is about.
fn named(given: &Value) -> Option<&str> {
    ["job", "id", "job_id"].iter().find_map(|name| given.get(name)?.as_str())
}

/// A call about a command that waits for somebody's yes: the arguments to go on with, or the answer.
async fn at_question(
    tool: &JobTool,
    question: &Held,
    mut given: Value,
    client: &Client,
    progress: &mut Option<Progress>,
) -> Result<String, Box<CallToolResult>> {
    let queued = |reason: &str| {
        let mut facts = json!({"reason": reason});
        if let (Some(facts), Some(more)) = (facts.as_object_mut(), answer::waiting(question).as_object()) {
            facts.extend(more.clone());
        }
        Err(Box::new(answer::result(facts.to_string(), facts, false)))
    };
    match tool.name {
        "shell_wait" => {
            let asked = given.get("timeout_ms").and_then(Value::as_u64).map(Duration::from_millis);
            let until = Instant::now() + asked.unwrap_or(WAIT);
            loop {
                tokio::select! {
                    () = question.settled() => break,
                    () = client.canceled.cancelled() => return queued("canceled"),
                    () = tokio::time::sleep_until(until) => return queued("timed_out"),
                    () = Progress::tell(progress) => {}
                }
            }
            // What is left of the time is for the command.
            let left = until.saturating_duration_since(Instant::now()).as_millis().max(1);
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

/// Whether the client may know of a job.
fn allowed(gate: &Gate, job: &str, client: &Client) -> Result<(), ErrorObject> {
    let Some(own) = client.principal.session(gate) else { return Ok(()) };
    match gate.jobs()?.find(job) {
        Ok(execution) if is_below(&execution.session, &own) => Ok(()),
        // As if there were none, also where only others' names begin so.
        Ok(_) | Err(ErrorObject { code: Code::UnknownJob | Code::InvalidInput, .. }) => {
            let message = format!("no job is called `{job}`");
            let hint = "`shell_jobs` lists yours; write the whole name";
            Err(ErrorObject::new(Code::UnknownJob, message).token(job).hint(hint))
        }
        Err(error) => Err(error),
    }
}

/// Takes the jobs of others out of a list.
fn hide(gate: &Gate, answer: &mut ToolAnswer, client: &Client) {
    let Some(own) = client.principal.session(gate) else { return };
    let Some(jobs) = answer.structured.get_mut("jobs").and_then(Value::as_array_mut) else { return };
    jobs.retain(|job| job.get("session").and_then(Value::as_str).is_some_and(|of| is_below(of, &own)));
    answer.text = answer.structured.to_string();
}

/// Adds those to the list that wait for somebody's yes: their names are known as jobs.
fn add_waiting(answer: &mut ToolAnswer, questions: &[Held]) {
    let Some(jobs) = answer.structured.get_mut("jobs").and_then(Value::as_array_mut) else { return };
    jobs.extend(questions.iter().map(|question| {
        let mut facts = answer::waiting(question);
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("command".to_owned(), question.report().command.clone().into());
        }
        facts
    }));
    answer.text = answer.structured.to_string();
}

/// Whether a session is this one or a chat of it.
pub(crate) fn is_below(session: &str, own: &str) -> bool {
    session.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn refused(error: &ErrorObject) -> ToolAnswer {
    let structured = json!({"status": "failed", "error": error});
    ToolAnswer { text: structured.to_string(), structured, is_error: true }
}

fn result(answer: ToolAnswer) -> CallToolResult {
    answer::result(answer.text, answer.structured, answer.is_error)
}
