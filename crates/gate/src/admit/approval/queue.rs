//! The queue: questions wait in the record until a person at another terminal answers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use shellgate_journal::{
    Journal, PersonAnswer, QuestionId, QuestionOutcome, RecordedChoice, UnwrittenSettings,
};

use super::{Answer, ApprovalChannel, Approver, Choice, Question};

/// A question's wait for its answer. Every front end waits through this type.
///
/// A front end that can block calls [`wait`](Self::wait). One that can't calls [`check`](Self::check) every
/// [`POLL_INTERVAL`](Self::POLL_INTERVAL). Both read the journal, which another process may have locked for a moment.
#[derive(Clone, Debug)]
pub struct QueueWait {
    /// `None`: there is no record, so only the front end itself can bring an answer.
    record: Option<(Arc<Journal>, QuestionId)>,
    deadline: Instant,
}

impl QueueWait {
    /// How often to check. A check takes some microseconds.
    pub const POLL_INTERVAL: Duration = Duration::from_millis(25);

    pub(crate) fn new(record: Option<(Arc<Journal>, QuestionId)>, timeout: Duration) -> Self {
        Self { record, deadline: Instant::now() + timeout }
    }

    /// The number of the question, by which another terminal can answer it.
    #[must_use]
    pub fn number(&self) -> Option<QuestionId> {
        self.record.as_ref().map(|(_, number)| *number)
    }

    /// How much time is left. Without an answer by then, the question times out.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The answer in the record, if there is one.
    #[must_use]
    pub fn recorded_answer(&self) -> Option<Answer> {
        let (journal, number) = self.record.as_ref()?;
        // A record that can't be read never approves.
        let Ok(outcome) = journal.poll_answer(*number) else { return Some(Answer::Unavailable) };
        Some(match outcome? {
            QuestionOutcome::Answered(answered) => match answered.choice {
                RecordedChoice::Once | RecordedChoice::AlwaysUnwritten(_) => Answer::Yes(Choice::Once),
                RecordedChoice::SessionExact => Answer::Yes(Choice::SessionExact),
                RecordedChoice::SessionPrefix(_) => Answer::Yes(Choice::SessionPrefix),
                RecordedChoice::Always(_) => Answer::Yes(Choice::Always),
                RecordedChoice::No => Answer::No(None),
                RecordedChoice::NoBecause(reason) => Answer::No(Some(reason)),
            },
            QuestionOutcome::TimedOut => Answer::TimedOut,
            QuestionOutcome::AskerGone => Answer::Unavailable,
            QuestionOutcome::Canceled => Answer::Canceled,
        })
    }

    /// The settings that an "always" in the record could not write.
    pub(crate) fn unwritten_settings(&self) -> Option<UnwrittenSettings> {
        let (journal, number) = self.record.as_ref()?;
        match journal.poll_answer(*number).ok()?? {
            QuestionOutcome::Answered(PersonAnswer {
                choice: RecordedChoice::AlwaysUnwritten(unwritten),
                ..
            }) => Some(unwritten),
            _ => None,
        }
    }

    /// The answer in the record, or that the time is over. `None`: the question still waits.
    #[must_use]
    pub fn check(&self) -> Option<Answer> {
        self.recorded_answer().or_else(|| self.time_left().is_zero().then_some(Answer::TimedOut))
    }

    /// Waits for the answer. Between two checks it calls `pause`, which sleeps for the given time, or ends the wait earlier
    /// with an answer of its own.
    #[must_use]
    pub fn wait(&self, mut pause: impl FnMut(Duration) -> Option<Answer>) -> Answer {
        loop {
            let answer = self.check().or_else(|| pause(Self::POLL_INTERVAL.min(self.time_left())));
            if let Some(answer) = answer {
                return answer;
            }
        }
    }
}

/// Waits for an answer in the queue.
#[derive(Debug)]
pub struct QueueApprover;

impl Approver for QueueApprover {
    fn channel(&self) -> ApprovalChannel {
        ApprovalChannel::Queue
    }

    fn ask(&self, _: &Question<'_>, queue: &QueueWait) -> Answer {
        queue.wait(|interval| {
            std::thread::sleep(interval);
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_the_front_ends_answer_or_with_its_time() {
        let wait = QueueWait::new(None, Duration::from_secs(3600));
        let mut pauses = 0;
        let answer = wait.wait(|interval| {
            assert_eq!(interval, QueueWait::POLL_INTERVAL);
            pauses += 1;
            (pauses == 3).then_some(Answer::Canceled)
        });
        assert_eq!((answer, wait.check()), (Answer::Canceled, None));
        let over = QueueWait::new(None, Duration::ZERO);
        assert_eq!(over.wait(|_| panic!("there is no time left")), Answer::TimedOut);
    }
}
