//! Questions that wait for a person's answer.
//!
//! A question is an entry, and so is its answer. The table `questions` only says which entry answers which. Looking for an
//! answer and appending one happen in one transaction, so of two answers at the same time the first counts, and the second
//! is told so.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::body::{
    EntryBody, EntryKind, Millis, PersonAnswer, ProcessIdentity, QuestionId, QuestionOutcome, RecordedAnswer,
    RecordedQuestion, RecordedRequest, SessionGrant,
};
use crate::chain::Writer;
use crate::entry::{COLUMNS, EntryRow};
use crate::error::Error;
use crate::execution::{append, set_last_entry};
use crate::hash::Head;
use crate::journal::Journal;

/// Whether an answer counts.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerResult {
    /// It counts.
    Taken(Head),
    /// It doesn't: the question was closed before, like this.
    TooLate(QuestionOutcome),
}

/// A question that waits, with everything that a person needs in order to decide.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedQuestion {
    /// Its number.
    pub id: QuestionId,
    /// The execution that waits for it.
    pub exec_id: String,
    /// The session of that execution.
    pub session: String,
    /// When it was asked.
    pub at: Millis,
    /// The request.
    pub asked: RecordedRequest,
    /// The question.
    pub question: RecordedQuestion,
}

/// What is known of the process that asked a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskerState {
    /// It waits for the answer.
    Alive,
    /// It can't be seen from here.
    Unknown,
    /// It has ended.
    Gone,
}

impl Journal {
    /// Puts a question into the queue. It stays there until it is closed or its execution ends.
    ///
    /// # Errors
    /// When the execution isn't known or has ended, or the entry can't be written.
    pub fn ask(&self, id: &str, question: RecordedQuestion) -> Result<QuestionId, Error> {
        self.write(|writer| {
            let head = append(writer, id, &EntryBody::Question(question))?;
            let insert = "INSERT INTO questions (id, seq, exec_id) VALUES (?1, ?1, ?2)";
            writer.connection.prepare_cached(insert)?.execute(params![head.seq, id])?;
            Ok(QuestionId(head.seq))
        })
    }

    /// Records a person's answer, with the grants for later calls that it gives. The first answer counts.
    ///
    /// # Errors
    /// When the journal has no such question, or the entries can't be written.
    pub fn answer(
        &self,
        id: QuestionId,
        answer: PersonAnswer,
        grants: Vec<SessionGrant>,
    ) -> Result<AnswerResult, Error> {
        self.write(|writer| {
            let result = close(writer, id, QuestionOutcome::Answered(answer))?;
            if let AnswerResult::Taken(_) = result {
                crate::grants::grant(writer, id, grants)?;
                return Ok(AnswerResult::Taken(writer.head()));
            }
            Ok(result)
        })
    }

    /// Takes a question out of the queue without an answer.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn cancel(&self, id: QuestionId) -> Result<AnswerResult, Error> {
        self.write(|writer| close(writer, id, QuestionOutcome::Canceled))
    }

    /// Takes a question out of the queue because no answer came in time.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn time_out(&self, id: QuestionId) -> Result<AnswerResult, Error> {
        self.write(|writer| close(writer, id, QuestionOutcome::TimedOut))
    }

    /// How a question was closed; `None` while it waits. Takes some microseconds, so it may be called every few
    /// milliseconds. To sleep until something was written, watch the file `journal.db-wal`.
    ///
    /// # Errors
    /// When the journal has no such question, or can't be read.
    pub fn poll_answer(&self, id: QuestionId) -> Result<Option<QuestionOutcome>, Error> {
        self.read(|connection| {
            // Pruning may move the answer to another entry between two statements.
            let snapshot = connection.unchecked_transaction()?;
            find_row(&snapshot, id)?.answer.map(|answer| read_outcome(&snapshot, answer)).transpose()
        })
    }

    /// The questions that wait, oldest first.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub fn pending(&self) -> Result<Vec<QueuedQuestion>, Error> {
        let connection = self.reader()?;
        // All statements see the same state.
        let snapshot = connection.unchecked_transaction()?;
        let mut statement =
            snapshot.prepare("SELECT id, seq FROM questions WHERE answer IS NULL ORDER BY id")?;
        let rows = statement.query_map([], |row| Ok((QuestionId(row.get(0)?), row.get(1)?)))?;
        rows.map(|row| row.map_err(Error::from).and_then(|(id, seq)| load(&snapshot, id, seq))).collect()
    }

    /// Closes the questions whose asker is gone, and those that expire at `now` or before and whose asker can't be seen. Returns
    /// them. An asker that lives stops waiting by itself, and measures the time that it waits: the clock may have been set.
    ///
    /// # Errors
    /// When the journal can't be read or written.
    pub fn expire(
        &self,
        now: Millis,
        state_of: impl Fn(&ProcessIdentity) -> AskerState,
    ) -> Result<Vec<(QuestionId, QuestionOutcome)>, Error> {
        let mut closed = Vec::new();
        for QueuedQuestion { id, question, .. } in self.pending()? {
            let is_late = question.expires_at.is_some_and(|end| end <= now);
            let outcome = match state_of(&question.asker) {
                AskerState::Alive => continue,
                _ if is_late => QuestionOutcome::TimedOut,
                AskerState::Unknown => continue,
                AskerState::Gone => QuestionOutcome::AskerGone,
            };
            // An answer that came in the meantime counts.
            if let AnswerResult::Taken(_) = self.write(|writer| close(writer, id, outcome.clone()))? {
                closed.push((id, outcome));
            }
        }
        Ok(closed)
    }
}

/// Cancels the questions of an execution that has ended.
pub(crate) fn cancel_all(writer: &mut Writer<'_>, exec_id: &str) -> Result<(), Error> {
    let waiting = {
        let mut select = writer
            .connection
            .prepare_cached("SELECT id FROM questions WHERE answer IS NULL AND exec_id = ?")?;
        let rows = select.query_map([exec_id], |row| row.get(0).map(QuestionId))?;
        rows.collect::<Result<Vec<_>, _>>()?
    };
    for id in waiting {
        close(writer, id, QuestionOutcome::Canceled)?;
    }
    Ok(())
}

fn close(writer: &mut Writer<'_>, id: QuestionId, how: QuestionOutcome) -> Result<AnswerResult, Error> {
    let QuestionRow { seq, answer } = find_row(writer.connection, id)?;
    if let Some(answer) = answer {
        return read_outcome(writer.connection, answer).map(AnswerResult::TooLate);
    }
    let question = read_entry(writer.connection, seq)?;
    let exec_id = question.exec_id.as_deref();
    let answer = RecordedAnswer { question: id, question_hash: question.hash, settled: how };
    let head = writer.append_body(exec_id, question.session.as_deref(), &EntryBody::Answer(answer))?;
    let update = "UPDATE questions SET answer = ? WHERE id = ?";
    writer.connection.prepare_cached(update)?.execute([head.seq, id.0])?;
    set_last_entry(writer, exec_id.unwrap_or_default(), None, head.seq)?;
    Ok(AnswerResult::Taken(head))
}

/// A row of `questions`: the numbers of the entries that ask and answer.
struct QuestionRow {
    seq: u64,
    answer: Option<u64>,
}

fn find_row(connection: &Connection, id: QuestionId) -> Result<QuestionRow, Error> {
    let mut select = connection.prepare_cached("SELECT seq, answer FROM questions WHERE id = ?")?;
    let found = select.query_row([id.0], |row| Ok(QuestionRow { seq: row.get(0)?, answer: row.get(1)? }));
    found.optional()?.ok_or(Error::UnknownQuestion(id))
}

/// How a question was closed, from the entry of its answer.
fn read_outcome(connection: &Connection, answer: u64) -> Result<QuestionOutcome, Error> {
    match read_entry(connection, answer)?.parse_body()? {
        Some(EntryBody::Answer(answer)) => Ok(answer.settled),
        _ => Err(Error::damaged(format_args!("entry {answer} is not an answer"))),
    }
}

pub(crate) fn read_entry(connection: &Connection, seq: u64) -> Result<EntryRow, Error> {
    let select = format!("SELECT {COLUMNS} FROM entries WHERE seq = ?");
    Ok(connection.prepare_cached(&select)?.query_row([seq], EntryRow::read)?)
}

fn load(connection: &Connection, id: QuestionId, seq: u64) -> Result<QueuedQuestion, Error> {
    let raw = read_entry(connection, seq)?;
    let exec_id = raw.exec_id.clone().unwrap_or_default();
    let select = format!("SELECT {COLUMNS} FROM entries WHERE exec_id = ? AND kind = ?");
    let asked =
        connection.prepare_cached(&select)?.query_row(params![exec_id, EntryKind::Asked], EntryRow::read)?;
    match (asked.parse_body()?, raw.parse_body()?) {
        (Some(EntryBody::Asked(asked)), Some(EntryBody::Question(question))) => {
            let session = raw.session.clone().unwrap_or_default();
            Ok(QueuedQuestion { id, exec_id, session, at: raw.at, asked, question })
        }
        _ => Err(Error::damaged(format_args!("question {id} has no content"))),
    }
}
