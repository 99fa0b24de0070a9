//! Questions: a person must approve before a command runs.
//!
//! Each question has a task that waits for the answer: from a form in the agent's program ([`form`]), or from another
//! terminal, through the record. A call waits for its question until its deadline. Then the call is answered, and a yes
//! that comes later starts the command as a job, under the id that the answer named.

pub(crate) mod form;
pub(crate) mod input_approver;
mod question_slots;
mod question_task;
mod queue_poller;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ElicitRequest, ServerRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;
use shellgate::approval::Answer;
use shellgate::journal::QuestionId;
use shellgate::settings::{Asker, Settings};
use shellgate::{Admitted, PendingQuestion, Refused, Report, UnaskedQuestion};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::calls::started;
use crate::client::{Client, FormSupport, Principal};
use crate::progress::Progress;
use crate::workers::{SessionTurn, Workers};
use form::Form;
use input_approver::InputApprover;
use question_slots::{QuestionSlot, QuestionSlots};
use question_task::QuestionTask;
use queue_poller::QueuePoller;

/// The request, approved or refused.
pub(crate) type Settled = Result<Box<Admitted<'static>>, Refused>;

/// The questions that wait for an answer, by the ids of their executions.
#[derive(Clone, Debug)]
pub(crate) struct Questions {
    waiting: Arc<Mutex<HashMap<String, WaitingQuestion>>>,
    slots: QuestionSlots,
    poller: QueuePoller,
    askers: AllowedAskers,
    workers: Workers,
}

/// Where the settings allow answers from.
#[derive(Clone, Copy, Debug)]
struct AllowedAskers {
    elicitation: bool,
    queue: bool,
}

/// A handle to a question that waits for an answer.
#[derive(Clone, Debug)]
pub(crate) struct WaitingQuestion {
    /// The id of its execution.
    pub(crate) id: String,
    pub(crate) number: Option<QuestionId>,
    principal: Principal,
    commands: mpsc::Sender<QuestionCommand>,
    end: watch::Receiver<QuestionEnd>,
    /// The answer to the call while the question waits.
    queued: Arc<Report>,
    form: Arc<Mutex<StoredForm>>,
}

/// The form of a question, for a client that fetches it by `tasks/get`.
#[derive(Debug, Default)]
struct StoredForm {
    form: Option<Form>,
    shown: bool,
}

/// A call that waits for its question.
pub(crate) struct CallWait<'a> {
    pub(crate) client: &'a Client,
    pub(crate) progress: &'a mut Option<Progress>,
    /// Then it is answered, even if the question still waits.
    pub(crate) deadline: Instant,
}

/// How a question ended.
#[derive(Clone, Debug)]
enum QuestionEnd {
    /// It waits.
    Open,
    /// The call that waited for it has the answer.
    Delivered,
    /// The command has started, as a job.
    Started,
    /// The command doesn't run.
    Refused(Arc<Report>),
}

/// A message to a question's task.
#[derive(Debug)]
enum QuestionCommand {
    /// A call waits for the answer.
    Attach(oneshot::Sender<Settled>),
    /// The user of the agent's program answered.
    Answer(Answer),
    /// The call was canceled.
    Withdraw,
}

/// The state of a question when its call goes on.
pub(crate) enum QuestionOutcome {
    /// It is answered.
    Settled(Settled),
    /// It still waits.
    Queued(WaitingQuestion),
    /// It was approved while no call waited: the command runs as the job of this id.
    Started(String),
    /// The client is to ask its user, and to call again.
    Form(WaitingQuestion, Form),
}

impl Questions {
    pub(crate) fn new(settings: &Settings, workers: Workers) -> Self {
        let allows = |asker: Asker| settings.approval.from.iter().any(|one| one.value == asker);
        let askers = AllowedAskers { elicitation: allows(Asker::Elicitation), queue: allows(Asker::Queue) };
        Self {
            waiting: Arc::default(),
            slots: QuestionSlots::default(),
            poller: QueuePoller::default(),
            askers,
            workers,
        }
    }

    /// The approver for input to jobs.
    pub(crate) fn input_approver(&self) -> InputApprover {
        InputApprover { askers: self.askers }
    }

    /// Asks a person, and waits for the answer until the call's deadline. The session's next call begins once the question is in the
    /// record.
    pub(crate) async fn ask(
        &self,
        unasked: UnaskedQuestion<'static>,
        turn: SessionTurn,
        call: CallWait<'_>,
    ) -> QuestionOutcome {
        let client = call.client;
        let forms = if self.askers.elicitation { client.forms } else { FormSupport::None };
        if forms == FormSupport::None && !self.askers.queue {
            return QuestionOutcome::Settled(started(move || Err(unasked.no_approver())).await);
        }
        let Some(slot) = self.slots.take(&client.principal) else {
            warn!("too many questions wait for an answer");
            let refused =
                started(move || Err(unasked.unaskable("too many other questions wait for an answer")));
            return QuestionOutcome::Settled(refused.await);
        };
        let pending = match started(move || unasked.post()).await {
            Ok(pending) => pending,
            Err(refused) => return QuestionOutcome::Settled(Err(refused)),
        };
        drop(turn);
        let fetches_form = client.tasks && self.askers.elicitation;
        let form = (forms != FormSupport::None || fetches_form).then(|| pending.with_question(Form::of));
        let elicitation = match &form {
            Some(form) if forms == FormSupport::DuringCall => {
                debug!(id = pending.id(), "asks the client's user");
                elicit(client, form).await
            }
            _ => None,
        };
        let between_calls = forms == FormSupport::BetweenCalls;
        let configure = |task| QuestionTask { elicitation, form: form.clone(), between_calls, ..task };
        let question = self.spawn_task(pending, slot, configure);
        if fetches_form {
            question.stored_form().form.clone_from(&form);
        }
        match form {
            Some(form) if between_calls => QuestionOutcome::Form(question, form),
            _ => question.wait(call).await,
        }
    }

    /// Spawns the task of a question.
    fn spawn_task(
        &self,
        pending: PendingQuestion<'static>,
        slot: QuestionSlot,
        configure: impl FnOnce(QuestionTask) -> QuestionTask,
    ) -> WaitingQuestion {
        let (sender, commands) = mpsc::channel(8);
        let (ended, end) = watch::channel(QuestionEnd::Open);
        let question = WaitingQuestion {
            id: pending.id().to_owned(),
            number: pending.queue_wait().number(),
            principal: slot.principal().clone(),
            commands: sender,
            end,
            queued: Arc::new(pending.report()),
            form: Arc::default(),
        };
        self.waiting().insert(question.id.clone(), question.clone());
        let queue_answer = self.poller.watch(pending.queue_wait().clone());
        let task = configure(QuestionTask {
            pending,
            elicitation: None,
            form: None,
            between_calls: false,
            commands,
            queue_answer,
            queue: self.askers.queue,
            workers: self.workers.clone(),
        });
        let (questions, id) = (self.clone(), question.id.clone());
        tokio::spawn(async move {
            let end = task.run().await;
            questions.waiting().remove(&id);
            drop(slot);
            // Without a receiver no call wants to know.
            let _ = ended.send(end);
        });
        question
    }

    /// The question of `principal` with this id, or the only one whose id begins so.
    pub(crate) fn find(&self, id: &str, principal: &Principal) -> Option<WaitingQuestion> {
        let id = id.to_ascii_uppercase();
        let waiting = self.waiting();
        let mut found = waiting
            .values()
            .filter(|question| question.principal == *principal && question.id.starts_with(&id));
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        }
    }

    /// All questions of `principal`, oldest first.
    pub(crate) fn all_of(&self, principal: &Principal) -> Vec<WaitingQuestion> {
        let mut own: Vec<WaitingQuestion> =
            self.waiting().values().filter(|question| question.principal == *principal).cloned().collect();
        own.sort_by(|one, other| one.id.cmp(&other.id));
        own
    }

    /// The question of `principal` with exactly this id.
    pub(crate) fn exactly(&self, id: &str, principal: &Principal) -> Option<WaitingQuestion> {
        self.waiting().get(id).filter(|question| question.principal == *principal).cloned()
    }

    /// Takes the response to a form that the client fetched. Only the first response counts, even if it can't be read.
    /// Returns whether it settles the question.
    pub(crate) async fn respond(&self, question: &WaitingQuestion, response: &Value) -> bool {
        let Some(form) = question.take_shown_form() else { return false };
        match form.answer(response) {
            Some(answer) => question.answer(answer).await,
            None if !self.askers.queue => question.answer(Answer::Unavailable).await,
            None => return false,
        }
        true
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, WaitingQuestion>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingQuestion {
    /// Waits for the answer until the call's deadline. A canceled call withdraws the question.
    pub(crate) async fn wait(self, call: CallWait<'_>) -> QuestionOutcome {
        let CallWait { client, progress, deadline } = call;
        let (attached, mut settled) = oneshot::channel();
        self.send(QuestionCommand::Attach(attached)).await;
        loop {
            tokio::select! {
                biased;
                answer = &mut settled => return self.outcome(answer).await,
                () = client.canceled.cancelled() => break,
                () = tokio::time::sleep_until(deadline) => {
                    // From now on the task starts the command itself, unless it has just sent us the answer.
                    settled.close();
                    return match settled.try_recv() {
                        Ok(answer) => QuestionOutcome::Settled(answer),
                        Err(_) => QuestionOutcome::Queued(self),
                    };
                }
                () = Progress::tell(progress) => {}
            }
        }
        self.withdraw().await;
        let answer = settled.await;
        self.outcome(answer).await
    }

    async fn outcome(mut self, answer: Result<Settled, oneshot::error::RecvError>) -> QuestionOutcome {
        if let Ok(answer) = answer {
            return QuestionOutcome::Settled(answer);
        }
        // It was answered before the call attached, so the task started the command itself.
        let end = self.end.wait_for(|end| !matches!(end, QuestionEnd::Open)).await.map(|end| end.clone());
        match end {
            Ok(QuestionEnd::Refused(report)) => QuestionOutcome::Settled(Err(Box::new((*report).clone()))),
            Ok(QuestionEnd::Started) => QuestionOutcome::Started(self.id),
            _ => QuestionOutcome::Queued(self),
        }
    }

    /// The form, while it has no response.
    pub(crate) fn form(&self) -> Option<Form> {
        self.stored_form().form.clone()
    }

    /// The form, to be shown: from now on the client can respond to it.
    pub(crate) fn show_form(&self) -> Option<Form> {
        let mut stored = self.stored_form();
        stored.shown = true;
        stored.form.clone()
    }

    /// Takes the form for a response. A form that was never shown gets none, and none gets two.
    fn take_shown_form(&self) -> Option<Form> {
        let mut stored = self.stored_form();
        if stored.shown { stored.form.take() } else { None }
    }

    fn stored_form(&self) -> MutexGuard<'_, StoredForm> {
        self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to the call while the question waits.
    pub(crate) fn report(&self) -> &Report {
        &self.queued
    }

    /// Passes on what the user of the agent's program answered.
    pub(crate) async fn answer(&self, answer: Answer) {
        self.send(QuestionCommand::Answer(answer)).await;
    }

    /// Withdraws the question.
    pub(crate) async fn withdraw(&self) {
        self.send(QuestionCommand::Withdraw).await;
    }

    async fn send(&self, command: QuestionCommand) {
        // An error is a question that was settled before.
        let _ = self.commands.send(command).await;
    }

    /// Waits until the question is answered and, after a yes, the command has started.
    pub(crate) async fn settled(&self) {
        // An error is a task that has ended without an answer: nothing is left to wait for.
        let _ = self.end.clone().wait_for(|end| !matches!(end, QuestionEnd::Open)).await;
    }

    /// Whether the question is answered.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(*self.end.borrow(), QuestionEnd::Open)
    }
}

/// Sends the form to the client. `None`: it can't be sent.
async fn elicit(client: &Client, form: &Form) -> Option<question_task::Elicitation> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form.params()?));
    // Sent from the call's own task: over HTTP, rmcp finds the call's stream by that.
    let sent = client.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    sent.ok().map(question_task::Elicitation::new)
}
