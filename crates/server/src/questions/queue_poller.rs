//! Checks the record for the answers to all waiting questions, on one worker thread at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shellgate::approval::{Answer, QueueWait};
use tokio::sync::oneshot;

use crate::workers;

/// The poller. Its task runs while there are questions.
#[derive(Clone, Debug, Default)]
pub(super) struct QueuePoller(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    watched: Vec<WatchedQuestion>,
    running: bool,
}

#[derive(Debug)]
struct WatchedQuestion {
    wait: QueueWait,
    answer: oneshot::Sender<Answer>,
}

impl QueuePoller {
    /// The answer to a question, once the record has one or its time is over.
    pub(super) fn watch(&self, wait: QueueWait) -> oneshot::Receiver<Answer> {
        let (answer, receiver) = oneshot::channel();
        let mut state = self.state();
        state.watched.push(WatchedQuestion { wait, answer });
        if !std::mem::replace(&mut state.running, true) {
            let poller = self.clone();
            // The runtime panics in a task whose sleep can't wake it. The questions are still there then.
            tokio::spawn(async move { while tokio::spawn(poller.clone().run()).await.is_err() {} });
        }
        receiver
    }

    async fn run(self) {
        loop {
            tokio::time::sleep(QueueWait::POLL_INTERVAL).await;
            let watched = std::mem::take(&mut self.state().watched);
            // A panic drops the questions, which then get no answer from the queue.
            let open = workers::run(move || watched.into_iter().filter_map(check).collect::<Vec<_>>()).await;
            let mut state = self.state();
            state.watched.extend(open.unwrap_or_default());
            if state.watched.is_empty() {
                state.running = false;
                return;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the answer to a question if there is one. Else returns the question, unless it was answered by other means.
fn check(question: WatchedQuestion) -> Option<WatchedQuestion> {
    if question.answer.is_closed() {
        return None;
    }
    match question.wait.check() {
        Some(answer) => {
            // An error is a question that was answered by other means just now.
            let _ = question.answer.send(answer);
            None
        }
        None => Some(question),
    }
}
