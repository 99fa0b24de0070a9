//! Several lines that become one: a commit of `git log`.

use regex::bytes::{Captures, Regex};

use super::line::{Kind, Line};
use super::rules::{RecordRule, fill, group, pattern};

/// Recognises the lines of a record.
#[derive(Debug)]
pub(super) struct RecordReader {
    start: Regex,
    parts: Vec<Regex>,
    title: Regex,
    body: Regex,
    to: &'static str,
}

/// A record that is being read.
#[derive(Debug)]
pub(super) struct OpenRecord<'t> {
    /// `to`, with what is known so far.
    shown: String,
    /// If `to` has no holes: the label that complete records are counted under.
    label: Option<&'static str>,
    has_title: bool,
    lines: Vec<Line<'t>>,
    /// Lines of the body, blank ones not counted.
    body: usize,
}

impl RecordReader {
    pub(super) fn new(rule: &RecordRule) -> Option<Self> {
        let parts = rule.parts.iter().copied().filter_map(pattern).collect();
        let (start, title, body) = (pattern(rule.start)?, pattern(rule.title)?, pattern(rule.body)?);
        Some(Self { start, parts, title, body, to: rule.to })
    }

    /// The record that begins with this line.
    pub(super) fn start<'t>(&self, line: &Line<'t>) -> Option<OpenRecord<'t>> {
        let captures = self.start.captures(line.text.as_bytes())?;
        let shown = filled_known(self.to, &self.start, &captures);
        let label = (!self.to.contains('{')).then_some(self.to);
        Some(OpenRecord { shown, label, has_title: false, lines: vec![line.clone()], body: 0 })
    }

    /// Adds a line to a record. `false`: it isn't part of it.
    pub(super) fn add<'t>(&self, record: &mut OpenRecord<'t>, line: &Line<'t>) -> bool {
        let text = line.text.as_bytes();
        let part = self.parts.iter().filter(|_| !record.has_title).find(|part| part.is_match(text));
        let is_title = !record.has_title && part.is_none() && self.title.is_match(text);
        let found = if is_title { Some(&self.title) } else { part };
        if let Some((pattern, captures)) = found.and_then(|found| Some((found, found.captures(text)?))) {
            record.shown = filled_known(&record.shown, pattern, &captures);
        } else if !self.body.is_match(text) {
            return false;
        } else if record.has_title && !line.text.is_empty() {
            record.body += 1;
        }
        record.has_title |= is_title;
        record.lines.push(line.clone());
        true
    }
}

impl<'t> OpenRecord<'t> {
    /// The label that it is counted under, and its first line. `None`: it is shown.
    pub(super) fn counted_as(&self) -> Option<(&'static str, Line<'t>)> {
        let label = self.label.filter(|_| self.has_title)?;
        Some((label, self.lines.first()?.clone()))
    }

    /// Its one line, or its lines if it is not complete. What stands in parentheses behind the title, who and when, is left out
    /// if the record before said the same: `last_remark`.
    pub(super) fn close(self, last_remark: &mut String) -> Vec<Line<'t>> {
        let Some(first) = self.lines.first().filter(|_| self.has_title) else { return self.lines };
        let body = match self.body {
            0 => String::new(),
            1 => " [+1 line]".to_owned(),
            count => format!(" [+{count} lines]"),
        };
        let shown = without_holes(&self.shown);
        let (title, remark) = shown.rsplit_once(" (").unwrap_or((&shown, ""));
        let text = if remark == last_remark { title } else { &shown }.to_owned() + &body;
        remark.clone_into(last_remark);
        vec![Line { kind: Kind::Verbatim, ..first.saying(text) }]
    }
}

/// `template` with what the groups of `pattern` matched; other holes stay.
fn filled_known(template: &str, pattern: &Regex, captures: &Captures<'_>) -> String {
    let mut filled = template.to_owned();
    for name in pattern.capture_names().flatten() {
        // What was printed must not look like a hole.
        let printed = group(captures, name).replace(['{', '}'], " ");
        filled = filled.replace(&format!("{{{name}}}"), &printed);
    }
    filled
}

fn without_holes(template: &str) -> String {
    pattern(r"\{[a-z]+\}")
        .and_then(|hole| {
            let nothing = fill("", &hole.captures(b"{x}")?);
            String::from_utf8(hole.replace_all(template.as_bytes(), nothing.as_bytes()).into_owned()).ok()
        })
        .unwrap_or_else(|| template.to_owned())
}
