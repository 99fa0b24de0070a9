//! The way of a call from its request to its reply: judged, asked about, started, followed to its end or its deadline.

use std::collections::BTreeMap;

use rmcp::model::{CallToolResponse, CreateTaskResult, ElicitRequest, InputRequest, InputRequiredResult};
use shellgate::jobs::{CallState, WaitConditions, WaitControl};
use shellgate::{
    Code, Considered, ErrorObject, Execution, Follow, Gate, Refused, Report, Request, Scope, UnaskedQuestion,
    Urgency,
};
use tokio::time::Instant;
use tracing::error;

use super::{APPROVAL_KEY, Call, Calls};
use crate::answer::{Reply, ToolResult};
use crate::client::Client;
use crate::execution_follower::follow_to_answer;
use crate::jobs;
use crate::questions::form::Form;
use crate::questions::{QuestionOutcome, WaitingQuestion};
use crate::request_state::RequestState;
use crate::tasks::{self, TaskStart};
use crate::workers::{self, WorkFailed};

impl Calls {
    pub(super) async fn run(&self, mut request: Request, mut call: Call) -> Reply {
        if request.directory.is_none() {
            request.directory.clone_from(&self.directory);
        }
        let turn = self.workers.turn(request.chat.as_deref()).await;
        if call.client.canceled.is_cancelled() {
            let error = ErrorObject::new(Code::Canceled, "the call was canceled before its command started");
            return self.result_of(&Report::of_error(error)).into();
        }
        let (gate, follow, scope) = (self.gate, call.follow(), call.client.principal.scope());
        // The way to a thread and back takes as long as a short start.
        let starts_here = self.active.has_only_one() && gate.starts_at_once(&request);
        let begin = move || begin(gate, &scope, request, follow);
        let begun = match starts_here {
            true => or_lost(workers::run_here(begin)),
            false => Box::pin(started(begin)).await,
        };
        let begun = match begun {
            Ok(Begun::NeedsApproval(unasked)) if unasked.is_untried() => {
                Box::pin(started(move || try_first(*unasked, follow))).await
            }
            begun => begun,
        };
        match begun {
            Ok(Begun::Started(execution)) => {
                drop(turn);
                self.follow(execution, call).await
            }
            Ok(Begun::NeedsApproval(unasked)) => {
                let outcome = Box::pin(self.questions.ask(*unasked, turn, call.wait())).await;
                Box::pin(self.after_question(outcome, call)).await
            }
            Err(refused) => {
                call.log.is_about(&refused.id);
                self.result_of(&refused).into()
            }
        }
    }

    pub(super) async fn after_question(&self, outcome: QuestionOutcome, call: Call) -> Reply {
        match outcome {
            QuestionOutcome::Settled(Ok(admitted)) => {
                let turn = self.workers.turn(admitted.request().chat.as_deref()).await;
                let left = call.deadline.saturating_duration_since(Instant::now());
                let follow = call.follow();
                let started = started(move || admitted.waiting(left).start(follow)).await;
                drop(turn);
                match started {
                    Ok(execution) => self.follow(Box::new(execution), call).await,
                    Err(refused) => self.ended(&refused, call).await,
                }
            }
            QuestionOutcome::Settled(Err(refused)) => {
                call.log.is_about(&refused.id);
                self.result_of(&refused).into()
            }
            QuestionOutcome::Queued(question) => {
                call.log.is_about(&question.id);
                let scope = call.client.principal.scope();
                let undo = self.stop_unanswered(question.id.clone(), Some(question.clone()), scope);
                call.client.completion.on_cancel(undo);
                let plain = ToolResult::of_question(self.dialect, &question);
                self.continuing(plain, &question.id, call.task_client()).await
            }
            QuestionOutcome::Started(id) => self.catch_up(&id, call).await,
            QuestionOutcome::Form(question, form) => self.request_input(question, form, call),
        }
    }

    /// The answer to a call whose command was started while no call waited.
    async fn catch_up(&self, id: &str, mut call: Call) -> Reply {
        call.log.is_about(id);
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
            Err(error) => self.result_of(&Report::of_error(error)).into(),
        }
    }

    /// The answer that tells the client to ask its user and to call again.
    fn request_input(&self, question: WaitingQuestion, form: Form, call: Call) -> Reply {
        call.log.is_about(&question.id);
        let Some(params) = form.params() else {
            return ToolResult::of_question(self.dialect, &question).into();
        };
        let input = InputRequest::Elicitation(ElicitRequest::new(params));
        let digest = self.digest(&call);
        let Call { client, new_session, .. } = call;
        let scope = client.principal.scope();
        client.completion.on_cancel(self.stop_unanswered(question.id.clone(), Some(question.clone()), scope));
        let state = self.request_states.insert(RequestState {
            call: digest,
            principal: client.principal,
            question,
            form,
            new_session,
        });
        let inputs = BTreeMap::from([(APPROVAL_KEY.to_owned(), input)]);
        Reply::unfinished(InputRequiredResult::new(Some(inputs), Some(state)))
    }

    async fn follow(&self, execution: Box<Execution>, mut call: Call) -> Reply {
        call.log.is_about(&execution.id());
        let followed =
            follow_to_answer(execution, &self.workers, &call.client.canceled, &mut call.progress).await;
        let report = followed.unwrap_or_else(|error| Box::new(Report::of_error(lost(&error))));
        self.ended(&report, call).await
    }

    /// The answer to a call whose command has ended, or whose deadline has passed.
    async fn ended(&self, report: &Report, call: Call) -> Reply {
        let plain = self.result_of(report);
        let answer = match report.unfinished_job() {
            // The model has to type, so it gets the plain answer.
            Some(job) if !report.waiting_for_input => {
                Box::pin(self.continuing(plain, job, call.task_client())).await
            }
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
    async fn continuing(&self, plain: ToolResult, id: &str, client: Option<&Client>) -> Reply {
        let Some(client) = client else { return plain.into() };
        match tasks::begin(self.job_sources(), id, client).await {
            Ok(TaskStart::Task(task)) => {
                Reply::unfinished(CallToolResponse::Task(CreateTaskResult::new(*task)))
            }
            Ok(TaskStart::Ended(result)) => result.into(),
            Err(_) => plain.into(),
        }
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
    begun(gate.consider_untried(request)?, follow)
}

/// Tries a request before a person is asked. Blocks for as long as the trial takes.
fn try_first(unasked: UnaskedQuestion<'static>, follow: Follow) -> Result<Begun, Refused> {
    begun(unasked.try_first()?, follow)
}

fn begun(considered: Considered<'static>, follow: Follow) -> Result<Begun, Refused> {
    match considered {
        Considered::Allowed(admitted) => admitted.start(follow).map(|run| Begun::Started(Box::new(run))),
        Considered::NeedsApproval(unasked) => Ok(Begun::NeedsApproval(unasked)),
    }
}

/// Runs `start` on a worker thread. A panic there is a refusal.
pub(crate) async fn started<T: Send + 'static>(
    start: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    or_lost(workers::run(start).await)
}

/// A panic is a refusal.
fn or_lost<T>(started: Result<Result<T, Refused>, WorkFailed>) -> Result<T, Refused> {
    started.unwrap_or_else(|error| {
        error!("a start failed");
        Err(Box::new(Report::of_error(lost(&error))))
    })
}

fn lost(error: &dyn std::error::Error) -> ErrorObject {
    ErrorObject::new(Code::KeeperLost, format!("the connection to the command is lost: {error}"))
}
