//! The handle for commands that read the record or answer its questions: history, audit, approvals, trust.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use shellgate_exec::StateFolder;
use shellgate_journal::{AnswerResult, Journal, QuestionId, QueuedQuestion};

use super::settle;
use crate::admit::approval::{
    self, Answer, AnswerError, PostedQuestion, QueueWait, WrittenRules, unwritten_text,
};
use crate::admit::inside::{self, RestrictedAction};
use crate::locations::open_state;
use crate::{Code, ErrorObject, Hint, ProjectFile};

/// How long a question is waited for that doesn't say when it ends.
const UNENDING_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The record of this user.
#[derive(Debug)]
pub struct RecordStore {
    pub(super) state: StateFolder,
    pub(super) journal: Arc<Journal>,
}

impl RecordStore {
    /// Opens the record, and settles executions that a crash left open. `state`: the state folder, if not the standard
    /// one.
    ///
    /// # Errors
    /// `config` when the record can't be opened.
    pub fn open(state: Option<PathBuf>) -> Result<Self, ErrorObject> {
        let state = open_state(state)?;
        let journal = Journal::open(state.path()).map_err(|error| journal_error(&error))?;
        // Settling fails when a keeper doesn't answer or the disk is full. The record can still be read, and the
        // next process that opens it settles the rest.
        let _ = settle(&journal, &state);
        Ok(Self { state, journal: Arc::new(journal) })
    }

    /// Opens the journal for verifying: no execution is settled, and no entry written.
    ///
    /// # Errors
    /// When the journal can't be opened, or the file isn't a journal any more.
    pub fn for_audit(state: Option<PathBuf>) -> Result<Journal, shellgate_journal::Error> {
        let state = open_state(state)
            .map_err(|error| shellgate_journal::Error::Unusable { message: error.message })?;
        match Journal::open_read_only(state.path()) {
            // A journal that was never created, or was removed, verifies as an empty one, unless a head was kept.
            Err(shellgate_journal::Error::Absent { .. }) => Journal::open(state.path()),
            opened => opened,
        }
    }

    /// The journal itself.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The state folder.
    #[must_use]
    pub fn state(&self) -> &StateFolder {
        &self.state
    }

    /// Records that a person trusts a project's settings file with its present content. Any change ends the trust.
    ///
    /// # Errors
    /// `config` when it can't be written.
    pub fn trust(&self, file: &ProjectFile) -> Result<(), ErrorObject> {
        inside::refuse(RestrictedAction::Trust)?;
        let trusted = shellgate_journal::TrustedFile {
            path: file.path().display().to_string(),
            sha256: file.sha256(),
            by: approval::user(),
        };
        self.journal.trust(trusted).map(drop).map_err(|error| journal_error(&error))
    }

    /// The questions that wait, oldest first.
    ///
    /// # Errors
    /// `config` when the record can't be read.
    pub fn pending(&self) -> Result<Vec<QueuedQuestion>, ErrorObject> {
        self.journal.pending().map_err(|error| journal_error(&error))
    }

    /// The wait for the answer to a question, for a front end that shows the questions of others.
    #[must_use]
    pub fn wait_for(&self, queued: &QueuedQuestion) -> QueueWait {
        // A question of an older version may have no end. Its asker closes it.
        let left = queued.question.expires_at.map(|end| u64::try_from(end - super::now()).unwrap_or(0));
        let left = left.map_or(UNENDING_WAIT, Duration::from_millis);
        QueueWait::new(Some((Arc::clone(&self.journal), queued.id)), left)
    }

    /// Closes the questions whose askers are gone.
    ///
    /// # Errors
    /// `config` when the record can't be written.
    pub fn expire_questions(&self) -> Result<(), ErrorObject> {
        super::expire_questions(&self.journal).map_err(|error| journal_error(&error))
    }

    /// Answers a question. The first answer counts; a later one is told how the question was closed.
    ///
    /// # Errors
    /// `unknown_job` when there is no such question, `invalid_input` when the question doesn't offer this answer, `config`
    /// when the answer can't be written, or when it counts and the settings of an "always" can't be written.
    pub fn answer(&self, id: QuestionId, answer: &Answer) -> Result<AnswerResult, ErrorObject> {
        self.answer_and_tell(id, answer).map(|given| given.result)
    }

    /// Answers a question as [`answer`](Self::answer) does, and says which rules an "always" has written.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn answer_and_tell(&self, id: QuestionId, answer: &Answer) -> Result<GivenAnswer, ErrorObject> {
        inside::refuse(RestrictedAction::Answer)?;
        let pending = self.pending()?.into_iter().find(|pending| pending.id == id);
        let Some(pending) = pending else {
            // Perhaps it was answered a moment ago: then say how.
            let settled = match self.journal.poll_answer(id) {
                Err(shellgate_journal::Error::UnknownQuestion(_)) => None,
                settled => settled.map_err(|error| journal_error(&error))?,
            };
            let given = |settled| GivenAnswer { result: AnswerResult::TooLate(settled), written: None };
            return settled.map(given).ok_or_else(|| {
                ErrorObject::new(Code::UnknownJob, format!("no question {id} is pending"))
                    .hint(Hint::ListQuestions)
            });
        };
        let posted = PostedQuestion {
            journal: &self.journal,
            number: id,
            exec_id: &pending.exec_id,
            question: &pending.question,
            root: &pending.asked.root,
            directory: &pending.asked.directory,
        };
        let answered =
            posted.answer(answer, approval::ApprovalChannel::Queue).map_err(|error| match error {
                AnswerError::NotOffered(what) => {
                    ErrorObject::invalid(format!("question {id} doesn't offer {what}"))
                        .hint("approve it once, or for this session exactly")
                }
                AnswerError::Journal(error) => journal_error(&error),
            })?;
        match answered.unwritten {
            Some(unwritten) => {
                let message = format!("question {id} was approved once: {}", unwritten_text(&unwritten));
                Err(ErrorObject::new(Code::Config, message))
            }
            None => Ok(GivenAnswer { result: answered.result, written: answered.written }),
        }
    }
}

/// What became of an answer.
#[derive(Debug)]
pub struct GivenAnswer {
    /// Whether it counts.
    pub result: AnswerResult,
    /// The rules that an "always" has written.
    pub written: Option<WrittenRules>,
}

/// The error for a journal that can't be read or written.
pub(super) fn journal_error(error: &shellgate_journal::Error) -> ErrorObject {
    ErrorObject::new(Code::Config, error.to_string())
        .hint("look at the state folder, which SHELLGATE_HOME names")
}
