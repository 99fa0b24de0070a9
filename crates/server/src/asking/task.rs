//! One question, until it is answered.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ClientResult;
use rmcp::service::RequestHandle;
use serde_json::Value;
use shellgate::approval::{Answer, ApprovalChannel};
use shellgate::{Follow, PendingQuestion};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::form::Form;
use super::{End, Settled, Tell};
use crate::following;

/// How often the record is looked at for an answer from elsewhere.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// A form that the client shows.
#[derive(Debug)]
pub(super) struct Elicitation {
    handle: RequestHandle<RoleServer>,
}

impl Elicitation {
    pub(super) fn new(handle: RequestHandle<RoleServer>) -> Self {
        Self { handle }
    }

    /// The form is still open, and need not be answered any more.
    pub(super) async fn take_back(self) {
        let _ = self.handle.cancel(Some("it is not asked any more".to_owned())).await;
    }

    /// What came back. `None`: an error, or nothing that could be an answer.
    async fn result(&mut self) -> Option<Value> {
        match (&mut self.handle.rx).await {
            Ok(Ok(ClientResult::ElicitResult(result))) => serde_json::to_value(result).ok(),
            _ => None,
        }
    }
}

pub(super) struct Task {
    pub(super) pending: PendingQuestion<'static>,
    pub(super) elicitation: Option<Elicitation>,
    pub(super) form: Option<Form>,
    /// The client asks between two calls.
    pub(super) in_turns: bool,
    pub(super) told: mpsc::Receiver<Tell>,
    /// Then nobody has answered.
    pub(super) until: Instant,
    /// Whether somebody may answer from a terminal.
    pub(super) queue: bool,
}

impl Task {
    /// Waits for an answer, and gives the outcome to the call that waits for it. When none does, a yes starts a job.
    pub(super) async fn run(mut self) -> End {
        let mut attached: Option<oneshot::Sender<Settled>> = None;
        let (answer, channel) = loop {
            if self.elicitation.is_none() && !self.queue && !self.in_turns {
                break (Answer::Nobody, ApprovalChannel::Elicitation);
            }
            tokio::select! {
                result = elicited(&mut self.elicitation) => {
                    self.elicitation = None;
                    if let Some(answer) = result.and_then(|result| self.form.as_ref()?.answer(&result)) {
                        break (answer, ApprovalChannel::Elicitation);
                    }
                }
                tell = self.told.recv() => match tell {
                    Some(Tell::Attach(call)) => attached = Some(call),
                    Some(Tell::Answer(answer)) => break (answer, ApprovalChannel::Elicitation),
                    Some(Tell::Withdraw) | None => break (Answer::Canceled, ApprovalChannel::Elicitation),
                },
                () = tokio::time::sleep(LOOK) => {
                    if let Some(answer) = self.pending.poll() {
                        break (answer, ApprovalChannel::Queue);
                    }
                }
                () = tokio::time::sleep_until(self.until) => break (Answer::TimedOut, ApprovalChannel::Elicitation),
            }
        };
        let Self { pending, elicitation, mut told, .. } = self;
        if let Some(elicitation) = elicitation {
            elicitation.take_back().await;
        }
        let settled = pending.settle(answer, channel).map(Box::new);
        // A call may have come to wait while we wrote that down.
        told.close();
        while let Some(tell) = told.recv().await {
            if let Tell::Attach(call) = tell {
                attached = Some(call);
            }
        }
        let settled = match attached {
            Some(call) => match call.send(settled) {
                Ok(()) => return End::Told,
                Err(settled) => settled,
            },
            None => settled,
        };
        match settled.and_then(|admitted| admitted.waiting(Duration::ZERO).start(Follow::Quietly)) {
            Ok(execution) => {
                // It is answered at once, and goes on as a job.
                let _ = following::to_the_end(execution, &CancellationToken::new(), &mut None).await;
                End::Started
            }
            Err(refused) => End::Refused(refused.into()),
        }
    }
}

pub(super) async fn elicited(elicitation: &mut Option<Elicitation>) -> Option<Value> {
    match elicitation {
        Some(elicitation) => elicitation.result().await,
        None => std::future::pending().await,
    }
}
