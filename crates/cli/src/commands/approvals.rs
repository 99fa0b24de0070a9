//! `shellgate approvals`: shows and answers waiting questions, and lists and ends approvals for sessions.

mod grants;
mod watch;

use std::process::ExitCode;

use serde_json::json;
use shellgate::approval::{Answer, Choice};
use shellgate::inside::{self, RestrictedAction};
use shellgate::journal::{AnswerResult, QuestionId, QueuedQuestion};
use shellgate::text::{Style, StyledLine};
use shellgate::views::{AnswerKind, QuestionView, QueuedQuestionView, outcome_text};
use shellgate::{Code, ErrorObject, GivenAnswer, RecordStore};

use crate::args::{ApprovalScope, ApprovalsCommand};
use crate::error::{self, CliError};
use crate::output;
use crate::{table, time};

/// Columns of the page when standard output is not a terminal.
const DEFAULT_COLUMNS: usize = 80;

pub(super) fn approvals(command: ApprovalsCommand) -> ExitCode {
    error::finish(match command {
        ApprovalsCommand::List { id, shown } => {
            output::choose_color(shown.color);
            list(id, shown.json)
        }
        ApprovalsCommand::Approve { id, reach, shown } => {
            output::choose_color(shown.color);
            answer(id, &Answer::Yes(choice(reach)), shown.json)
        }
        ApprovalsCommand::Grants { session, shown } => {
            output::choose_color(shown.color);
            grants::list(session.as_deref(), shown.json)
        }
        ApprovalsCommand::Revoke { id, shown } => {
            output::choose_color(shown.color);
            grants::revoke(id, shown.json)
        }
        ApprovalsCommand::Watch { shown } => {
            output::choose_color(shown.color);
            watch::watch(shown.json)
        }
        ApprovalsCommand::Deny { id, reason, shown } => {
            output::choose_color(shown.color);
            answer(id, &Answer::No(reason), shown.json)
        }
    })
}

fn choice(reach: ApprovalScope) -> Choice {
    match reach {
        ApprovalScope { session: true, .. } => Choice::SessionExact,
        ApprovalScope { prefix: true, .. } => Choice::SessionPrefix,
        ApprovalScope { always: true, .. } => Choice::Always,
        ApprovalScope { always_exact: true, .. } => Choice::AlwaysExact,
        _ => Choice::Once,
    }
}

fn answer(id: QuestionId, answer: &Answer, json: bool) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Answer)?;
    let record = RecordStore::open(None)?;
    let GivenAnswer { result, written } = record.answer_and_tell(id, answer)?;
    match result {
        AnswerResult::Taken(_) => {
            // Read back what the record has now.
            let words = record.journal().poll_answer(id).map_err(super::unreadable)?;
            if json {
                let places = written.map(|written| written.places);
                let answered = json!({"id": id, "taken": true, "settled": words, "rules": places});
                return output::print_json(&answered);
            }
            let words = words.as_ref().map(outcome_text).unwrap_or_default();
            output::print(&format!("question {id}: {words}\n"))?;
            match written {
                Some(written) => output::print(&format!("{}\n", output::escape(&written.way_back()))),
                None => Ok(()),
            }
        }
        AnswerResult::TooLate(first) => {
            if json {
                output::print_json(&json!({"id": id, "taken": false, "settled": first}))?;
            } else {
                output::print_message(&format!(
                    "question {id} was answered before: {}",
                    outcome_text(&first)
                ));
            }
            Err(CliError::Reported(error::TOO_LATE))
        }
    }
}

/// Lists the waiting questions, or only the one with this number.
fn list(id: Option<QuestionId>, json: bool) -> Result<(), CliError> {
    let mut pending = RecordStore::open(None)?.pending()?;
    if let Some(id) = id {
        pending.retain(|pending| pending.id == id);
        if pending.is_empty() {
            return Err(ErrorObject::new(Code::UnknownJob, format!("no question {id} is waiting")).into());
        }
    }
    if json {
        return output::print_json(&json!(pending.iter().map(QueuedQuestionView::of).collect::<Vec<_>>()));
    }
    if pending.is_empty() {
        output::print_message("no question is waiting");
    }
    for (number, queued) in pending.iter().enumerate() {
        output::print(if number == 0 { "" } else { "\n" })?;
        output::print_lines(&page(queued))?;
    }
    Ok(())
}

/// A question as the prompt shows it, and the commands that answer it.
fn page(queued: &QueuedQuestion) -> Vec<StyledLine> {
    let QueuedQuestion { id, question, .. } = queued;
    let now = time::now();
    let waits = (now - queued.at) / 1000;
    let left = question.expires_at.map(|end| format!(", {} s left", (end - now).max(0) / 1000));
    let width = table::width().unwrap_or(DEFAULT_COLUMNS);
    let view = QuestionView::of_queued(queued);
    let title = format!(", waits {waits} s{}: may this run?", left.unwrap_or_default());
    let mut lines =
        vec![StyledLine::new().with(Style::Strong, format!("question {id}")).with(Style::Plain, title)];
    lines.extend(view.lines(width));
    lines.push("── your answer ──".into());
    for answer in view.answers() {
        lines.push(format!("shellgate approvals {}", command(answer.kind, *id)).into());
        let always = view.settings_change(answer.kind);
        let meaning = match always {
            Some(_) => "run it, and add these lines to your settings:",
            None => &answer.meaning,
        };
        lines.push(StyledLine::from("    ").with(Style::Faint, meaning));
        lines.extend(always.into_iter().flat_map(|always| always.lines(width)));
    }
    lines
}

/// What to type after `shellgate approvals` to give an answer.
fn command(kind: AnswerKind, id: QuestionId) -> String {
    match kind {
        AnswerKind::Once => format!("approve {id}"),
        AnswerKind::Session => format!("approve {id} --session"),
        AnswerKind::Prefix => format!("approve {id} --prefix"),
        AnswerKind::Always => format!("approve {id} --always"),
        AnswerKind::AlwaysExact => format!("approve {id} --always-exact"),
        AnswerKind::No => format!("deny {id}"),
        AnswerKind::NoBecause => format!("deny {id} --reason TEXT"),
    }
}
