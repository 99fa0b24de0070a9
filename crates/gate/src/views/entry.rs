//! An entry of the record in words.

use shellgate_journal::{
    EntryBody, GrantEndCause, GrantScope, JournalEntry, LossCause, QuestionOutcome, RecordedChoice,
    RecordedEnd, RecordedError, RecordedStream, RecordedView,
};
use shellgate_text::escape::line as escape;

use super::until_text;
use crate::answer::denials::{self, Denial};
use crate::answer::signal_names::SignalName;

/// An entry, line by line.
pub(super) fn entry_lines(entry: &JournalEntry) -> Vec<String> {
    let Some(body) = &entry.body else { return vec!["(forgotten)".to_owned()] };
    match body {
        EntryBody::Asked(asked) => {
            let verdict = &asked.verdict;
            let reasons = verdict.reasons.iter().map(|reason| format!("why: {}", escape(&reason.message)));
            // For a reason without a rule, the rules have the reason's message.
            let is_reason = |rule: &&String| verdict.reasons.iter().any(|reason| reason.message == **rule);
            let rules = verdict.rules.iter().filter(|rule| !is_reason(rule));
            let rules = rules.map(|rule| format!("rule: {}", escape(rule)));
            std::iter::once(verdict.decision.to_string()).chain(reasons).chain(rules).collect()
        }
        EntryBody::Refused(error) => error_lines(error),
        EntryBody::Started(started) => {
            let approved = started.approved_by.as_ref();
            let approved = approved.map(|by| format!("approved by {} ({})", escape(&by.who), by.channel));
            vec![approved.unwrap_or_default()]
        }
        EntryBody::Ended(ended) => end_lines(ended),
        EntryBody::Closed(closed) => vec![
            match closed.how {
                LossCause::KeeperLost => "the keeper was lost; the command may have run, wholly or in part",
                LossCause::Reboot => "the machine was restarted while the command ran",
                LossCause::NeverStarted => "the caller went away; nothing was run",
            }
            .to_owned(),
        ],
        EntryBody::Question(question) => {
            let parts = question.parts.iter();
            let parts = parts.map(|part| format!("`{}`: {}", escape(&part.text), escape(&part.reason)));
            std::iter::once(format!("number {}", entry.carried.unwrap_or(entry.seq))).chain(parts).collect()
        }
        EntryBody::Answer(answer) => vec![outcome_text(&answer.settled)],
        EntryBody::Grant(grant) => {
            let what = match &grant.scope {
                GrantScope::Exact { .. } => "exactly this".to_owned(),
                GrantScope::Prefix(words) => escape(&words.join(" ")),
            };
            let end = grant.expires_at.map(|end| format!(", until {}", until_text(end)));
            vec![
                format!("number {}", entry.carried.unwrap_or(entry.seq)),
                format!("for this session: {what}{}", end.unwrap_or_default()),
            ]
        }
        EntryBody::GrantEnded(ended) => {
            let by = escape(&ended.by);
            vec![match ended.cause {
                GrantEndCause::Revoked => format!("grant {}: {by} took it back", ended.grant),
                GrantEndCause::SessionStopped => {
                    format!("grant {}: {by} stopped the session", ended.grant)
                }
            }]
        }
        EntryBody::Tombstone(tombstone) => {
            vec![format!("{} erased {} entries", escape(&tombstone.by), tombstone.entries.len())]
        }
        EntryBody::Gap(gap) => vec![format!("the entries before this one, up to {}, were lost", gap.through)],
        EntryBody::Read(shown) => {
            let all = shown_line(shown);
            vec![all.unwrap_or_else(|| format!("shown to the model: {} tokens", shown.tokens))]
        }
        EntryBody::Note(note) => vec![escape(&note.text)],
        EntryBody::Trusted(_) | EntryBody::Checkpoint(_) => Vec::new(),
    }
}

/// How a question was settled, in words.
#[must_use]
pub fn outcome_text(outcome: &QuestionOutcome) -> String {
    match outcome {
        QuestionOutcome::Answered(answered) => {
            let choice = match &answered.choice {
                RecordedChoice::Once => "yes, once".to_owned(),
                RecordedChoice::SessionExact => "yes, exactly this for the session".to_owned(),
                RecordedChoice::SessionPrefix(prefixes) => {
                    let prefixes: Vec<String> =
                        prefixes.iter().map(|words| escape(&words.join(" "))).collect();
                    format!("yes, for the session: {}", prefixes.join(", "))
                }
                RecordedChoice::Always(always) => {
                    format!("yes, always: written to {}", escape(&always.file))
                }
                RecordedChoice::AlwaysUnwritten(unwritten) => {
                    format!("yes, once: {}", escape(&crate::approval::unwritten_text(unwritten)))
                }
                RecordedChoice::No => "no".to_owned(),
                RecordedChoice::NoBecause(reason) => format!("no: {}", escape(reason)),
            };
            format!("{choice}; {} ({})", escape(&answered.by), answered.channel)
        }
        QuestionOutcome::TimedOut => "no answer in time".to_owned(),
        QuestionOutcome::AskerGone => "the caller went away".to_owned(),
        QuestionOutcome::Canceled => "withdrawn".to_owned(),
    }
}

fn error_lines(error: &RecordedError) -> Vec<String> {
    let first = format!("{}: {}", escape(&error.code), escape(&error.message));
    let rule = error.rule.as_ref().map(|rule| format!("rule: {}", escape(rule)));
    let hint = error.hint.as_ref().map(|hint| format!("hint: {}", escape(hint)));
    [Some(first), rule, hint].into_iter().flatten().collect()
}

fn end_lines(ended: &RecordedEnd) -> Vec<String> {
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
    lines.extend(ended.error.iter().flat_map(|error| error_lines(error)));
    let denials: Vec<Denial> = ended.denials.iter().flatten().map(Denial::from).collect();
    let denied = denials::targets(&denials, ended.omitted_denials);
    if let Some(targets) = denied {
        lines.push(format!("refused by the sandbox: {targets}"));
        lines.extend(denials::rules(&denials).iter().map(|rule| format!("rule: {}", escape(rule))));
        lines.extend(grant_lines(&denials));
    }
    lines.extend(ended.shown.as_deref().and_then(shown_line));
    for (name, stream) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        lines.extend((stream.bytes > 0).then(|| stream_line(name, stream)));
    }
    lines
}

/// The settings that allow what was refused, to paste them.
fn grant_lines(denials: &[Denial]) -> Vec<String> {
    let grants = denials::grants(denials).join("\n");
    let head = (!grants.is_empty()).then(|| "to allow it, add this to your settings:".to_owned());
    head.into_iter()
        .chain(grants.lines().map(|line| format!("  {}", escape(line)).trim_end().to_owned()))
        .collect()
}

/// What the model was shown of the output, if it was not all of it.
fn shown_line(shown: &RecordedView) -> Option<String> {
    let whole = shown.of_tokens?;
    let condensed = shown.condensed.map(|(from, to)| format!(", condensed {from} → {to} lines"));
    let (tokens, condensed) = (shown.tokens, condensed.unwrap_or_default());
    Some(format!("shown to the model: {tokens} of {whole} tokens{condensed}"))
}

fn stream_line(name: &str, stream: &RecordedStream) -> String {
    let mut line = format!("{name}: {} bytes", stream.bytes);
    if stream.spooled < stream.bytes {
        line.push_str(&format!(", the first {} stored", stream.spooled));
    }
    if let Some(sha256) = stream.sha256 {
        line.push_str(&format!(", sha256 {sha256}"));
    }
    line
}
