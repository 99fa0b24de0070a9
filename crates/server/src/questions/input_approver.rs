//! Questions about input to a job. The gate asks them while it types, so the tool's own thread waits for the answer.

use std::cell::RefCell;

use shellgate::approval::{Answer, ApprovalChannel, Approver, Question, QueueWait};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::form::Form;
use super::question_task::next_result;
use super::{AllowedAskers, elicit};
use crate::client::{Client, FormSupport};
use crate::limits::DEFAULT_WAIT;

thread_local! {
    /// The client that this thread works for.
    static CLIENT: RefCell<Option<(Client, Handle)>> = const { RefCell::new(None) };
}

/// Does `work` for `client`, which is asked when the gate has a question.
pub(crate) fn with_client<T>(client: Client, runtime: Handle, work: impl FnOnce() -> T) -> T {
    CLIENT.set(Some((client, runtime)));
    let done = work();
    CLIENT.set(None);
    done
}

/// Asks the client that the thread works for, or the queue.
#[derive(Debug)]
pub(crate) struct InputApprover {
    pub(super) askers: AllowedAskers,
}

impl Approver for InputApprover {
    fn channel(&self) -> ApprovalChannel {
        ApprovalChannel::Elicitation
    }

    fn ask(&self, question: &Question<'_>, queue: &QueueWait) -> Answer {
        let Some((client, runtime)) = CLIENT.with_borrow(Clone::clone) else { return Answer::Unavailable };
        runtime.block_on(self.ask_client(&client, question, queue))
    }
}

impl InputApprover {
    async fn ask_client(&self, client: &Client, question: &Question<'_>, queue: &QueueWait) -> Answer {
        let form = Form::of(question);
        let mut elicitation = match client.forms {
            FormSupport::DuringCall if self.askers.elicitation => elicit(client, &form).await,
            _ => None,
        };
        // The question ends with its call: a later yes would have nothing to go on with.
        let deadline = Instant::now() + queue.time_left().min(DEFAULT_WAIT);
        let answer = loop {
            if elicitation.is_none() && !self.askers.queue {
                break Answer::Unavailable;
            }
            tokio::select! {
                result = next_result(&mut elicitation) => {
                    elicitation = None;
                    if let Some(answer) = result.and_then(|result| form.answer(&result)) {
                        break answer;
                    }
                }
                () = tokio::time::sleep(QueueWait::POLL_INTERVAL) => {
                    if let Some(answer) = queue.check() {
                        break answer;
                    }
                }
                () = client.canceled.cancelled() => break Answer::Canceled,
                () = tokio::time::sleep_until(deadline) => break Answer::TimedOut,
            }
        };
        if let Some(elicitation) = elicitation {
            elicitation.cancel().await;
        }
        answer
    }
}
