//! The queue: questions lie in the record until somebody at another terminal answers.

use std::time::{Duration, Instant};

use shellgate_journal::{QuestionId, QuestionOutcome, RecordedChoice};

use super::{Answer, ApprovalChannel, Approver, Choice, Question, Waiting};

/// How often the record is looked at. A look costs some microseconds; an answer is seen well within a tenth of a second.
const LOOK: Duration = Duration::from_millis(25);

/// Waits for an answer from elsewhere.
#[derive(Debug)]
pub struct QueueApprover;

impl Approver for QueueApprover {
    fn channel(&self) -> ApprovalChannel {
        ApprovalChannel::Queue
    }

    fn ask(&self, question: &Question<'_>, waiting: Waiting<'_>) -> Answer {
        let until = Instant::now() + question.timeout;
        loop {
            if let Some(answer) = waiting.poll() {
                return answer;
            }
            if Instant::now() >= until {
                return Answer::TimedOut;
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Waiting<'_> {
    /// The number of the question, by which it can be answered from elsewhere.
    #[must_use]
    pub fn number(&self) -> Option<QuestionId> {
        self.record.map(|(_, id)| id)
    }

    /// The answer that somebody gave in the record, if anybody did.
    #[must_use]
    pub fn poll(&self) -> Option<Answer> {
        let (journal, id) = self.record?;
        // A record that can't be read is nobody who says yes.
        let Ok(settled) = journal.poll_answer(id) else { return Some(Answer::Nobody) };
        Some(match settled? {
            QuestionOutcome::Answered(answered) => match answered.choice {
                RecordedChoice::Once => Answer::Yes(Choice::Once),
                RecordedChoice::SessionExact => Answer::Yes(Choice::SessionExact),
                RecordedChoice::SessionPrefix(_) => Answer::Yes(Choice::SessionPrefix),
                RecordedChoice::Always(_) => Answer::Yes(Choice::Always),
                RecordedChoice::No => Answer::No(None),
                RecordedChoice::NoBecause(reason) => Answer::No(Some(reason)),
            },
            QuestionOutcome::TimedOut => Answer::TimedOut,
            QuestionOutcome::AskerGone => Answer::Nobody,
            QuestionOutcome::Canceled => Answer::Canceled,
        })
    }
}
