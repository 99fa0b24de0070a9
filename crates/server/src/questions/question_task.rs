//! The task of one question: it waits for the answer and goes on with it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ClientResult;
use rmcp::service::RequestHandle;
use serde_json::Value;
use shellgate::approval::{Answer, ApprovalChannel};
use shellgate::{Execution, Follow, PendingQuestion, Refused};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::form::Form;
use super::{QuestionCommand, QuestionEnd, Settled};
use crate::calls::started;
use crate::execution_follower::follow_to_answer;
use crate::workers::Workers;

/// A form that the client shows to its user.
#[derive(Debug)]
pub(super) struct Elicitation {
    handle: RequestHandle<RoleServer>,
}

impl Elicitation {
    pub(super) fn new(handle: RequestHandle<RoleServer>) -> Self {
        Self { handle }
    }

    /// Tells the client to close the form.
    pub(super) async fn cancel(self) {
        // A client that has gone has closed it.
        let _ = self.handle.cancel(Some("the question no longer needs an answer".to_owned())).await;
    }

    /// The client's result. `None`: an error, or a result of another kind.
    async fn result(&mut self) -> Option<Value> {
        match (&mut self.handle.rx).await {
            Ok(Ok(ClientResult::ElicitResult(result))) => serde_json::to_value(result).ok(),
            _ => None,
        }
    }
}

pub(super) struct QuestionTask {
    pub(super) pending: PendingQuestion<'static>,
    pub(super) elicitation: Option<Elicitation>,
    pub(super) form: Option<Form>,
    /// The client asks its user between two calls.
    pub(super) between_calls: bool,
    pub(super) commands: mpsc::Receiver<QuestionCommand>,
    /// The answer of another terminal, or that the question has timed out.
    pub(super) queue_answer: oneshot::Receiver<Answer>,
    /// Whether another terminal may answer.
    pub(super) queue: bool,
    pub(super) workers: Workers,
}

impl QuestionTask {
    /// Waits for an answer, and hands the result to the call that waits for it. Without a call, a yes starts a job.
    pub(super) async fn run(mut self) -> QuestionEnd {
        let mut attached: Option<oneshot::Sender<Settled>> = None;
        let (answer, channel) = loop {
            if self.elicitation.is_none() && !self.queue && !self.between_calls {
                break (Answer::Unavailable, ApprovalChannel::Elicitation);
            }
            tokio::select! {
                result = next_result(&mut self.elicitation) => {
                    self.elicitation = None;
                    if let Some(answer) = result.and_then(|result| self.form.as_ref()?.answer(&result)) {
                        break (answer, ApprovalChannel::Elicitation);
                    }
                }
                command = self.commands.recv() => match command {
                    Some(QuestionCommand::Attach(call)) => attached = Some(call),
                    Some(QuestionCommand::Answer(answer)) => break (answer, ApprovalChannel::Elicitation),
                    Some(QuestionCommand::Withdraw) | None => break (Answer::Canceled, ApprovalChannel::Elicitation),
                },
                // An error is a poller that has panicked: then no answer comes from the queue.
                answer = &mut self.queue_answer => {
                    break (answer.unwrap_or(Answer::Unavailable), ApprovalChannel::Queue);
                }
            }
        };
        let Self { pending, elicitation, mut commands, workers, .. } = self;
        if let Some(elicitation) = elicitation {
            elicitation.cancel().await;
        }
        let settled = started(move || pending.settle(answer, channel).map(Box::new)).await;
        // A call may have attached while the answer was written.
        commands.close();
        while let Some(command) = commands.recv().await {
            if let QuestionCommand::Attach(call) = command {
                attached = Some(call);
            }
        }
        let settled = match attached {
            Some(call) => match call.send(settled) {
                Ok(()) => return QuestionEnd::Delivered,
                Err(settled) => settled,
            },
            None => settled,
        };
        match start_job(settled, &workers).await {
            Ok(execution) => {
                // It answers at once and runs on as a job. An error is a lost keeper: the record has the end.
                let _ = follow_to_answer(Box::new(execution), &workers, &CancellationToken::new(), &mut None)
                    .await;
                QuestionEnd::Started
            }
            Err(refused) => QuestionEnd::Refused(refused.into()),
        }
    }
}

/// Starts an approved command as a job.
async fn start_job(settled: Settled, workers: &Workers) -> Result<Execution, Refused> {
    let admitted = settled?;
    let _turn = workers.turn(admitted.request().chat.as_deref()).await;
    started(move || admitted.waiting(Duration::ZERO).start(Follow::Quietly)).await
}

/// The result of the elicitation. Without one it waits for ever.
pub(super) async fn next_result(elicitation: &mut Option<Elicitation>) -> Option<Value> {
    match elicitation {
        Some(elicitation) => elicitation.result().await,
        None => std::future::pending().await,
    }
}
