//! The verdict for people: the command with its parts, a line for each part, the verdict, and what would help.

use std::collections::HashSet;
use std::io::{self, IsTerminal as _};

use shellgate::ErrorObject;
use shellgate::judge::{Decision, Part, Reason, ReasonCode, Span, Verdict};
use unicode_width::UnicodeWidthStr as _;

use crate::output::{decision_color, escape};
use crate::picture::Picture;

/// Where nobody says how wide the page is.
const DEFAULT_COLUMNS: usize = 100;
/// Notes are never narrower than this.
const NOTE_MIN_COLUMNS: usize = 30;

/// A verdict. `by` says where it is written that nobody is asked.
pub(super) fn judged(text: &str, verdict: &Verdict, decision: Decision, by: Option<&str>) -> String {
    let width = width();
    let parts_at: Vec<_> = verdict.parts().iter().map(|part| (part.span, part.decision)).collect();
    let mut page = Picture::new(text, width).marked(&parts_at, &places(text, verdict));
    page.push('\n');
    if !verdict.parts().is_empty() {
        page.push_str(&parts(verdict.parts(), width));
        page.push('\n');
    }
    let meaning = match (decision, by) {
        (_, Some(by)) => format!("nobody is asked, by {by}"),
        (Decision::Allow, None) if verdict.parts().is_empty() => "nothing would run".to_owned(),
        (Decision::Allow, None) => "it would run".to_owned(),
        (Decision::Ask, None) => "a person would be asked".to_owned(),
        (Decision::Deny, None) => "it would not run".to_owned(),
    };
    page.push_str(&format!("{}: {meaning}\n", colored(decision, 0)));
    page.push_str(&more(verdict, width));
    page
}

/// Where the trouble is that is smaller than a part.
fn places(text: &str, verdict: &Verdict) -> Vec<(Span, Decision)> {
    let pointed =
        |code| matches!(code, ReasonCode::ParseError | ReasonCode::Uncertain | ReasonCode::Characters);
    let parts: HashSet<Span> = verdict.parts().iter().map(|part| part.span).collect();
    let reasons = verdict.reasons().iter().filter(|reason| pointed(reason.code));
    let places = reasons.map(|reason| (reason.span, reason.decision));
    places.filter(|(span, _)| *span != Span::new(0, text.len()) && !parts.contains(span)).collect()
}

/// What can't even be judged.
pub(super) fn refused(error: &ErrorObject) -> String {
    let mut page = format!("{}: {}\n", colored(Decision::Deny, 0), escape(&error.message));
    if let Some(hint) = &error.hint {
        page.push_str(&hinted(hint, width()));
    }
    page
}

fn width() -> usize {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return DEFAULT_COLUMNS;
    }
    rustix::termios::tcgetwinsize(stdout).map_or(0, |size| usize::from(size.ws_col)).clamp(40, 200)
}

/// A line for each part: number, verdict, text, and why.
fn parts(parts: &[Part], width: usize) -> String {
    let digits = parts.len().to_string().len();
    let widest = (width * 2 / 5).saturating_sub(digits);
    let texts: Vec<String> = parts.iter().map(|part| shorten(&part.text, widest)).collect();
    let column = texts.iter().map(|text| text.width()).max().unwrap_or(0);
    let before = digits + " allow  ".len() + column + 2;
    let mut lines = String::new();
    for (number, (part, text)) in (1..).zip(parts.iter().zip(texts)) {
        let blanks = " ".repeat(column - text.width());
        let why = explained(&part.reason, part.rule.as_deref(), before, width);
        lines.push_str(&format!("{number:digits$} {}  {text}{blanks}  {why}\n", colored(part.decision, 5)));
    }
    lines
}

/// A reason, and below it the rule and where that is written: in one piece, so that it can be clicked.
fn explained(reason: &str, rule: Option<&str>, before: usize, width: usize) -> String {
    let rule = rule.map(|rule| escape(&below_home(rule)));
    match (reason, rule) {
        // That it is allowed was said.
        ("allowed", Some(rule)) => rule,
        (reason, Some(rule)) => {
            format!("{}\n{:before$}{rule}", wrap(&escape(reason), before, width), "")
        }
        (reason, None) => wrap(&escape(reason), before, width),
    }
}

/// `~/.config/…` is how people write it.
fn below_home(rule: &str) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute() && home.parent().is_some());
    match home.as_deref().and_then(std::path::Path::to_str) {
        Some(home) => rule.replace(&format!("({}/", home.trim_end_matches('/')), "(~/"),
        None => rule.to_owned(),
    }
}

/// Reasons that no line of a part has, and the hints of those that decide; each once.
fn more(verdict: &Verdict, width: usize) -> String {
    let mut lines = String::new();
    let mut said: HashSet<&str> = verdict.parts().iter().map(|part| part.reason.as_str()).collect();
    for reason in verdict.reasons() {
        if said.insert(&reason.message) {
            let label = part_of(verdict, reason);
            let before = 2 + label.len();
            let why = explained(&reason.message, reason.rule.as_deref(), before, width);
            lines.push_str(&format!("  {label}{why}\n"));
        }
    }
    said.clear();
    let decisive = verdict.reasons().iter().filter(|reason| reason.decision == verdict.decision());
    for hint in decisive.filter_map(|reason| reason.hint.as_deref()) {
        if said.insert(hint) {
            lines.push_str(&hinted(hint, width));
        }
    }
    lines
}

/// The number of the innermost part that a reason is about, if it is about a part.
fn part_of(verdict: &Verdict, reason: &Reason) -> String {
    let span = reason.span;
    let holds =
        |part: &Part| span.start < span.end && part.span.start <= span.start && span.end <= part.span.end;
    let found = (1..).zip(verdict.parts()).filter(|(_, part)| holds(part));
    let found = found.min_by_key(|(_, part)| part.span.end - part.span.start);
    found.map_or_else(String::new, |(number, _): (usize, _)| format!("in {number}: "))
}

fn hinted(hint: &str, width: usize) -> String {
    format!("  hint: {}\n", wrap(&escape(hint), "  hint: ".len(), width))
}

/// `text` in lines that end before `width`, all but the first after so many blanks.
fn wrap(text: &str, before: usize, width: usize) -> String {
    let room = width.saturating_sub(before).max(NOTE_MIN_COLUMNS);
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        if used > 0 && used + 1 + word.width() > room {
            lines.push('\n');
            lines.push_str(&" ".repeat(before));
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += word.width();
    }
    lines
}

/// The word, coloured, and at least so wide.
fn colored(decision: Decision, width: usize) -> String {
    format!("{}{:width$}\x1b[0m", decision_color(decision), decision.name())
}

/// A part's text on one line of at most so many columns: the picture shows it all.
fn shorten(text: &str, widest: usize) -> String {
    let line = escape(&text.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
    if line.width() <= widest {
        return line;
    }
    let mut short = String::new();
    for c in line.chars() {
        if short.width() + 3 > widest {
            break;
        }
        short.push(c);
    }
    short + "…"
}
