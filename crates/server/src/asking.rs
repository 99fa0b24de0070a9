//! Questions: a person must say yes before a command runs.
//!
//! Each question is a task that holds it until somebody answers: in the agent's program ([`form`]), or at a terminal, where
//! the record is looked at. A call waits for its question only so long; then it is answered, and when the yes comes later
//! the command starts as a job, under the name that the call was told.

pub(crate) mod form;
mod task;
pub(crate) mod typed;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ElicitRequest, ServerRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::Value;
use shellgate::approval::{Answer, Question};
use shellgate::journal::QuestionId;
use shellgate::settings::{Asker, Settings};
use shellgate::{Admitted, PendingQuestion, Refused, Report, UnaskedQuestion};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::client::{Asks, Client, Principal};
use crate::limits::{MOST_QUESTIONS, MOST_QUESTIONS_OF_ONE};
use crate::progress::Progress;
use form::Form;
use task::Task;
use typed::TypedApprover;

/// How a question ended.
pub(crate) type Settled = Result<Box<Admitted<'static>>, Refused>;

/// Questions that wait for somebody, by the names of their executions.
#[derive(Clone, Debug)]
pub(crate) struct Questions {
    held: Arc<Mutex<HashMap<String, Held>>>,
    /// How a question is shown to a person.
    shown: fn(&Question<'_>) -> String,
    /// Whom the settings let answer.
    from: From,
}

#[derive(Clone, Copy, Debug)]
struct From {
    elicitation: bool,
    queue: bool,
}

/// A question that waits.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) number: Option<QuestionId>,
    principal: Principal,
    tell: mpsc::Sender<Tell>,
    end: watch::Receiver<End>,
    /// The request as it stands.
    queued: Arc<Report>,
    /// For a client that comes back for it.
    form: Arc<Mutex<Kept>>,
}

/// A form that is kept for a client that comes back.
#[derive(Debug, Default)]
struct Kept {
    form: Option<Form>,
    shown: bool,
}

/// What became of a question.
#[derive(Clone, Debug)]
enum End {
    /// Nothing yet.
    Open,
    /// The call that waited for it goes on.
    Told,
    /// The command has started, as a job.
    Started,
    /// The command doesn't run.
    Refused(Arc<Report>),
}

/// What a question's task can be told.
#[derive(Debug)]
enum Tell {
    /// This call waits for the end.
    Attach(oneshot::Sender<Settled>),
    /// Somebody answered in the agent's program.
    Answer(Answer),
    /// Nobody wants to know any more.
    Withdraw,
}

/// What became of a question while its call waited.
pub(crate) enum WaitReport {
    /// It is answered.
    Settled(Settled),
    /// It goes on waiting, as this.
    Queued(Held),
    /// Somebody said yes while no call waited: the command of this name is a job.
    Started(String),
    /// The client is to ask, and to call again.
    Form(Held, Form),
}

impl Questions {
    pub(crate) fn new(settings: &Settings, shown: fn(&Question<'_>) -> String) -> Self {
        let asks = |asker: Asker| settings.approval.from.iter().any(|one| one.value == asker);
        let from = From { elicitation: asks(Asker::Elicitation), queue: asks(Asker::Queue) };
        Self { held: Arc::default(), shown, from }
    }

    /// Who is asked about what is typed.
    pub(crate) fn typed(&self) -> TypedApprover {
        TypedApprover { from: self.from, shown: self.shown }
    }

    /// Asks whoever can be asked, and waits for the answer until `patience` ends.
    pub(crate) async fn ask(
        &self,
        unasked: UnaskedQuestion<'static>,
        client: &Client,
        progress: &mut Option<Progress>,
        patience: Instant,
    ) -> WaitReport {
        let asks = if self.from.elicitation { client.asks } else { Asks::Never };
        if asks == Asks::Never && !self.from.queue {
            return WaitReport::Settled(Err(unasked.nobody()));
        }
        if self.is_full_for(&client.principal) {
            return WaitReport::Settled(
                Err(unasked.unaskable("too many other questions wait for an answer")),
            );
        }
        let pending = match unasked.post() {
            Ok(pending) => pending,
            Err(refused) => return WaitReport::Settled(Err(refused)),
        };
        let comes_back = client.tasks && self.from.elicitation;
        let form = (asks != Asks::Never || comes_back)
            .then(|| pending.with_question(|question| Form::of(question, self.shown)));
        let elicitation = match &form {
            Some(form) if asks == Asks::Directly => elicit(client, form).await,
            _ => None,
        };
        let in_turns = asks == Asks::InTurns;
        let with = |task| Task { elicitation, form: form.clone(), in_turns, ..task };
        let held = self.hold(pending, client, with);
        if comes_back {
            held.kept().form.clone_from(&form);
        }
        match form {
            Some(form) if in_turns => WaitReport::Form(held, form),
            _ => held.wait(client, progress, patience).await,
        }
    }

    /// Whether nobody, or this client, may ask more now: one client alone must not use up the questions of all.
    fn is_full_for(&self, principal: &Principal) -> bool {
        let held = self.held();
        let own = held.values().filter(|held| held.principal == *principal).count();
        held.len() >= MOST_QUESTIONS || own >= MOST_QUESTIONS_OF_ONE
    }

    /// Makes a task of a question.
    fn hold(
        &self,
        pending: PendingQuestion<'static>,
        client: &Client,
        with: impl FnOnce(Task) -> Task,
    ) -> Held {
        let (tell, told) = mpsc::channel(8);
        let (ended, end) = watch::channel(End::Open);
        let held = Held {
            id: pending.id().to_owned(),
            number: pending.number(),
            principal: client.principal.clone(),
            tell,
            end,
            queued: Arc::new(pending.report()),
            form: Arc::default(),
        };
        self.held().insert(held.id.clone(), held.clone());
        let until = Instant::now() + pending.with_question(|question| question.timeout);
        let task = with(Task {
            pending,
            elicitation: None,
            form: None,
            in_turns: false,
            told,
            until,
            queue: self.from.queue,
        });
        let (questions, id) = (self.clone(), held.id.clone());
        tokio::spawn(async move {
            let end = task.run().await;
            questions.held().remove(&id);
            let _ = ended.send(end);
        });
        held
    }

    /// The question that `principal` waits for under this name, or the only one whose name begins so.
    pub(crate) fn find(&self, name: &str, principal: &Principal) -> Option<Held> {
        let name = name.to_ascii_uppercase();
        let held = self.held();
        let mut found =
            held.values().filter(|held| held.principal == *principal && held.id.starts_with(&name));
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        }
    }

    /// All that `principal` waits for, oldest first.
    pub(crate) fn all_of(&self, principal: &Principal) -> Vec<Held> {
        let mut own: Vec<Held> =
            self.held().values().filter(|held| held.principal == *principal).cloned().collect();
        own.sort_by(|one, other| one.id.cmp(&other.id));
        own
    }

    /// The question that `principal` waits for under exactly this name.
    pub(crate) fn exactly(&self, name: &str, principal: &Principal) -> Option<Held> {
        self.held().get(name).filter(|held| held.principal == *principal).cloned()
    }

    /// Takes what somebody made of the form that was shown: once, and whether it can be understood or not. Whether it is
    /// settled by that.
    pub(crate) async fn respond(&self, question: &Held, response: &Value) -> bool {
        let Some(form) = question.take_back() else { return false };
        match form.answer(response) {
            Some(answer) => question.answer(answer).await,
            None if !self.from.queue => question.answer(Answer::Nobody).await,
            None => return false,
        }
        true
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Waits for the answer until `patience` ends; the client may take the question back.
    pub(crate) async fn wait(
        self,
        client: &Client,
        progress: &mut Option<Progress>,
        patience: Instant,
    ) -> WaitReport {
        let (attached, mut settled) = oneshot::channel();
        let _ = self.tell.send(Tell::Attach(attached)).await;
        loop {
            tokio::select! {
                biased;
                answer = &mut settled => return self.told(answer).await,
                () = client.canceled.cancelled() => break,
                () = tokio::time::sleep_until(patience) => {
                    // From now on the task goes on by itself, unless it has just told us.
                    settled.close();
                    return match settled.try_recv() {
                        Ok(answer) => WaitReport::Settled(answer),
                        Err(_) => WaitReport::Queued(self),
                    };
                }
                () = Progress::tell(progress) => {}
            }
        }
        self.withdraw().await;
        let answer = settled.await;
        self.told(answer).await
    }

    async fn told(mut self, answer: Result<Settled, oneshot::error::RecvError>) -> WaitReport {
        if let Ok(answer) = answer {
            return WaitReport::Settled(answer);
        }
        // It was answered before we came, and goes on by itself.
        let end = self.end.wait_for(|end| !matches!(end, End::Open)).await.map(|end| end.clone());
        match end {
            Ok(End::Refused(report)) => WaitReport::Settled(Err(Box::new((*report).clone()))),
            Ok(End::Started) => WaitReport::Started(self.id),
            _ => WaitReport::Queued(self),
        }
    }

    /// The form for a client that comes back for it, as long as nobody has answered it.
    pub(crate) fn form(&self) -> Option<Form> {
        self.kept().form.clone()
    }

    /// The same to show it: from now on it can be answered.
    pub(crate) fn show(&self) -> Option<Form> {
        let mut kept = self.kept();
        kept.shown = true;
        kept.form.clone()
    }

    /// Takes it back with an answer: one that was never shown has none, and none has two.
    fn take_back(&self) -> Option<Form> {
        let mut kept = self.kept();
        if kept.shown { kept.form.take() } else { None }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the model is told while nobody has answered.
    pub(crate) fn report(&self) -> &Report {
        &self.queued
    }

    /// Tells it what somebody answered in the agent's program.
    pub(crate) async fn answer(&self, answer: Answer) {
        let _ = self.tell.send(Tell::Answer(answer)).await;
    }

    /// Takes the question back.
    pub(crate) async fn withdraw(&self) {
        let _ = self.tell.send(Tell::Withdraw).await;
    }

    /// Waits until it waits no more and, if the answer was yes, the command has started.
    pub(crate) async fn settled(&self) {
        let _ = self.end.clone().wait_for(|end| !matches!(end, End::Open)).await;
    }

    /// Whether it waits no more.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(*self.end.borrow(), End::Open)
    }
}

/// Sends the form to the client. `None`: it can't be sent.
async fn elicit(client: &Client, form: &Form) -> Option<task::Elicitation> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form.params()?));
    // From the call's own task: over HTTP, that tells where it belongs.
    let sent = client.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    sent.ok().map(task::Elicitation::new)
}
