//! A verdict: the command with its parts, a line per part, the decision, and hints.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Serialize, Serializer};
use shellgate_text::escape::line as escape;
use shellgate_text::layout::{columns, cut, wrap};
use shellgate_text::{Picture, Row, Style, StyledLine, plain_text};

use super::{decision_style, effects_text, steps};
use crate::ErrorObject;
use crate::admit::judge::{CallEffect, Decision, EffectName, Part, Reason, ReasonCode, Span, Verdict};

/// Reasons and hints have at least this many columns.
const TEXT_MIN_COLUMNS: usize = 30;

/// A verdict about a command, or the error for which it would be refused without one.
#[derive(Clone, Copy, Debug)]
pub struct VerdictView<'a> {
    command: &'a str,
    basis: Basis<'a>,
    /// What would happen.
    decision: Decision,
    /// The setting that decides in place of a person.
    by: Option<&'a str>,
}

#[derive(Clone, Copy, Debug)]
enum Basis<'a> {
    Verdict(&'a Verdict),
    Error(&'a ErrorObject),
}

impl<'a> VerdictView<'a> {
    /// A verdict. `instead`: the decision of a setting in place of a person, and which setting that is.
    #[must_use]
    pub fn judged(command: &'a str, verdict: &'a Verdict, instead: Option<(Decision, &'a str)>) -> Self {
        let decision = instead.map_or(verdict.decision(), |(decision, _)| decision);
        Self { command, basis: Basis::Verdict(verdict), decision, by: instead.map(|(_, by)| by) }
    }

    /// An error for which the command would be refused before it is judged.
    #[must_use]
    pub const fn refused(command: &'a str, error: &'a ErrorObject) -> Self {
        Self { command, basis: Basis::Error(error), decision: Decision::Deny, by: None }
    }

    /// What would happen.
    #[must_use]
    pub const fn decision(&self) -> Decision {
        self.decision
    }

    /// Its lines, wrapped to `width` columns.
    #[must_use]
    pub fn lines(&self, width: usize) -> Vec<StyledLine> {
        match self.basis {
            Basis::Verdict(verdict) => self.verdict_lines(verdict, width),
            Basis::Error(error) => {
                let text = format!(": {}", escape(&error.message));
                let mut lines = vec![decision_word(Decision::Deny, 0).with(Style::Plain, text)];
                lines.extend(error.hint.iter().flat_map(|hint| hint_lines(&hint.to_string(), width)));
                lines
            }
        }
    }

    /// Its lines as plain text.
    #[must_use]
    pub fn to_text(&self, width: usize) -> String {
        plain_text(&self.lines(width))
    }

    /// Which step of the order decided about each part. `None`: nothing was judged.
    #[must_use]
    pub fn steps(&self) -> Option<String> {
        match self.basis {
            Basis::Verdict(verdict) => Some(steps::text(verdict)),
            Basis::Error(_) => None,
        }
    }

    fn verdict_lines(&self, verdict: &Verdict, width: usize) -> Vec<StyledLine> {
        let marked = |span: Span, decision| (span.start..span.end, decision_style(decision));
        let parts: Vec<_> = verdict.parts().iter().map(|part| marked(part.span, part.decision)).collect();
        let others: Vec<_> = small_places(self.command, verdict)
            .into_iter()
            .map(|(span, decision)| marked(span, decision))
            .collect();
        let rows = Picture::new(self.command, width).rows(&parts, &others);
        let mut lines: Vec<StyledLine> = rows
            .into_iter()
            .map(|row| match row {
                Row::Line(_, text) | Row::Continuation(text) => text.into(),
                Row::Marks(marks) => marks,
            })
            .collect();
        lines.push(StyledLine::new());
        if !verdict.parts().is_empty() {
            lines.extend(part_lines(verdict.parts(), width));
            lines.push(StyledLine::new());
        }
        let meaning = match (self.decision, self.by) {
            (_, Some(by)) => format!("decided without asking, by {by}"),
            (Decision::Allow, None) if verdict.parts().is_empty() => "nothing would run".to_owned(),
            (Decision::Allow, None) => "it would run".to_owned(),
            (Decision::Ask, None) => "a person would be asked".to_owned(),
            (Decision::Deny, None) => "it would not run".to_owned(),
        };
        lines.push(decision_word(self.decision, 0).with(Style::Plain, format!(": {}", escape(&meaning))));
        lines.extend(more_lines(verdict, width));
        lines
    }
}

/// Places of reasons that are smaller than a part.
fn small_places(command: &str, verdict: &Verdict) -> Vec<(Span, Decision)> {
    let points =
        |code| matches!(code, ReasonCode::ParseError | ReasonCode::Uncertain | ReasonCode::Characters);
    let parts: HashSet<Span> = verdict.parts().iter().map(|part| part.span).collect();
    let reasons = verdict.reasons().iter().filter(|reason| points(reason.code));
    let places = reasons.map(|reason| (reason.span, reason.decision));
    places.filter(|(span, _)| *span != Span::new(0, command.len()) && !parts.contains(span)).collect()
}

/// A line per part: number, decision, text and reason.
fn part_lines(parts: &[Part], width: usize) -> Vec<StyledLine> {
    let digits = parts.len().to_string().len();
    let widest = (width * 2 / 5).saturating_sub(digits);
    let texts: Vec<String> = parts.iter().map(|part| short_text(&part.text, widest)).collect();
    let column = texts.iter().map(|text| columns(text)).max().unwrap_or(0);
    let before = digits + " allow  ".len() + column + 2;
    let mut lines = Vec::new();
    for (number, (part, text)) in (1..).zip(parts.iter().zip(texts)) {
        let blanks = " ".repeat(column - columns(&text));
        let mut head = StyledLine::from(format!("{number:digits$} "));
        head.extend(decision_word(part.decision, 5));
        head.push(Style::Plain, format!("  {text}{blanks}  "));
        let mut texts = reason_lines(&part.reason, part.rule.as_deref(), before, width);
        let room = width.saturating_sub(before).max(TEXT_MIN_COLUMNS);
        texts.extend(effects_text(&part.effects).map(|text| cut(&escape(&text), room)));
        lines.extend(beside(head, before, texts));
    }
    lines
}

/// A text beside its head: the first line after it, the others below the first.
fn beside(head: StyledLine, before: usize, texts: Vec<String>) -> Vec<StyledLine> {
    let mut texts = texts.into_iter();
    let mut lines = vec![head.with(Style::Plain, texts.next().unwrap_or_default())];
    lines.extend(texts.map(|text| StyledLine::from(format!("{}{text}", " ".repeat(before)))));
    lines
}

/// A reason, and below it the rule with its place. The rule stays on one line, so that terminals can make a link of it.
fn reason_lines(reason: &str, rule: Option<&str>, before: usize, width: usize) -> Vec<String> {
    let room = width.saturating_sub(before).max(TEXT_MIN_COLUMNS);
    match (reason, rule.map(|rule| escape(&with_tilde(rule)))) {
        // The decision says that it is allowed.
        ("allowed", Some(rule)) => vec![rule],
        (reason, rule) => {
            let mut lines = wrap(&escape(reason), room);
            lines.extend(rule);
            lines
        }
    }
}

/// A rule with its file below home as `~/…`.
fn with_tilde(rule: &str) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute() && home.parent().is_some());
    match home.as_deref().and_then(std::path::Path::to_str) {
        Some(home) => rule.replace(&format!("({}/", home.trim_end_matches('/')), "(~/"),
        None => rule.to_owned(),
    }
}

/// Reasons that no line of a part has, and the hints of the deciding reasons, each once.
fn more_lines(verdict: &Verdict, width: usize) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let mut shown: HashSet<&str> = verdict.parts().iter().map(|part| part.reason.as_str()).collect();
    for reason in verdict.reasons() {
        if shown.insert(&reason.message) {
            let label = part_label(verdict, reason);
            let before = 2 + label.len();
            let texts = reason_lines(&reason.message, reason.rule.as_deref(), before, width);
            lines.extend(beside(format!("  {label}").into(), before, texts));
        }
    }
    shown.clear();
    let decisive = verdict.reasons().iter().filter(|reason| reason.decision == verdict.decision());
    for hint in decisive.filter_map(|reason| reason.hint.as_deref()) {
        if shown.insert(hint) {
            lines.extend(hint_lines(hint, width));
        }
    }
    lines
}

/// The number of the innermost part that a reason is about, if it is about a part.
fn part_label(verdict: &Verdict, reason: &Reason) -> String {
    let span = reason.span;
    let contains =
        |part: &Part| span.start < span.end && part.span.start <= span.start && span.end <= part.span.end;
    let found = (1..).zip(verdict.parts()).filter(|(_, part)| contains(part));
    let found = found.min_by_key(|(_, part)| part.span.end - part.span.start);
    found.map_or_else(String::new, |(number, _): (usize, _)| format!("in {number}: "))
}

fn hint_lines(hint: &str, width: usize) -> Vec<StyledLine> {
    let label = "  hint: ";
    let room = width.saturating_sub(label.len()).max(TEXT_MIN_COLUMNS);
    beside(label.into(), label.len(), wrap(&escape(hint), room))
}

/// The decision, at least `width` columns wide.
fn decision_word(decision: Decision, width: usize) -> StyledLine {
    StyledLine::new().with(decision_style(decision), format!("{:width$}", decision.name()))
}

/// A part's text as one line of at most `widest` columns. The picture shows all of it.
fn short_text(text: &str, widest: usize) -> String {
    cut(&escape(&text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")), widest)
}

/// For programs: borrowed throughout, because a long script has thousands of parts.
impl Serialize for VerdictView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (commands, reasons) = match self.basis {
            Basis::Verdict(verdict) => {
                let commands = verdict.parts().iter().map(CommandJson::of).collect();
                (commands, verdict.reasons().iter().map(ReasonJson::of).collect())
            }
            Basis::Error(error) => {
                let reason = ReasonJson {
                    code: error.code.to_string(),
                    message: &error.message,
                    span: self.place_of(error.token.as_deref()),
                    rule: error.rule.as_deref(),
                    hint: error.hint.as_ref().map(|hint| hint.to_string().into()),
                };
                (Vec::new(), vec![reason])
            }
        };
        VerdictJson { verdict: self.decision.name(), commands, reasons, by: self.by }.serialize(serializer)
    }
}

impl VerdictView<'_> {
    /// The place of a word in the command; the whole command if it doesn't occur literally.
    fn place_of(&self, word: Option<&str>) -> [usize; 2] {
        let word = word.filter(|word| !word.is_empty());
        match word.and_then(|word| Some((self.command.find(word)?, word.len()))) {
            Some((start, length)) => [start, start + length],
            None => [0, self.command.len()],
        }
    }
}

#[derive(Serialize)]
struct VerdictJson<'a> {
    verdict: &'static str,
    commands: Vec<CommandJson<'a>>,
    reasons: Vec<ReasonJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
}

#[derive(Serialize)]
struct CommandJson<'a> {
    text: &'a str,
    argv: &'a [Option<String>],
    span: [usize; 2],
    verdict: &'static str,
    rule: Option<&'a str>,
    reason: &'a str,
    effects: Vec<EffectJson<'a>>,
}

/// One thing that a command does.
#[derive(Serialize)]
struct EffectJson<'a> {
    effect: &'static str,
    target: Option<&'a str>,
    known: bool,
    /// Of the network alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    sends: Option<bool>,
}

impl<'a> EffectJson<'a> {
    fn of(effect: &'a CallEffect) -> Self {
        Self {
            effect: effect.effect.name(),
            target: effect.target.as_deref(),
            known: effect.known,
            sends: (effect.effect == EffectName::Network).then_some(effect.sends),
        }
    }
}

impl<'a> CommandJson<'a> {
    fn of(part: &'a Part) -> Self {
        Self {
            text: &part.text,
            argv: &part.argv,
            span: [part.span.start, part.span.end],
            verdict: part.decision.name(),
            rule: part.rule.as_deref(),
            reason: &part.reason,
            effects: part.effects.iter().map(EffectJson::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct ReasonJson<'a> {
    code: String,
    message: &'a str,
    span: [usize; 2],
    rule: Option<&'a str>,
    hint: Option<Cow<'a, str>>,
}

impl<'a> ReasonJson<'a> {
    fn of(reason: &'a Reason) -> Self {
        Self {
            code: reason.code.name().to_owned(),
            message: &reason.message,
            span: [reason.span.start, reason.span.end],
            rule: reason.rule.as_deref(),
            hint: reason.hint.as_deref().map(Cow::Borrowed),
        }
    }
}
