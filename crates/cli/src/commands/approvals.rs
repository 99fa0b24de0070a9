//! `shellgate approvals`: shows and answers waiting questions.

use std::process::ExitCode;

use serde_json::{Value, json};
use shellgate::approval::{Answer, Choice};
use shellgate::inside::{self, RestrictedAction};
use shellgate::journal::{AnswerResult, QuestionId, QueuedQuestion};
use shellgate::{Code, ErrorObject, RecordStore};

use super::history::settled;
use crate::args::{ApprovalScope, ApprovalsCommand};
use crate::error::{self, CliError};
use crate::output;
use crate::prompt::choices::Choices;
use crate::prompt::facts::Facts;
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
        _ => Choice::Once,
    }
}

fn answer(id: QuestionId, answer: &Answer, json: bool) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Answer)?;
    let record = RecordStore::open(None)?;
    match record.answer(id, answer)? {
        AnswerResult::Taken(_) => {
            // Read back what the record has now.
            let words = record.journal().poll_answer(id).map_err(super::unreadable)?;
            match json {
                true => output::print_json(&json!({"id": id, "taken": true, "settled": words})),
                false => {
                    let words = words.as_ref().map(settled).unwrap_or_default();
                    output::print(&format!("question {id}: {words}\n"))
                }
            }
        }
        AnswerResult::TooLate(first) => {
            if json {
                output::print_json(&json!({"id": id, "taken": false, "settled": first}))?;
            } else {
                output::print_message(&format!("question {id} was answered before: {}", settled(&first)));
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
        return output::print_json(&pending.iter().map(facts).collect::<Vec<_>>().into());
    }
    if pending.is_empty() {
        output::print_message("no question is waiting");
    }
    output::print(&pending.iter().map(page).collect::<Vec<_>>().join("\n"))
}

/// A question as the prompt shows it, and the commands that answer it.
fn page(pending: &QueuedQuestion) -> String {
    let QueuedQuestion { id, question, .. } = pending;
    let now = time::now();
    let waits = (now - pending.at) / 1000;
    let left = question.expires_at.map(|end| format!(", {} s left", (end - now).max(0) / 1000));
    let width = table::width().unwrap_or(DEFAULT_COLUMNS);
    let choices = Choices::of_pending(pending);
    let mut lines = vec![format!(
        "\x1b[1mquestion {id}\x1b[0m, waits {waits} s{}: may this run?",
        left.unwrap_or_default()
    )];
    lines.extend(Facts::of_pending(pending).lines(width));
    lines.push("── your answer ──".to_owned());
    for entry in choices.entries() {
        let Some((_, words, _)) = ANSWERS.iter().find(|(key, ..)| *key == entry.key) else { continue };
        let [verb, flag] = words;
        lines.push(format!("shellgate approvals {verb} {id}{flag}"));
        if entry.key == 'a' {
            lines.push("    \x1b[2mrun it, and add these lines to your settings:\x1b[0m".to_owned());
            lines.extend(choices.always_lines(width));
        } else {
            lines.push(format!("    \x1b[2m{}\x1b[0m", entry.meaning));
        }
    }
    lines.join("\n") + "\n"
}

/// Keys of the prompt, the words to type instead of them, and their names in JSON.
const ANSWERS: [(char, [&str; 2], Option<&str>); 6] = [
    ('y', ["approve", ""], Some("once")),
    ('s', ["approve", " --session"], Some("session")),
    ('p', ["approve", " --prefix"], Some("prefix")),
    ('a', ["approve", " --always"], Some("always")),
    ('n', ["deny", ""], None),
    ('r', ["deny", " --reason TEXT"], None),
];

/// The approvals that a question offers, by their names in JSON.
fn choices(pending: &QueuedQuestion) -> Vec<&'static str> {
    let choices = Choices::of_pending(pending);
    ANSWERS.iter().filter(|(key, ..)| choices.offers(*key)).filter_map(|(.., name)| *name).collect()
}

fn facts(pending: &QueuedQuestion) -> Value {
    let QueuedQuestion { id, exec_id, session, at, asked, question } = pending;
    json!({
        "id": id,
        "exec_id": exec_id,
        "session": session,
        "at": time::exact(*at),
        "expires_at": question.expires_at.map(time::exact),
        "command": asked.text,
        "argv": asked.argv,
        "description": asked.description,
        "dialect": asked.dialect,
        "root": asked.root,
        "directory": asked.directory,
        "reasons": asked.verdict.reasons,
        "parts": question.parts,
        "prefixes": question.prefixes,
        "always": question.always,
        "reach": question.reach,
        "env": question.env,
        "input": question.input,
        "background": question.background,
        "choices": choices(pending),
    })
}
