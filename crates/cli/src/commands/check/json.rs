//! The verdict as JSON. Everything is borrowed, because a long script has thousands of parts.

use serde::Serialize;
use shellgate::ErrorObject;
use shellgate::judge::{Decision, Part, Reason, Verdict};

#[derive(Serialize)]
struct Page<'a> {
    verdict: &'static str,
    commands: Vec<Command<'a>>,
    reasons: Vec<Why<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
}

#[derive(Serialize)]
struct Command<'a> {
    text: &'a str,
    argv: &'a [Option<String>],
    span: [usize; 2],
    verdict: &'static str,
    rule: Option<&'a str>,
    reason: &'a str,
}

#[derive(Serialize)]
struct Why<'a> {
    code: String,
    message: &'a str,
    span: [usize; 2],
    rule: Option<&'a str>,
    hint: Option<&'a str>,
}

/// A verdict. `by`: the setting that decides instead of a person.
pub(super) fn judged(decision: Decision, verdict: &Verdict, by: Option<&str>) -> String {
    let commands = verdict.parts().iter().map(|part: &Part| Command {
        text: &part.text,
        argv: &part.argv,
        span: [part.span.start, part.span.end],
        verdict: part.decision.name(),
        rule: part.rule.as_deref(),
        reason: &part.reason,
    });
    let reasons = verdict.reasons().iter().map(|reason: &Reason| Why {
        code: reason.code.name().to_owned(),
        message: &reason.message,
        span: [reason.span.start, reason.span.end],
        rule: reason.rule.as_deref(),
        hint: reason.hint.as_deref(),
    });
    let (commands, reasons) = (commands.collect(), reasons.collect());
    written(&Page { verdict: decision.name(), commands, reasons, by })
}

/// An error for which the command would be refused before any rule is applied. `span`: its place in the command.
pub(super) fn refused(decision: Decision, error: &ErrorObject, span: [usize; 2]) -> String {
    let reason = Why {
        code: error.code.to_string(),
        message: &error.message,
        span,
        rule: error.rule.as_deref(),
        hint: error.hint.as_deref(),
    };
    written(&Page { verdict: decision.name(), commands: Vec::new(), reasons: vec![reason], by: None })
}

fn written(page: &Page<'_>) -> String {
    // Strings, numbers and lists always serialize.
    serde_json::to_string(page).unwrap_or_default()
}
