//! A request that a person must approve.
//!
//! [`Gate::admit`] asks and waits. A front end that can't wait takes it step by step: [`Gate::consider`],
//! [`UnaskedQuestion::post`], [`PendingQuestion::queue_wait`] for an answer from another terminal, and
//! [`PendingQuestion::settle`] with the answer.

use std::sync::Arc;

use shellgate_exec::ExecId;
use shellgate_journal::{AnswerResult, QuestionId, RecordedQuestion, UnwrittenSettings};
use tracing::info;

use super::admission::Admitted;
use super::asking::{Approval, Asking};
use super::trial::TrialState;
use crate::admit::approval::{
    self, Answer, AnswerError, Answered, ApprovalChannel, ApprovedBy, Approver, Choice, PostedQuestion,
    Question, QueueWait, WrittenRules, unwritten_text,
};
use crate::admit::inside;
use crate::admit::judge::{self, Verdict};
use crate::answer::report::Report;
use crate::answer::summary::RequestSummary;
use crate::gate::{Gate, Refused};
use crate::intake::request::Request;
use crate::record::{self, ExecutionLog};
use crate::root::WorkingDirectory;
use crate::{Code, ErrorObject, Hint};

/// Why a question has no answer when no person can be asked.
const NO_PERSON: &str = "no person can be asked";

/// A request that the rules don't forbid.
#[derive(Debug)]
pub enum Considered<'a> {
    /// It may run.
    Allowed(Box<Admitted<'a>>),
    /// A person must approve it first.
    NeedsApproval(Box<UnaskedQuestion<'a>>),
}

/// A request that a person must approve. The question is not in the record yet.
#[derive(Debug)]
pub struct UnaskedQuestion<'a> {
    pub(super) gate: &'a Gate,
    pub(super) id: ExecId,
    pub(super) request: Request,
    pub(super) directory: WorkingDirectory,
    pub(super) asked: RequestSummary,
    pub(super) verdict: Verdict,
    pub(super) trial: TrialState,
}

/// A question that waits for an answer, from this front end or from another terminal.
#[derive(Debug)]
pub struct PendingQuestion<'a> {
    unasked: UnaskedQuestion<'a>,
    /// Its entry in the record. `None`: there is no record, so only this front end can bring the answer.
    entry: Option<QuestionEntry>,
    queue: QueueWait,
}

/// The answer that counts.
struct CountingAnswer {
    answer: Answer,
    channel: ApprovalChannel,
    /// The settings that an "always" could not write.
    unwritten: Option<UnwrittenSettings>,
    /// The rules that an "always" has written.
    written: Option<WrittenRules>,
}

/// A question's entry in the record.
#[derive(Debug)]
struct QuestionEntry {
    log: ExecutionLog,
    number: QuestionId,
    question: RecordedQuestion,
}

impl<'a> UnaskedQuestion<'a> {
    /// Puts the question into the record.
    ///
    /// # Errors
    /// The refusal, when the question can't be written although a record is required.
    pub fn post(self) -> Result<PendingQuestion<'a>, Refused> {
        match self.write() {
            Ok(entry) => {
                let record = entry.as_ref().map(|entry| (Arc::clone(entry.log.journal()), entry.number));
                info!(id = self.asked.id, question = ?entry.as_ref().map(|entry| entry.number), "question posted");
                let queue = QueueWait::new(record, self.gate.approval_timeout());
                Ok(PendingQuestion { unasked: self, entry, queue })
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// The refusal when there is no approver, so no person can be asked.
    #[must_use]
    pub fn no_approver(self) -> Refused {
        self.unaskable(NO_PERSON)
    }

    /// The refusal when no person is asked. `why`: the reason.
    #[must_use]
    pub fn unaskable(self, why: &str) -> Refused {
        self.refused(judge::not_approved(Code::ApprovalUnavailable, &self.verdict, why))
    }

    fn write(&self) -> Result<Option<QuestionEntry>, ErrorObject> {
        let asking = self.asking();
        let question = asking.question();
        let asked =
            record::asked(question.request, Some(question.verdict), question.root, question.directory);
        let log = self.gate.recorder.begin(&self.asked.id, question.session, asked, Vec::new())?;
        let Some(log) = log else { return Ok(None) };
        let question = record::question(&question);
        let number = log
            .journal()
            .ask(&self.asked.id, question.clone())
            .map_err(|error| record::unwritable(&error))?;
        Ok(Some(QuestionEntry { log, number, question }))
    }

    fn asking(&self) -> Asking<'_> {
        let asking = self.gate.asking(&self.request, &self.verdict, &self.directory);
        asking.after_trial(self.gate, self.trial.tried())
    }

    fn refused(&self, error: ErrorObject) -> Refused {
        self.gate.refused(&self.asked, &self.request, Some(&self.verdict), error)
    }
}

impl<'a> PendingQuestion<'a> {
    /// The id that its execution will have.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.unasked.asked.id
    }

    /// The request that waits.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.unasked.request
    }

    /// The wait for an answer from another terminal.
    #[must_use]
    pub fn queue_wait(&self) -> &QueueWait {
        &self.queue
    }

    /// Shows the question to `look`.
    pub fn with_question<T>(&self, look: impl FnOnce(&Question<'_>) -> T) -> T {
        look(&self.unasked.asking().question())
    }

    /// The answer to the call while the question waits. It names the id that the execution will have.
    #[must_use]
    pub fn report(&self) -> Report {
        Report::queued(&self.unasked.asked)
    }

    /// Asks `approver`, and waits for the answer.
    ///
    /// # Errors
    /// The refusal, when the answer was no.
    pub fn ask(self, approver: &dyn Approver) -> Result<Admitted<'a>, Refused> {
        let channel = approver.channel();
        if !counts(channel) {
            return Err(self.unasked.refused(self.by_a_command()));
        }
        let answer = self.with_question(|question| approver.ask(question, &self.queue));
        self.settle(answer, channel)
    }

    /// Settles the question with the answer that came through `channel`. An answer through [`ApprovalChannel::Queue`] is in
    /// the record already. If the record has another person's answer, that one counts.
    ///
    /// # Errors
    /// The refusal, when the answer was no.
    pub fn settle(self, answer: Answer, channel: ApprovalChannel) -> Result<Admitted<'a>, Refused> {
        if !counts(channel) {
            return Err(self.unasked.refused(self.by_a_command()));
        }
        let CountingAnswer { answer, channel, unwritten, written } = match self.record(answer, channel) {
            Ok(counts) => counts,
            Err(error) => return Err(self.unasked.refused(error)),
        };
        let unwritten = unwritten.or_else(|| self.queue.unwritten_settings());
        info!(id = self.unasked.asked.id, answer = name_of(&answer), ?channel, "question answered");
        if let Answer::Yes(Choice::Always | Choice::AlwaysExact) = answer {
            // The record doesn't say which of the two rules a person at another terminal chose. Only the one that is in the
            // settings counts.
            self.unasked.asking().all_always().for_each(|always| self.unasked.gate.learn(always));
        }
        if let Answer::Yes(_) = answer {
            let Self { unasked, entry, .. } = self;
            let remark = unwritten.as_ref().map(unwritten_text);
            let by = ApprovedBy { who: approval::user(), channel, remark };
            let approval = Approval { by: Some(by), entry: entry.map(|entry| entry.log), written };
            return Ok(unasked.approved(approval));
        }
        let why = |code, why: &str| judge::not_approved(code, &self.unasked.verdict, why);
        Err(self.unasked.refused(match answer {
            // A person has decided. The rule's own hint would have the model ask for other rules.
            Answer::No(Some(reason)) => {
                why(Code::DeniedByUser, &format!("the user said no: {reason}")).hint(Hint::UserSaidNo)
            }
            Answer::Yes(_) | Answer::No(None) => {
                why(Code::DeniedByUser, "the user said no").hint(Hint::UserSaidNo)
            }
            Answer::Unavailable => why(Code::ApprovalUnavailable, NO_PERSON),
            Answer::TimedOut => why(Code::ApprovalTimeout, "no person answered in time"),
            Answer::Canceled => {
                ErrorObject::new(Code::Canceled, "the command was canceled before a person approved it")
            }
        }))
    }

    fn by_a_command(&self) -> ErrorObject {
        let why = "a command that shellgate runs can't approve another";
        judge::not_approved(Code::ApprovalUnavailable, &self.unasked.verdict, why)
    }

    /// Records the answer. Returns the one that counts.
    fn record(&self, answer: Answer, channel: ApprovalChannel) -> Result<CountingAnswer, ErrorObject> {
        let counts = |answer, channel| CountingAnswer { answer, channel, unwritten: None, written: None };
        let Some(entry) = &self.entry else {
            let (written, unwritten) = self.write_always(&answer);
            return Ok(CountingAnswer { written, unwritten, ..counts(answer, channel) });
        };
        let recorded = || self.queue.recorded_answer().unwrap_or(Answer::Unavailable);
        let result = match (&answer, channel) {
            (Answer::TimedOut, _) => {
                entry.log.journal().time_out(entry.number).map_err(|error| record::unwritable(&error))?
            }
            // Only a yes that is in the record counts.
            (Answer::Yes(_), ApprovalChannel::Queue) => return Ok(counts(recorded(), channel)),
            (_, ApprovalChannel::Queue) | (Answer::Unavailable | Answer::Canceled, _) => {
                return Ok(counts(answer, channel));
            }
            (Answer::Yes(_) | Answer::No(_), _) => {
                let posted = PostedQuestion {
                    journal: entry.log.journal(),
                    number: entry.number,
                    exec_id: &self.unasked.asked.id,
                    question: &entry.question,
                    root: &self.unasked.gate.root().display().to_string(),
                    directory: self.unasked.directory.shown(),
                };
                let answered = posted.answer(&answer, channel).map_err(answer_error)?;
                if let Answered { unwritten: unwritten @ Some(_), .. } = answered {
                    return Ok(CountingAnswer { unwritten, ..counts(Answer::Yes(Choice::Once), channel) });
                }
                if let Answered { written: written @ Some(_), .. } = answered {
                    return Ok(CountingAnswer { written, ..counts(answer, channel) });
                }
                answered.result
            }
        };
        Ok(match result {
            AnswerResult::Taken(_) => counts(answer, channel),
            AnswerResult::TooLate(_) => counts(recorded(), ApprovalChannel::Queue),
        })
    }

    /// Writes "always" to the settings where there is no record: then the answer counts at once. Returns the rules that were
    /// written, or the settings that could not be written.
    fn write_always(&self, answer: &Answer) -> (Option<WrittenRules>, Option<UnwrittenSettings>) {
        let Some(always) = self.unasked.asking().always(answer) else { return (None, None) };
        match always.write() {
            Ok(written) => (Some(written), None),
            Err(error) => (None, Some(always.unwritten(&error))),
        }
    }
}

/// The answer's name for the log, without the text that a person wrote.
const fn name_of(answer: &Answer) -> &'static str {
    match answer {
        Answer::Yes(Choice::Once) => "yes once",
        Answer::Yes(Choice::SessionExact | Choice::SessionPrefix) => "yes for the session",
        Answer::Yes(Choice::Always | Choice::AlwaysExact) => "yes always",
        Answer::No(_) => "no",
        Answer::Unavailable => "no person to ask",
        Answer::TimedOut => "timed out",
        Answer::Canceled => "canceled",
    }
}

/// Whether an answer through this channel is a person's. Inside a command that shellgate runs, a terminal or a client may be
/// the command's own.
fn counts(channel: ApprovalChannel) -> bool {
    channel == ApprovalChannel::Queue || !inside::is_inside()
}

fn answer_error(error: AnswerError) -> ErrorObject {
    match error {
        AnswerError::NotOffered(what) => ErrorObject::invalid(format!("the question doesn't offer {what}")),
        AnswerError::Journal(error) => record::unwritable(&error),
    }
}
