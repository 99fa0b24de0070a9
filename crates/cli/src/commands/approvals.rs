//! `shellgate approvals`: the questions that wait, and answers to them.

use std::process::ExitCode;

use serde_json::{Value, json};
use shellgate::Record;
use shellgate::approval::{Answer, Choice};
use shellgate::journal::{Answering, Pending, QuestionId};

use super::history::settled;
use crate::args::{ApprovalsCommand, Reach};
use crate::error::{self, Trouble};
use crate::output::{self, plain};
use crate::time;

pub(super) fn approvals(command: ApprovalsCommand) -> ExitCode {
    error::finish(match command {
        ApprovalsCommand::List { shown } => {
            output::choose_color(shown.color);
            list(shown.json)
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

fn choice(reach: Reach) -> Choice {
    match reach {
        Reach { session: true, .. } => Choice::SessionExact,
        Reach { prefix: true, .. } => Choice::SessionPrefix,
        Reach { always: true, .. } => Choice::Always,
        _ => Choice::Once,
    }
}

fn answer(id: QuestionId, answer: &Answer, json: bool) -> Result<(), Trouble> {
    super::refuse_inside("answer questions")?;
    let record = Record::open(None)?;
    match record.answer(id, answer)? {
        Answering::Taken(_) => {
            // What was just written, in its own words.
            let words = record.journal().poll_answer(id).map_err(super::unreadable)?;
            match json {
                true => output::print_json(&json!({"id": id, "taken": true, "settled": words})),
                false => {
                    let words = words.as_ref().map(settled).unwrap_or_default();
                    output::print(&format!("question {id}: {words}\n"))
                }
            }
        }
        Answering::TooLate(first) => {
            if json {
                output::print_json(&json!({"id": id, "taken": false, "settled": first}))?;
            } else {
                output::say(&format!("question {id} was settled before: {}", settled(&first)));
            }
            Err(Trouble::Said(error::TOO_LATE))
        }
    }
}

fn list(json: bool) -> Result<(), Trouble> {
    let pending = Record::open(None)?.pending()?;
    if json {
        return output::print_json(&pending.iter().map(facts).collect::<Vec<_>>().into());
    }
    if pending.is_empty() {
        output::say("no question waits");
    }
    output::print(&pending.iter().map(page).collect::<Vec<_>>().join("\n"))
}

/// All that a person needs to know, and how to answer.
fn page(pending: &Pending) -> String {
    let Pending { id, asked, question, .. } = pending;
    let now = time::now();
    let waits = (now - pending.at) / 1000;
    let left = question.expires_at.map(|end| format!(", {} s left", (end - now).max(0) / 1000));
    let mut page =
        format!("\x1b[1mquestion {id}\x1b[0m, waits {waits} s{}: may this run?\n", left.unwrap_or_default());
    let mut line = |text: String| page.push_str(&format!("  {text}\n"));
    for text in asked.text.split('\n') {
        line(format!("| {}", plain(text)));
    }
    if let Some(argv) = &asked.argv {
        line(format!("words: {}", plain(&json!(argv).to_string())));
    }
    if let Some(description) = &asked.description {
        line(format!("the agent's own words: {}", plain(description)));
    }
    line(format!("root: {}", plain(&asked.root)));
    line(format!("directory: {}", plain(&asked.directory)));
    line(format!("session: {}", plain(&pending.session)));
    for part in &question.parts {
        line(format!("asks: {}", plain(&json!(part.argv).to_string())));
    }
    for reason in &asked.verdict.reasons {
        line(format!("why: {}", plain(&reason.message)));
    }
    for reach in &question.reach {
        line(format!("reach: {}", plain(reach)));
    }
    for (what, flag) in choices(pending) {
        line(format!("\x1b[2myes, {what}:\x1b[0m shellgate approvals approve {id}{flag}"));
    }
    for text in question.always.iter().flat_map(|always| &always.lines) {
        line(format!("    + {}", plain(text)));
    }
    line(format!("\x1b[2mno:\x1b[0m shellgate approvals deny {id} [--reason TEXT]"));
    page
}

/// What can be said to it besides no, and the flag for it.
fn choices(pending: &Pending) -> Vec<(String, &'static str)> {
    let question = &pending.question;
    let mut choices = vec![("once".to_owned(), "")];
    if question.exact.is_some() {
        choices.push(("in this session, exactly this".to_owned(), " --session"));
    }
    if !question.prefixes.is_empty() {
        let prefixes: Vec<String> =
            question.prefixes.iter().map(|words| format!("`{} …`", plain(&words.join(" ")))).collect();
        choices.push((format!("in this session {}", prefixes.join(", ")), " --prefix"));
    }
    if let Some(always) = &question.always {
        choices.push((format!("always, with these lines in {}", plain(&always.file)), " --always"));
    }
    choices
}

fn facts(pending: &Pending) -> Value {
    let Pending { id, exec_id, session, at, asked, question } = pending;
    let choices: Vec<&str> = choices(pending).iter().map(|(_, flag)| flag.trim_start()).collect();
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
        "choices": choices.iter().map(|flag| if flag.is_empty() { "once" } else { flag.trim_start_matches('-') }).collect::<Vec<_>>(),
    })
}
