//! A request that a person must say yes to.
//!
//! [`Gate::admit`] asks and waits. A front end that has more to do than wait takes it step by step: [`Gate::consider`],
//! [`UnaskedQuestion::post`], then [`PendingQuestion::poll`] for an answer from elsewhere until one is there, and [`PendingQuestion::settle`].

use shellgate_exec::ExecId;
use shellgate_journal::{self as journal, AnswerResult, PersonAnswer, QuestionId};
use tracing::info;

use super::admission::Admitted;
use super::asking::{Approval, Asking, grants, said};
use crate::admit::approval::{
    self, Answer, ApprovalChannel, ApprovedBy, Approver, Choice, Question, Waiting,
};
use crate::admit::inside;
use crate::admit::judge::{self, Verdict};
use crate::answer::report::Report;
use crate::answer::summary::RequestSummary;
use crate::gate::{Gate, Refused};
use crate::intake::request::Request;
use crate::record::{self, ExecutionLog};
use crate::root::Inside;
use crate::{Code, ErrorObject};

/// What the rules made of a request that they don't forbid.
#[derive(Debug)]
pub enum Considered<'a> {
    /// Nobody need be asked.
    Allowed(Box<Admitted<'a>>),
    /// Somebody must say yes.
    NeedsApproval(Box<UnaskedQuestion<'a>>),
}

/// A request that somebody must say yes to. Nobody has been asked.
#[derive(Debug)]
pub struct UnaskedQuestion<'a> {
    pub(super) gate: &'a Gate,
    pub(super) id: ExecId,
    pub(super) request: Request,
    pub(super) directory: Inside,
    pub(super) asked: RequestSummary,
    pub(super) verdict: Verdict,
}

/// A question that lies in the record until somebody answers it, here or there.
#[derive(Debug)]
pub struct PendingQuestion<'a> {
    what: UnaskedQuestion<'a>,
    /// `None`: there is no record, so only we can answer.
    lying: Option<(ExecutionLog, QuestionId)>,
}

impl<'a> UnaskedQuestion<'a> {
    /// Puts the question into the record.
    ///
    /// # Errors
    /// The answer, when it can't be written and must be.
    pub fn post(self) -> Result<PendingQuestion<'a>, Refused> {
        match self.write() {
            Ok(lying) => {
                let question = lying.as_ref().map(|(_, number)| number);
                info!(id = self.asked.id, ?question, "question posted");
                Ok(PendingQuestion { what: self, lying })
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// The answer when nobody can be asked.
    #[must_use]
    pub fn nobody(self) -> Refused {
        self.unaskable("nobody is there to ask")
    }

    /// The answer when nobody is asked, and why.
    #[must_use]
    pub fn unaskable(self, why: &str) -> Refused {
        self.refused(judge::not_approved(Code::ApprovalUnavailable, &self.verdict, why))
    }

    fn write(&self) -> Result<Option<(ExecutionLog, QuestionId)>, ErrorObject> {
        let asking = self.asking();
        let question = asking.question();
        let asked =
            record::asked(question.request, Some(question.verdict), question.root, question.directory);
        let entry = self.gate.recorder.begin(&self.asked.id, question.session, asked, Vec::new())?;
        let Some(entry) = entry else { return Ok(None) };
        let number =
            entry.journal().ask(&self.asked.id, record::question(&question)).map_err(|e| unwritable(&e))?;
        Ok(Some((entry, number)))
    }

    fn asking(&self) -> Asking<'_> {
        self.gate.asking(&self.request, &self.verdict, &self.directory)
    }

    fn refused(&self, error: ErrorObject) -> Refused {
        self.gate.refused(&self.asked, &self.request, Some(&self.verdict), error)
    }
}

impl<'a> PendingQuestion<'a> {
    /// The name that its execution will have.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.what.asked.id
    }

    /// The request that waits.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.what.request
    }

    /// The number by which it can be answered from elsewhere.
    #[must_use]
    pub fn number(&self) -> Option<QuestionId> {
        self.waiting().number()
    }

    /// Shows the question to `look`.
    pub fn with_question<T>(&self, look: impl FnOnce(&Question<'_>) -> T) -> T {
        look(&self.what.asking().question())
    }

    /// The answer that somebody gave elsewhere, if anybody did.
    #[must_use]
    pub fn poll(&self) -> Option<Answer> {
        self.waiting().poll()
    }

    /// What the model is told while nobody has answered: the request as it stands, as job of its own name.
    #[must_use]
    pub fn report(&self) -> Report {
        Report::queued(&self.what.asked)
    }

    /// Asks `approver`, and waits for the answer.
    ///
    /// # Errors
    /// The answer, when it was no.
    pub fn ask(self, approver: &dyn Approver) -> Result<Admitted<'a>, Refused> {
        let channel = approver.channel();
        if !counts(channel) {
            return Err(self.what.refused(self.by_a_command()));
        }
        let answer = self.with_question(|question| approver.ask(question, self.waiting()));
        self.settle(answer, channel)
    }

    /// Goes on with the answer that was given through `channel`. One through [`ApprovalChannel::Queue`] is in the record already.
    /// If somebody else was faster, their answer counts.
    ///
    /// # Errors
    /// The answer, when it was no.
    pub fn settle(self, answer: Answer, channel: ApprovalChannel) -> Result<Admitted<'a>, Refused> {
        if !counts(channel) {
            return Err(self.what.refused(self.by_a_command()));
        }
        let (answer, channel) = match self.written(answer, channel) {
            Ok(counts) => counts,
            Err(error) => return Err(self.what.refused(error)),
        };
        info!(id = self.what.asked.id, answer = name_of(&answer), ?channel, "question answered");
        if let (Answer::Yes(Choice::Always), Some(always)) = (&answer, self.what.asking().always()) {
            self.what.gate.learn(always);
        }
        if let Answer::Yes(_) = answer {
            let Self { what, lying } = self;
            let by = ApprovedBy { who: approval::user(), channel };
            let approval = Approval { by: Some(by), entry: lying.map(|(entry, _)| entry) };
            return Ok(what.approved(approval));
        }
        let why = |code, why: &str| judge::not_approved(code, &self.what.verdict, why);
        Err(self.what.refused(match answer {
            Answer::No(Some(reason)) => why(Code::DeniedByUser, &format!("the user said no: {reason}")),
            Answer::Yes(_) | Answer::No(None) => why(Code::DeniedByUser, "the user said no"),
            Answer::Nobody => why(Code::ApprovalUnavailable, "nobody is there to ask"),
            Answer::TimedOut => why(Code::ApprovalTimeout, "nobody answered in time"),
            Answer::Canceled => {
                ErrorObject::new(Code::Canceled, "the command was canceled before anybody approved it")
            }
        }))
    }

    fn by_a_command(&self) -> ErrorObject {
        let why = "a command that shellgate runs can't approve another";
        judge::not_approved(Code::ApprovalUnavailable, &self.what.verdict, why)
    }

    fn waiting(&self) -> Waiting<'_> {
        Waiting { record: self.lying.as_ref().map(|(entry, number)| (entry.journal(), *number)) }
    }

    /// Writes the answer down. Returns the one that counts, and how it came.
    fn written(
        &self,
        answer: Answer,
        channel: ApprovalChannel,
    ) -> Result<(Answer, ApprovalChannel), ErrorObject> {
        let Some((entry, number)) = &self.lying else { return Ok((answer, channel)) };
        // If somebody else was faster, that counts.
        let counting = |answering: AnswerResult| match answering {
            AnswerResult::Taken(_) => (answer.clone(), channel),
            AnswerResult::TooLate(_) => (self.poll().unwrap_or(Answer::Nobody), ApprovalChannel::Queue),
        };
        match (&answer, channel) {
            (Answer::TimedOut, _) => {
                return entry.journal().time_out(*number).map(counting).map_err(|e| unwritable(&e));
            }
            // A yes from there is one that lies there.
            (Answer::Yes(_), ApprovalChannel::Queue) => {
                return Ok((self.poll().unwrap_or(Answer::Nobody), channel));
            }
            (_, ApprovalChannel::Queue) => return Ok((answer, channel)),
            _ => {}
        }
        let asking = self.what.asking();
        let question = asking.question();
        let Some(choice) = said(&answer, &question) else { return Ok((answer, channel)) };
        if let (Answer::Yes(Choice::Always), Some(always)) = (&answer, question.always) {
            always.write().map_err(|error| {
                let message = format!("`{}` can't be written: {error}", always.file.display());
                ErrorObject::new(Code::Config, message).hint("say yes for this session instead")
            })?;
        }
        let answered = PersonAnswer { choice, by: approval::user(), channel };
        let answering = entry.journal().answer(*number, answered, grants(&answer, &question));
        answering.map(counting).map_err(|e| unwritable(&e))
    }
}

/// The answer for a line of the log: without the words of a person.
const fn name_of(answer: &Answer) -> &'static str {
    match answer {
        Answer::Yes(Choice::Once) => "yes once",
        Answer::Yes(Choice::SessionExact | Choice::SessionPrefix) => "yes for the session",
        Answer::Yes(Choice::Always) => "yes always",
        Answer::No(_) => "no",
        Answer::Nobody => "nobody to ask",
        Answer::TimedOut => "timed out",
        Answer::Canceled => "canceled",
    }
}

/// Whether an answer through this channel is a person's. Below a keeper, whatever terminal or client there is may be the
/// command's own.
fn counts(channel: ApprovalChannel) -> bool {
    channel == ApprovalChannel::Queue || !inside::is_inside()
}

fn unwritable(error: &journal::Error) -> ErrorObject {
    record::unwritable(&error.to_string())
}
