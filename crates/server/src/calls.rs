//! A tool call, from its arguments to its answer.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ElicitRequest, InputRequest,
    InputRequiredResult, InputResponses,
};
use shellgate::jobs::tools::JobTool;
use shellgate::jobs::{CallState, WaitConditions, WaitControl};
use shellgate::{
    Code, Considered, Dialect, ErrorObject, Execution, Follow, Gate, Refused, Report, Request, Scope,
    UnaskedQuestion, Urgency,
};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{debug, error, warn};

use crate::active_calls::ActiveCalls;
use crate::call_log::CallLog;
use crate::client::Client;
use crate::execution_follower::follow_to_answer;
use crate::jobs::JobSources;
use crate::limits::{DEFAULT_WAIT, MAX_CALLS};
use crate::progress::Progress;
use crate::questions::form::Form;
use crate::questions::{CallWait, QuestionOutcome, Questions, WaitingQuestion};
use crate::request_state::{CallDigest, RequestState, RequestStates};
use crate::tasks::{self, TaskStart};
use crate::workers::{self, Workers};
use crate::{Offer, answer, jobs};

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
    digest: CallDigest,
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
        let Offer { gate, dialect, directory } = offer;
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

    /// Waits until the commands of canceled calls are stopped.
    pub(crate) async fn canceled_calls_end(&self) {
        self.active.canceled_calls_end().await;
    }

    /// Answers a call.
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
        let _log = CallLog::begin(&params.name);
        let Ok(_permit) = self.permits.try_acquire() else {
            warn!(calls = MAX_CALLS, "too many calls are under way");
            let error = ErrorObject::new(Code::Busy, format!("{MAX_CALLS} calls are under way"));
            let report = self.dialect.refused(&arguments, error.hint("wait until some of them are answered"));
            return Ok(self.answer_of(&report));
        };
        let _active = self.active.begin(client.completion.clone());
        let mut progress = client.progress.clone().map(|token| Progress::new(client.peer.clone(), token));
        if let Some(tool) = tool {
            let answer = jobs::answer(self.job_sources(), tool, arguments, &client, &mut progress).await;
            return Ok(answer.into());
        }
        let digest = CallDigest::of(&params.name, &arguments);
        let deadline = Instant::now() + DEFAULT_WAIT;
        let mut call = Call { digest, client, progress, deadline, task: false, new_session: None };
        let read = self.dialect.read(&arguments);
        if let Ok(request) = &read {
            call.deadline = Instant::now() + request.wait.unwrap_or(DEFAULT_WAIT);
            call.task = call.client.tasks && may_be_task(request);
        }
        if let Some(state) = params.request_state {
            return self.resume(&state, params.input_responses.unwrap_or_default(), call).await;
        }
        let mut request = match read {
            Ok(request) => request,
            Err(error) => return Ok(self.answer_of(&self.dialect.refused(&arguments, error))),
        };
        request.wait.get_or_insert(DEFAULT_WAIT);
        let chat = match call.client.principal.chat(request.chat.as_deref()) {
            Ok(chat) => chat,
            Err(error) => return Ok(self.answer_of(&self.dialect.refused(&arguments, error))),
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
            self.request_states.take(state, &call.digest, &call.client.principal)
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

    async fn run(&self, mut request: Request, mut call: Call) -> CallToolResponse {
        if request.directory.is_none() {
            request.directory.clone_from(&self.directory);
        }
        let turn = self.workers.turn(request.chat.as_deref()).await;
        if call.client.canceled.is_cancelled() {
            let error = ErrorObject::new(Code::Canceled, "the call was canceled before its command started");
            return self.answer_of(&Report::of_error(error));
        }
        let (gate, follow, scope) = (self.gate, call.follow(), call.client.principal.scope());
        match started(move || begin(gate, &scope, request, follow)).await {
            Ok(Begun::Started(execution)) => {
                drop(turn);
                self.follow(*execution, call).await
            }
            Ok(Begun::NeedsApproval(unasked)) => {
                let outcome = self.questions.ask(*unasked, turn, call.wait()).await;
                self.after_question(outcome, call).await
            }
            Err(refused) => self.answer_of(&refused),
        }
    }

    async fn after_question(&self, outcome: QuestionOutcome, call: Call) -> CallToolResponse {
        match outcome {
            QuestionOutcome::Settled(Ok(admitted)) => {
                let turn = self.workers.turn(admitted.request().chat.as_deref()).await;
                let left = call.deadline.saturating_duration_since(Instant::now());
                let follow = call.follow();
                let started = started(move || admitted.waiting(left).start(follow)).await;
                drop(turn);
                match started {
                    Ok(execution) => self.follow(execution, call).await,
                    Err(refused) => self.ended(&refused, call).await,
                }
            }
            QuestionOutcome::Settled(Err(refused)) => self.answer_of(&refused),
            QuestionOutcome::Queued(question) => {
                let scope = call.client.principal.scope();
                let undo = self.stop_unanswered(question.id.clone(), Some(question.clone()), scope);
                call.client.completion.on_cancel(undo);
                let plain = answer::of_question(self.dialect, &question);
                self.continuing(plain, &question.id, call.task_client()).await
            }
            QuestionOutcome::Started(id) => self.catch_up(&id, call).await,
            QuestionOutcome::Form(question, form) => self.request_input(question, form, call),
        }
    }

    /// The answer to a call whose command was started while no call waited.
    async fn catch_up(&self, id: &str, mut call: Call) -> CallToolResponse {
        let (gate, id) = (self.gate, id.to_owned());
        let left = call.deadline.saturating_duration_since(Instant::now());
        let scope = call.client.principal.scope();
        let wait = move |cancel: Option<&WaitControl>| {
            let gate = gate.scoped(&scope)?;
            let until = WaitConditions { timeout: Some(left), ..WaitConditions::default() };
            let waited = gate.jobs()?.wait(&id, until, cancel)?;
            Ok(match gate.call(&id)?.state {
                CallState::Ended(report) => *report,
                CallState::AwaitingApproval | CallState::Running(_) => waited.report,
            })
        };
        match jobs::off_thread(&self.workers, &call.client, &mut call.progress, wait).await {
            Ok(report) => self.ended(&report, call).await,
            Err(error) => self.answer_of(&Report::of_error(error)),
        }
    }

    /// The answer that tells the client to ask its user and to call again.
    fn request_input(&self, question: WaitingQuestion, form: Form, call: Call) -> CallToolResponse {
        let Some(params) = form.params() else { return answer::of_question(self.dialect, &question).into() };
        let input = InputRequest::Elicitation(ElicitRequest::new(params));
        let Call { digest, client, new_session, .. } = call;
        let scope = client.principal.scope();
        client.completion.on_cancel(self.stop_unanswered(question.id.clone(), Some(question.clone()), scope));
        let state = self.request_states.insert(RequestState {
            call: digest,
            principal: client.principal,
            question,
            form,
            new_session,
        });
        InputRequiredResult::new(Some(BTreeMap::from([(APPROVAL_KEY.to_owned(), input)])), Some(state)).into()
    }

    async fn follow(&self, execution: Execution, mut call: Call) -> CallToolResponse {
        let followed =
            follow_to_answer(execution, &self.workers, &call.client.canceled, &mut call.progress).await;
        let report = followed.unwrap_or_else(|error| Box::new(Report::of_error(lost(&error))));
        self.ended(&report, call).await
    }

    /// The answer to a call whose command has ended, or whose deadline has passed.
    async fn ended(&self, report: &Report, call: Call) -> CallToolResponse {
        let plain = answer::of_report(self.dialect, report);
        let answer = match report.unfinished_job() {
            // The model has to type, so it gets the plain answer.
            Some(job) if !report.waiting_for_input => self.continuing(plain, job, call.task_client()).await,
            _ => plain.into(),
        };
        if let Some(job) = &report.job {
            call.client.completion.on_cancel(self.stop_unanswered(
                job.clone(),
                None,
                call.client.principal.scope(),
            ));
        }
        answer
    }

    /// Stops the job, or withdraws the question, of a call whose client never gets the answer that names it.
    fn stop_unanswered(
        &self,
        job: String,
        question: Option<WaitingQuestion>,
        scope: Scope,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (gate, active) = (self.gate, self.active.clone());
        async move {
            let _active = active.begin_undo();
            if let Some(question) = question {
                question.withdraw().await;
                question.settled().await;
            }
            // An error is a question that never became a job.
            let _ = workers::run(move || gate.scoped(&scope)?.jobs()?.stop(&job, Urgency::Politely)).await;
        }
    }

    /// The answer to a call whose command runs on: a task if the client supports them, else `plain`.
    async fn continuing(&self, plain: CallToolResult, id: &str, client: Option<&Client>) -> CallToolResponse {
        let Some(client) = client else { return plain.into() };
        match tasks::begin(self.job_sources(), id, client).await {
            Ok(TaskStart::Task(task)) => CallToolResponse::Task(CreateTaskResult::new(*task)),
            Ok(TaskStart::Ended(result)) => result.into(),
            Err(_) => plain.into(),
        }
    }

    /// The sources of jobs and tasks.
    pub(crate) fn job_sources(&self) -> JobSources<'_> {
        JobSources { gate: self.gate, questions: &self.questions, workers: &self.workers }
    }

    fn answer_of(&self, report: &Report) -> CallToolResponse {
        answer::of_report(self.dialect, report).into()
    }
}

/// A request that the gate has judged.
enum Begun {
    /// It runs.
    Started(Box<Execution>),
    /// A person must approve it first.
    NeedsApproval(Box<UnaskedQuestion<'static>>),
}

/// Judges a request, and starts its command if no approval is needed. Blocks.
fn begin(gate: &'static Gate, scope: &Scope, request: Request, follow: Follow) -> Result<Begun, Refused> {
    let gate = gate.scoped(scope).map_err(|error| Box::new(Report::of_error(error)))?;
    match gate.consider(request)? {
        Considered::Allowed(admitted) => admitted.start(follow).map(|run| Begun::Started(Box::new(run))),
        Considered::NeedsApproval(unasked) => Ok(Begun::NeedsApproval(unasked)),
    }
}

/// Runs `start` on a worker thread. A panic there is a refusal.
pub(crate) async fn started<T: Send + 'static>(
    start: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    workers::run(start).await.unwrap_or_else(|error| {
        error!(panic = error.is_panic(), "a worker thread failed");
        Err(Box::new(Report::of_error(lost(&error))))
    })
}

/// The answer, with the handle of the session that the call made.
fn with_session(mut answer: CallToolResponse, new_session: Option<String>) -> CallToolResponse {
    if let (CallToolResponse::Complete(answer), Some(handle)) = (&mut answer, new_session) {
        answer::add(answer, "Session", handle.into());
    }
    answer
}

/// Whether a slow call may become a task. A background start, or one with a terminal, gets a plain answer: its model goes on
/// with the job.
fn may_be_task(request: &Request) -> bool {
    !request.background && request.pty.is_none()
}

fn lost(error: &dyn std::error::Error) -> ErrorObject {
    ErrorObject::new(Code::KeeperLost, format!("the connection to the command is lost: {error}"))
}
