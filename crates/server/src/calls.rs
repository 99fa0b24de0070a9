//! A tool call, from its arguments to its answer.

mod running;

pub(crate) use running::started;

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, InputResponses};
use shellgate::jobs::tools::JobTool;
use shellgate::{Code, Dialect, ErrorObject, Follow, Gate, Report, Request};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::active_calls::ActiveCalls;
use crate::answer::{Reply, ToolResult};
use crate::call_log::CallLog;
use crate::client::Client;
use crate::jobs::JobSources;
use crate::limits::{DEFAULT_WAIT, MAX_CALLS};
use crate::progress::Progress;
use crate::questions::{CallWait, Questions};
use crate::request_state::{CallDigest, RequestState, RequestStates};
use crate::workers::Workers;
use crate::{Offer, jobs};

/// The key of the one input that we request from a client.
const APPROVAL_KEY: &str = "approval";

/// The calls of all clients.
#[derive(Debug)]
pub(crate) struct Calls {
    /// It lives as long as the process: executions refer to it.
    gate: &'static Gate,
    dialect: &'static Dialect,
    directory: Option<String>,
    questions: Questions,
    request_states: RequestStates,
    /// One permit for each call under way.
    permits: Semaphore,
    workers: Workers,
    active: ActiveCalls,
}

/// One call under way.
struct Call {
    log: Arc<CallLog>,
    /// Its arguments, as they were received.
    arguments: String,
    client: Client,
    progress: Option<Progress>,
    /// Then it is answered, even if the command still runs.
    deadline: Instant,
    /// Whether it becomes a task then.
    task: bool,
    /// The handle of the session that it makes.
    new_session: Option<String>,
}

impl Call {
    /// The client, if it gets a task. A call that makes a session gets none: a task has no place for the handle.
    fn task_client(&self) -> Option<&Client> {
        (self.task && self.new_session.is_none()).then_some(&self.client)
    }

    fn wait(&mut self) -> CallWait<'_> {
        CallWait { client: &self.client, progress: &mut self.progress, deadline: self.deadline }
    }

    /// How closely the command's output is followed: a client with progress notifications wants it at once.
    fn follow(&self) -> Follow {
        if self.progress.is_some() { Follow::Closely } else { Follow::Quietly }
    }
}

impl Calls {
    pub(crate) fn new(offer: Offer) -> Self {
        let Offer { gate, dialect, directory, tools: _ } = offer;
        let dialect = dialect.over_mcp();
        let workers = Workers::default();
        let questions = Questions::new(gate.settings(), workers.clone());
        let gate = Box::leak(Box::new(gate.with_approver(questions.input_approver())));
        Self {
            gate,
            dialect,
            directory,
            questions,
            request_states: RequestStates::default(),
            permits: Semaphore::new(MAX_CALLS),
            workers,
            active: ActiveCalls::default(),
        }
    }

    /// The gate.
    pub(crate) fn gate(&self) -> &'static Gate {
        self.gate
    }

    /// Waits until the commands of canceled calls are stopped, and the ends of answered calls are recorded.
    pub(crate) async fn wind_down(&self) {
        self.active.canceled_calls_end().await;
        self.workers.recordings_end().await;
    }

    /// Answers a call. What only some calls need is boxed: the rest is moved several times before it is polled.
    pub(crate) async fn answer(
        &self,
        params: CallToolRequestParams,
        client: Client,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = match (&client.arguments, params.arguments) {
            (Some(raw), _) => raw.0.to_string(),
            (None, Some(given)) => serde_json::Value::from(given).to_string(),
            (None, None) => "{}".to_owned(),
        };
        let tool = JobTool::named(&params.name);
        if params.name != self.dialect.tool && tool.is_none() {
            let message = format!("there is no tool `{}`; `tools/list` has all tools", params.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let log = Arc::new(CallLog::begin(&params.name));
        let Ok(_permit) = self.permits.try_acquire() else {
            warn!(calls = MAX_CALLS, "too many calls are under way");
            let error = ErrorObject::new(Code::Busy, format!("{MAX_CALLS} calls are under way"));
            let error = error.hint("wait until some of them are answered");
            return Ok(Box::pin(self.refused(arguments, error, &client, &log)).await);
        };
        let _active = self.active.begin(client.completion.clone());
        let mut progress = client.progress.clone().map(|token| Progress::new(client.peer.clone(), token));
        if let Some(tool) = tool {
            let answer = jobs::answer(self.job_sources(), tool, arguments, &client, &mut progress);
            let answer = Box::pin(answer).await;
            if let Some(id) = answer.structured_content.as_ref().and_then(|facts| facts.get("id")?.as_str()) {
                log.is_about(id);
            }
            return Ok(answer.into());
        }
        let deadline = Instant::now() + DEFAULT_WAIT;
        let read = self.dialect.read(&arguments);
        let mut call = Call { log, arguments, client, progress, deadline, task: false, new_session: None };
        if let Ok(request) = &read {
            call.deadline = Instant::now() + request.wait.unwrap_or(DEFAULT_WAIT);
            call.task = call.client.tasks && may_be_task(request);
        }
        if let Some(state) = params.request_state {
            return Box::pin(self.resume(&state, params.input_responses.unwrap_or_default(), call)).await;
        }
        let mut request = match read {
            Ok(request) => request,
            Err(error) => return Ok(Box::pin(self.refused_call(call, error)).await),
        };
        request.wait.get_or_insert(DEFAULT_WAIT);
        let chat = match call.client.principal.chat(request.chat.as_deref()) {
            Ok(chat) => chat,
            Err(error) => return Ok(Box::pin(self.refused_call(call, error)).await),
        };
        request.chat = chat.name;
        call.new_session = chat.new_handle;
        let new_session = call.new_session.clone();
        Ok(with_session(self.run(request, call).await, new_session))
    }

    /// A call that its client repeats with the answer of its user.
    async fn resume(
        &self,
        state: &str,
        responses: InputResponses,
        mut call: Call,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(RequestState { question, form, new_session, .. }) =
            self.request_states.take(state, &self.digest(&call), &call.client.principal)
        else {
            let message =
                "`requestState` is unknown, was used before, or is for another call: call again without it";
            return Err(ErrorData::invalid_params(message, None));
        };
        if let Some(answer) = responses.get(APPROVAL_KEY).and_then(|response| form.answer(response)) {
            debug!(id = question.id, "the client called again with an answer");
            question.answer(answer).await;
        }
        call.new_session.clone_from(&new_session);
        let outcome = question.wait(call.wait()).await;
        Ok(with_session(self.after_question(outcome, call).await, new_session))
    }

    /// The sources of jobs and tasks.
    pub(crate) fn job_sources(&self) -> JobSources<'_> {
        JobSources { gate: self.gate, questions: &self.questions, workers: &self.workers }
    }

    /// The result with this report.
    fn result_of(&self, report: &Report) -> ToolResult {
        ToolResult::of_report(self.dialect, report)
    }

    /// What stands for exactly this call.
    fn digest(&self, call: &Call) -> CallDigest {
        CallDigest::of(self.dialect.tool, &call.arguments)
    }

    async fn refused_call(&self, call: Call, error: ErrorObject) -> CallToolResponse {
        self.refused(call.arguments, error, &call.client, &call.log).await
    }

    /// The response to a call that can't be read or taken. It is recorded in the client's own session.
    async fn refused(
        &self,
        arguments: String,
        error: ErrorObject,
        client: &Client,
        log: &CallLog,
    ) -> CallToolResponse {
        let (gate, dialect) = (self.gate, self.dialect);
        let chat = client.principal.chat(None).ok().and_then(|chat| chat.name);
        let refuse = move || Ok(gate.refuse_unread(dialect, &arguments, chat.as_deref(), error));
        let report = started(refuse).await.unwrap_or_else(|failed| *failed);
        log.is_about(&report.id);
        Reply::from(self.result_of(&report)).into()
    }
}

/// The response, with the handle of the session that the call made.
fn with_session(mut reply: Reply, new_session: Option<String>) -> CallToolResponse {
    if let (Reply::Result(answer), Some(handle)) = (&mut reply, new_session) {
        answer.add("Session", handle.into());
    }
    reply.into()
}

/// Whether a slow call may become a task. A background start, or one with a terminal, gets a plain answer: its model goes on
/// with the job.
fn may_be_task(request: &Request) -> bool {
    !request.background && request.pty.is_none()
}
