//! An execution in words and as JSON.

use serde_json::{Value, json};
use shellgate::SignalName;
use shellgate::journal::{
    EntryBody, GrantScope, JournalEntry, LossCause, PastExecution, QuestionOutcome, RecordedChoice,
    RecordedEnd, RecordedError, RecordedStream, Status,
};

use crate::output::escape;
use crate::time;

/// Where it stands, with the exit code or signal of one that failed.
pub(super) fn status(execution: &PastExecution) -> String {
    let ended = execution.ended.as_ref().filter(|_| execution.status == Status::Failed);
    match ended.map(|ended| (ended.exit_code, ended.signal)) {
        Some((Some(code), _)) => format!("failed {code}"),
        Some((None, Some(signal))) => format!("failed {}", SignalName::new(signal).name),
        _ => execution.status.name().to_owned(),
    }
}

/// The code for the color of a state.
pub(super) const fn color(status: Status) -> &'static str {
    match status {
        Status::Completed => "\x1b[32m",
        Status::Asked | Status::Running => "\x1b[33m",
        Status::Refused | Status::Failed | Status::TimedOut | Status::Lost => "\x1b[31m",
        Status::Canceled | Status::Forgotten => "\x1b[2m",
    }
}

/// What there is to know of an execution, without its output.
pub(super) fn summary(execution: &PastExecution) -> Value {
    let (asked, started, ended) = (&execution.asked, &execution.started, &execution.ended);
    let stream = |of: fn(&shellgate::journal::RecordedEnd) -> &RecordedStream| ended.as_ref().map(of);
    let duration = ended.as_ref().and_then(|ended| Some(ended.ended_at - ended.started_at?));
    json!({
        "id": execution.id,
        "session": execution.session,
        "at": time::exact(execution.at),
        "status": execution.status,
        "command": asked.as_ref().map(|asked| &asked.text),
        "argv": asked.as_ref().and_then(|asked| asked.argv.as_ref()),
        "description": asked.as_ref().and_then(|asked| asked.description.as_ref()),
        "dialect": asked.as_ref().map(|asked| &asked.dialect),
        "root": asked.as_ref().map(|asked| &asked.root),
        "directory": asked.as_ref().map(|asked| &asked.directory),
        "verdict": asked.as_ref().map(|asked| &asked.verdict),
        "approved_by": started.as_ref().and_then(|started| started.approved_by.as_ref()),
        "error": execution.refused.as_ref().or_else(|| ended.as_ref()?.error.as_ref()),
        "exit_code": ended.as_ref().and_then(|ended| ended.exit_code),
        "signal": ended.as_ref().and_then(|ended| ended.signal).map(SignalName::new),
        "ended_at": ended.as_ref().map(|ended| time::exact(ended.ended_at)),
        "duration_ms": duration,
        "stdout": stream(|ended| &ended.stdout),
        "stderr": stream(|ended| &ended.stderr),
    })
}

/// What an entry says, line by line. Nothing in it acts on a terminal.
pub(super) fn lines(entry: &JournalEntry) -> Vec<String> {
    let Some(body) = &entry.body else { return vec!["(forgotten)".to_owned()] };
    match body {
        EntryBody::Asked(asked) => {
            let verdict = &asked.verdict;
            let reasons = verdict.reasons.iter().map(|reason| format!("why: {}", escape(&reason.message)));
            // Without a rule, a reason stands in its place.
            let said = |rule: &&String| verdict.reasons.iter().any(|reason| reason.message == **rule);
            let rules = verdict.rules.iter().filter(|rule| !said(rule));
            let rules = rules.map(|rule| format!("rule: {}", escape(rule)));
            std::iter::once(verdict.decision.to_string()).chain(reasons).chain(rules).collect()
        }
        EntryBody::Refused(problem) => problem_lines(problem),
        EntryBody::Started(started) => {
            let approved = started.approved_by.as_ref();
            let approved = approved.map(|by| format!("approved by {} ({})", escape(&by.who), by.channel));
            vec![approved.unwrap_or_default()]
        }
        EntryBody::Ended(ended) => ended_lines(ended),
        EntryBody::Closed(closed) => vec![
            match closed.how {
                LossCause::KeeperLost => {
                    "nobody is left who knows its end; it may have run, wholly or in part"
                }
                LossCause::Reboot => "the machine was started anew while it ran",
                LossCause::NeverStarted => "the asker went away; nothing was run",
            }
            .to_owned(),
        ],
        EntryBody::Question(question) => {
            let parts = question.parts.iter();
            let parts = parts.map(|part| format!("`{}`: {}", escape(&part.text), escape(&part.reason)));
            std::iter::once(format!("number {}", entry.carried.unwrap_or(entry.seq))).chain(parts).collect()
        }
        EntryBody::Answer(answer) => vec![settled(&answer.settled)],
        EntryBody::Grant(grant) => vec![match &grant.scope {
            GrantScope::Exact { .. } => "for this session: exactly this".to_owned(),
            GrantScope::Prefix(words) => format!("for this session: {}", escape(&words.join(" "))),
        }],
        EntryBody::Tombstone(tombstone) => {
            vec![format!("{} had {} entries removed", escape(&tombstone.by), tombstone.entries.len())]
        }
        EntryBody::Note(note) => vec![escape(&note.text)],
        EntryBody::Trusted(_) | EntryBody::Checkpoint(_) => Vec::new(),
    }
}

/// How a question was closed, in words.
pub(in crate::commands) fn settled(settled: &QuestionOutcome) -> String {
    match settled {
        QuestionOutcome::Answered(answered) => {
            let choice = match &answered.choice {
                RecordedChoice::Once => "yes, once".to_owned(),
                RecordedChoice::SessionExact => "yes, in this session, exactly this".to_owned(),
                RecordedChoice::SessionPrefix(prefixes) => {
                    let prefixes: Vec<String> =
                        prefixes.iter().map(|words| escape(&words.join(" "))).collect();
                    format!("yes, in this session: {}", prefixes.join(", "))
                }
                RecordedChoice::Always(always) => format!("yes, always: written to {}", escape(&always.file)),
                RecordedChoice::No => "no".to_owned(),
                RecordedChoice::NoBecause(reason) => format!("no: {}", escape(reason)),
            };
            format!("{choice}; {} ({})", escape(&answered.by), answered.channel)
        }
        QuestionOutcome::TimedOut => "nobody answered in time".to_owned(),
        QuestionOutcome::AskerGone => "the asker is gone".to_owned(),
        QuestionOutcome::Canceled => "it was withdrawn".to_owned(),
    }
}

fn problem_lines(problem: &RecordedError) -> Vec<String> {
    let first = format!("{}: {}", escape(&problem.code), escape(&problem.message));
    let rule = problem.rule.as_ref().map(|rule| format!("rule: {}", escape(rule)));
    let hint = problem.hint.as_ref().map(|hint| format!("hint: {}", escape(hint)));
    [Some(first), rule, hint].into_iter().flatten().collect()
}

fn ended_lines(ended: &RecordedEnd) -> Vec<String> {
    let mut first = match (ended.exit_code, ended.signal) {
        (Some(code), _) => format!("{}, exit code {code}", ended.status),
        (None, Some(signal)) => format!("{}, by {}", ended.status, SignalName::new(signal).name),
        (None, None) => ended.status.to_string(),
    };
    if let Some(started) = ended.started_at {
        first.push_str(&format!(", after {} ms", ended.ended_at - started));
    }
    if let Some(pid) = ended.pid {
        first.push_str(&format!(", pid {pid}"));
    }
    let mut lines = vec![first];
    lines.extend(ended.error.iter().flat_map(problem_lines));
    for (name, stream) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        lines.extend((stream.bytes > 0).then(|| stream_line(name, stream)));
    }
    lines
}

fn stream_line(name: &str, stream: &RecordedStream) -> String {
    let mut line = format!("{name}: {} bytes", stream.bytes);
    if stream.spooled < stream.bytes {
        line.push_str(&format!(", the first {} kept", stream.spooled));
    }
    if let Some(sha256) = stream.sha256 {
        line.push_str(&format!(", sha256 {sha256}"));
    }
    line
}
