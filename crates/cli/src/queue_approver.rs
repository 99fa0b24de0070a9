//! Asking by the queue: the question waits in the record for an answer from another terminal. Ctrl-C withdraws it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shellgate::approval::{Answer, ApprovalChannel, Approver, Question, QueueWait};
use shellgate::settings::{Asker, Settings};

use crate::output::print_note;
use crate::signals::Interrupts;

/// The channels through which a command line can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalChannel {
    Terminal,
    Queue,
}

/// The channel that the settings choose: the terminal before the queue.
pub(crate) fn local_channel(settings: &Settings) -> Option<LocalChannel> {
    let from = &settings.approval.from;
    let asks = |asker: Asker| from.iter().any(|one| one.value == asker);
    if asks(Asker::Terminal) {
        return Some(LocalChannel::Terminal);
    }
    asks(Asker::Queue).then_some(LocalChannel::Queue)
}

/// Waits for an answer in the queue, or for a signal.
#[derive(Debug, Default)]
pub(crate) struct QueueApprover {
    withdrawn: Arc<AtomicBool>,
}

impl QueueApprover {
    /// `withdrawn` becomes true when a signal ends the wait.
    pub(crate) fn new(withdrawn: Arc<AtomicBool>) -> Self {
        Self { withdrawn }
    }
}

impl Approver for QueueApprover {
    fn channel(&self) -> ApprovalChannel {
        ApprovalChannel::Queue
    }

    fn ask(&self, _: &Question<'_>, queue: &QueueWait) -> Answer {
        let (Ok(interrupts), Some(number)) = (Interrupts::listen(), queue.number()) else {
            return Answer::Unavailable;
        };
        print_note(&format!("question {number} is waiting for an answer: see `shellgate approvals list`"));
        queue.wait(|interval| match interrupts.wait_for_signal(interval) {
            Ok(false) => None,
            Ok(true) => {
                self.withdrawn.store(true, Ordering::Relaxed);
                Some(Answer::Canceled)
            }
            Err(_) => Some(Answer::Unavailable),
        })
    }
}
