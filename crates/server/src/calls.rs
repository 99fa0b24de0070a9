//! A tool call, from its arguments to its answer.

use std::collections::BTreeMap;
use std::io;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ElicitRequest, InputRequest,
    InputRequiredResult, InputResponses,
};
use shellgate::jobs::tools::JobTool;
use shellgate::jobs::{CallState, WaitConditions, WaitControl};
use shellgate::{Admitted, Code, Considered, Dialect, ErrorObject, Follow, Gate, Report, Request, Urgency};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;

use crate::asking::form::Form;
use crate::asking::{Held, Questions, WaitReport};
use crate::client::Client;
use crate::jobs::Places;
use crate::limits::{MOST_CALLS, WAIT};
use crate::progress::Progress;
use crate::state::{CallDigest, Given, States};
use crate::tasks::{self, Begun};
use crate::{Offer, answer, following, jobs};

/// Judging a longer text takes so long that others would have to wait for it.
const LONG: usize = 16 << 10;
/// So many calls begin as they come.
const FEW: usize = 16;
/// What the one thing that we ask a client for is called.
const APPROVAL: &str = "approval";

/// All calls, whoever makes them.
#[derive(Debug)]
pub(crate) struct Calls {
    /// There is one as long as the process lives, and executions refer to it.
    gate: &'static Gate,
    dialect: &'static Dialect,
    directory: Option<String>,
    questions: Questions,
    states: States,
    /// Places for calls.
    places: Semaphore,
    /// Whose turn it is to begin.
    turns: Mutex<()>,
}

/// One call under way.
struct Call {
    digest: CallDigest,
    client: Client,
    progress: Option<Progress>,
    /// Then it is answered, whatever the command does.
    patience: Instant,
    /// Whether it is a task from then on.
    task: bool,
    /// The word of the session that it makes.
    made: Option<String>,
}

impl Call {
    /// The client, if it gets a task. Whoever makes a session must be told its word, and a task has no place for it.
    fn for_task(&self) -> Option<&Client> {
        (self.task && self.made.is_none()).then_some(&self.client)
    }
}

impl Calls {
    pub(crate) fn new(offer: Offer) -> Self {
        let Offer { gate, dialect, directory, shown } = offer;
        let questions = Questions::new(gate.settings(), shown);
        let gate = Box::leak(Box::new(gate.with_approver(questions.typed())));
        Self {
            gate,
            dialect,
            directory,
            questions,
            states: States::default(),
            places: Semaphore::new(MOST_CALLS),
            turns: Mutex::default(),
        }
    }

    /// What commands pass.
    pub(crate) fn gate(&self) -> &'static Gate {
        self.gate
    }

    /// Answers one.
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
            let message =
                format!("there is no tool `{}`; `tools/list` shows those that are there", params.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let Ok(_place) = self.places.try_acquire() else {
            let error = ErrorObject::new(Code::Busy, format!("{MOST_CALLS} calls are under way"));
            let report = self.dialect.refused(&arguments, error.hint("wait for some of their answers"));
            return Ok(self.reported(&report));
        };
        let mut progress = client.progress.clone().map(|token| Progress::new(client.peer.clone(), token));
        if let Some(tool) = tool {
            let answer = jobs::answer(self.places(), tool, arguments, &client, &mut progress).await;
            return Ok(answer.into());
        }
        let digest = CallDigest::of(&params.name, &arguments);
        let mut call =
            Call { digest, client, progress, patience: Instant::now() + WAIT, task: false, made: None };
        let read = self.dialect.read(&arguments);
        if let Ok(request) = &read {
            call.patience = Instant::now() + request.wait.unwrap_or(WAIT);
            call.task = call.client.tasks && may_be_task(request);
        }
        if let Some(state) = params.request_state {
            return self.again(&state, params.input_responses.unwrap_or_default(), call).await;
        }
        let mut request = match read {
            Ok(request) => request,
            Err(error) => return Ok(self.reported(&self.dialect.refused(&arguments, error))),
        };
        request.wait.get_or_insert(WAIT);
        let chat = match call.client.principal.chat(request.chat.as_deref()) {
            Ok(chat) => chat,
            Err(error) => return Ok(self.reported(&self.dialect.refused(&arguments, error))),
        };
        request.chat = chat.name;
        call.made = chat.made;
        let made = call.made.clone();
        Ok(with_session(self.run(request, call).await, made))
    }

    /// A call that is made again, with what its client's user said.
    async fn again(
        &self,
        state: &str,
        responses: InputResponses,
        mut call: Call,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(Given { question, form, made, .. }) =
            self.states.take(state, &call.digest, &call.client.principal)
        else {
            let message = "`requestState` is unknown, used up, or for another call: call again without it";
            return Err(ErrorData::invalid_params(message, None));
        };
        if let Some(answer) = responses.get(APPROVAL).and_then(|response| form.answer(response)) {
            question.answer(answer).await;
        }
        call.made.clone_from(&made);
        let waited = question.wait(&call.client, &mut call.progress, call.patience).await;
        Ok(with_session(self.waited(waited, call).await, made))
    }

    /// Waits for a call's turn to begin. Between two of them what has ended is answered: of a thousand calls at once, the
    /// first must not wait until the last has begun.
    async fn turn(&self) {
        if self.places.available_permits() + FEW >= MOST_CALLS {
            return;
        }
        let _turn = self.turns.lock().await;
        tokio::task::yield_now().await;
    }

    async fn run(&self, mut request: Request, mut call: Call) -> CallToolResponse {
        self.turn().await;
        if request.directory.is_none() {
            request.directory.clone_from(&self.directory);
        }
        match self.consider(request).await {
            Ok(Considered::Allowed(admitted)) => self.start(*admitted, call).await,
            Ok(Considered::NeedsApproval(unasked)) => {
                let waited =
                    self.questions.ask(*unasked, &call.client, &mut call.progress, call.patience).await;
                self.waited(waited, call).await
            }
            Err(refused) => self.reported(&refused),
        }
    }

    async fn consider(&self, request: Request) -> Result<Considered<'static>, Box<Report>> {
        let gate = self.gate;
        if request.action.shown().len() <= LONG {
            return gate.consider(request);
        }
        let considered = tokio::task::spawn_blocking(move || gate.consider(request)).await;
        considered.unwrap_or_else(|error| Err(Box::new(Report::of_error(lost(&error)))))
    }

    async fn waited(&self, waited: WaitReport, call: Call) -> CallToolResponse {
        match waited {
            WaitReport::Settled(Ok(admitted)) => {
                let left = call.patience.saturating_duration_since(Instant::now());
                self.start(admitted.waiting(left), call).await
            }
            WaitReport::Settled(Err(refused)) => self.reported(&refused),
            WaitReport::Queued(question) => {
                call.client.fate.unless_answered(self.undone(question.id.clone(), Some(question.clone())));
                let plain = answer::of_question(self.dialect, &question);
                self.goes_on(plain, &question.id, call.for_task()).await
            }
            WaitReport::Started(id) => self.catch_up(&id, call).await,
            WaitReport::Form(question, form) => self.ask_in_turns(question, form, call),
        }
    }

    /// The answer to a call whose command was started while nobody waited for it.
    async fn catch_up(&self, id: &str, mut call: Call) -> CallToolResponse {
        let (gate, name) = (self.gate, id.to_owned());
        let left = call.patience.saturating_duration_since(Instant::now());
        let wait = move |cancel: Option<&WaitControl>| {
            let until = WaitConditions { timeout: Some(left), ..WaitConditions::default() };
            let waited = gate.jobs()?.wait(&name, until, cancel)?;
            Ok(match gate.call_named(&name)?.state {
                CallState::Ended(report) => *report,
                CallState::AwaitingApproval | CallState::Running(_) => waited.report,
            })
        };
        match jobs::aside(&call.client, &mut call.progress, wait).await {
            Ok(report) => self.ended(&report, call).await,
            Err(error) => self.reported(&Report::of_error(error)),
        }
    }

    /// The client is to ask its user, and to call again.
    fn ask_in_turns(&self, question: Held, form: Form, call: Call) -> CallToolResponse {
        let Some(params) = form.params() else { return answer::of_question(self.dialect, &question).into() };
        let ask = InputRequest::Elicitation(ElicitRequest::new(params));
        let Call { digest, client, made, .. } = call;
        client.fate.unless_answered(self.undone(question.id.clone(), Some(question.clone())));
        let state =
            self.states.give(Given { call: digest, principal: client.principal, question, form, made });
        InputRequiredResult::new(Some(BTreeMap::from([(APPROVAL.to_owned(), ask)])), Some(state)).into()
    }

    async fn start(&self, admitted: Admitted<'static>, mut call: Call) -> CallToolResponse {
        let follow = if call.progress.is_some() { Follow::Closely } else { Follow::Quietly };
        let report = match admitted.start(follow) {
            Ok(execution) => following::to_the_end(execution, &call.client.canceled, &mut call.progress)
                .await
                .unwrap_or_else(|error: io::Error| Box::new(Report::of_error(lost(&error)))),
            Err(refused) => refused,
        };
        self.ended(&report, call).await
    }

    /// The answer to a call that has waited long enough.
    async fn ended(&self, report: &Report, call: Call) -> CallToolResponse {
        let plain = answer::of_report(self.dialect, report);
        let answer = match report.unfinished_job() {
            // Somebody must type, so the model must know.
            Some(job) if !report.waiting_for_input => self.goes_on(plain, job, call.for_task()).await,
            _ => plain.into(),
        };
        if let Some(job) = &report.job {
            call.client.fate.unless_answered(self.undone(job.clone(), None));
        }
        answer
    }

    /// Ends what nobody will hear of: the job of this name, or the question that may make it one.
    fn undone(&self, job: String, question: Option<Held>) -> impl Future<Output = ()> + Send + use<> {
        let gate = self.gate;
        async move {
            if let Some(question) = question {
                question.withdraw().await;
                question.settled().await;
            }
            // An error is a question that was never answered.
            let _ = tokio::task::spawn_blocking(move || gate.jobs()?.stop(&job, Urgency::Politely)).await;
        }
    }

    /// The answer to a call whose command goes on: a task if the client gets one and it is found as such, else `plain`.
    async fn goes_on(&self, plain: CallToolResult, id: &str, client: Option<&Client>) -> CallToolResponse {
        let Some(client) = client else { return plain.into() };
        match tasks::begin(self.places(), id, client).await {
            Ok(Begun::Task(task)) => CallToolResponse::Task(CreateTaskResult::new(*task)),
            Ok(Begun::Over(result)) => result.into(),
            Err(_) => plain.into(),
        }
    }

    /// Where jobs and tasks are found.
    pub(crate) fn places(&self) -> Places<'_> {
        Places { gate: self.gate, questions: &self.questions }
    }

    fn reported(&self, report: &Report) -> CallToolResponse {
        answer::of_report(self.dialect, report).into()
    }
}

/// The same with the word of the session that the call made.
fn with_session(mut answer: CallToolResponse, made: Option<String>) -> CallToolResponse {
    if let (CallToolResponse::Complete(answer), Some(made)) = (&mut answer, made) {
        answer::add(answer, "Session", made.into());
    }
    answer
}

/// Whether a call may be a task when it takes its time. One for the background, or with a terminal, is made to go on with:
/// its model wants the name of the job.
fn may_be_task(request: &Request) -> bool {
    !request.background && request.pty.is_none()
}

fn lost(error: &dyn std::error::Error) -> ErrorObject {
    ErrorObject::new(Code::KeeperLost, format!("the call can't be followed: {error}"))
}
