//! Questions about what is typed at a job. The gate asks them while it types, so a thread of the tool waits for the answer.

use std::cell::RefCell;

use shellgate::approval::{Answer, ApprovalChannel, Approver, Question, Waiting};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::form::Form;
use super::task::{LOOK, elicited};
use super::{From, elicit};
use crate::client::{Asks, Client};
use crate::limits::WAIT;

thread_local! {
    /// For whom this thread works.
    static CALLER: RefCell<Option<(Client, Handle)>> = const { RefCell::new(None) };
}

/// Does `work` for `client`, who is asked if somebody must be.
pub(crate) fn working_for<T>(client: Client, runtime: Handle, work: impl FnOnce() -> T) -> T {
    CALLER.set(Some((client, runtime)));
    let done = work();
    CALLER.set(None);
    done
}

/// Asks the client that the thread works for, or the queue.
#[derive(Debug)]
pub(crate) struct TypedApprover {
    pub(super) from: From,
    pub(super) shown: fn(&Question<'_>) -> String,
}

impl Approver for TypedApprover {
    fn channel(&self) -> ApprovalChannel {
        ApprovalChannel::Elicitation
    }

    fn ask(&self, question: &Question<'_>, waiting: Waiting<'_>) -> Answer {
        let Some((client, runtime)) = CALLER.with_borrow(Clone::clone) else { return Answer::Nobody };
        runtime.block_on(self.asked(&client, question, waiting))
    }
}

impl TypedApprover {
    async fn asked(&self, client: &Client, question: &Question<'_>, waiting: Waiting<'_>) -> Answer {
        let form = Form::of(question, self.shown);
        let mut elicitation = match client.asks {
            Asks::Directly if self.from.elicitation => elicit(client, &form).await,
            _ => None,
        };
        // Nothing goes on when the call is answered, so the question ends with it.
        let until = Instant::now() + question.timeout.min(WAIT);
        let answer = loop {
            if elicitation.is_none() && !self.from.queue {
                break Answer::Nobody;
            }
            tokio::select! {
                result = elicited(&mut elicitation) => {
                    elicitation = None;
                    if let Some(answer) = result.and_then(|result| form.answer(&result)) {
                        break answer;
                    }
                }
                () = tokio::time::sleep(LOOK) => {
                    if let Some(answer) = waiting.poll() {
                        break answer;
                    }
                }
                () = client.canceled.cancelled() => break Answer::Canceled,
                () = tokio::time::sleep_until(until) => break Answer::TimedOut,
            }
        };
        if let Some(elicitation) = elicitation {
            elicitation.take_back().await;
        }
        answer
    }
}
