//! A question: what a person needs to know to answer it.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use shellgate_journal::{Millis, QueuedQuestion, RecordedStdin};
use shellgate_text::{LabelledRows, Style, StyledLine, plain_text};

use super::answers::{AnswerKind, OfferedAnswer, SettingsChange, offered, prefix_text};
use super::effects::effect_phrases;
use super::until_text;
use crate::admit::approval::Question;
use crate::intake::request::{Action, Stdin};

/// A question, asked now or waiting in the queue.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QuestionView {
    /// The agent's own description of the command.
    pub description: Option<String>,
    /// What it does, the worst first.
    pub effects: Vec<String>,
    /// The command.
    pub command: String,
    /// The parts that need approval.
    pub parts: Vec<PartView>,
    /// Other places of the command that are a reason to ask, in bytes.
    pub places: Vec<(usize, usize)>,
    /// Why a person is asked.
    pub reasons: Vec<String>,
    /// Variables that the command gets.
    pub variables: Vec<String>,
    /// Its standard input, if that is known.
    pub input: Option<String>,
    /// Other remarks, in our words.
    pub notes: Vec<&'static str>,
    /// Where it would run, relative to the root.
    pub directory: String,
    /// The root.
    pub root: String,
    /// The session.
    pub session: String,
    /// What the command will be able to reach.
    pub reach: Vec<String>,
    /// The prefixes that can be approved, as a person would type them.
    pub prefixes: Vec<String>,
    /// The lines that "always" would write.
    pub always: Option<SettingsChange>,
    /// The lines that "always exactly this" would write.
    pub always_exact: Option<SettingsChange>,
    /// When an approval for the session ends, if the session isn't stopped before.
    pub grant_until: Option<Millis>,
}

/// A program call.
#[derive(Clone, Debug, Serialize)]
pub struct PartView {
    /// Its words. `None`: a word that can't be known before it runs.
    pub argv: Vec<Option<String>>,
    /// Its place in the command, in bytes, if that is known.
    pub span: Option<(usize, usize)>,
}

impl QuestionView {
    /// A question that is asked now.
    #[must_use]
    pub fn of(question: &Question<'_>) -> Self {
        let request = question.request;
        let command = request.action.shown();
        let reasons = question.verdict.reasons();
        let known = question.parts().map(|part| (part.span.start, part.span.end));
        let part = |part: &crate::judge::Part| PartView {
            argv: part.argv.clone(),
            span: Some((part.span.start, part.span.end)),
        };
        Self {
            description: (request.description.is_some() || request.background)
                .then(|| request.shown_description()),
            effects: effect_phrases(question.verdict.parts().iter().flat_map(|part| &part.effects)),
            places: other_places(
                known,
                reasons.iter().map(|reason| (reason.span.start, reason.span.end)),
                &command,
            ),
            command,
            parts: question.parts().map(part).collect(),
            reasons: reasons
                .iter()
                .map(|reason| with_rule(&reason.message, reason.rule.as_deref()))
                .collect(),
            variables: variables(&request.env),
            input: match &request.stdin {
                Stdin::Text(text) => Some(text.clone()),
                Stdin::Closed | Stdin::Descriptor(_) => None,
            },
            notes: notes([
                matches!(request.action, Action::Program(_)),
                request.background,
                matches!(request.stdin, Stdin::Descriptor(_)),
            ]),
            directory: question.directory.to_owned(),
            root: question.root.display().to_string(),
            session: question.session.to_owned(),
            reach: question.reach.to_vec(),
            prefixes: question.prefixes.iter().map(|words| prefix_text(words)).collect(),
            always: question.always.map(SettingsChange::of),
            always_exact: question.always_exact.map(SettingsChange::of),
            grant_until: Some(question.grant_until),
        }
    }

    /// A question that waits in the queue.
    #[must_use]
    pub fn of_queued(queued: &QueuedQuestion) -> Self {
        let QueuedQuestion { asked, question, session, .. } = queued;
        let reasons = &asked.verdict.reasons;
        let part = |part: &shellgate_journal::RecordedPart| PartView {
            argv: part.argv.clone(),
            span: part.span.and_then(place),
        };
        let parts: Vec<PartView> = question.parts.iter().map(part).collect();
        let known = parts.iter().filter_map(|part| part.span);
        Self {
            description: asked.description.clone(),
            effects: question.effects.clone(),
            command: asked.text.clone(),
            places: other_places(
                known,
                reasons.iter().filter_map(|reason| reason.span.and_then(place)),
                &asked.text,
            ),
            parts,
            reasons: reasons
                .iter()
                .map(|reason| with_rule(&reason.message, reason.rule.as_deref()))
                .collect(),
            variables: variables(&question.env),
            input: match &question.input {
                Some(RecordedStdin::Text(text)) => Some(text.clone()),
                Some(RecordedStdin::Unread) | None => None,
            },
            notes: notes([
                asked.argv.is_some(),
                question.background,
                question.input == Some(RecordedStdin::Unread),
            ]),
            directory: asked.directory.clone(),
            root: asked.root.clone(),
            session: session.clone(),
            reach: question.reach.clone(),
            prefixes: question.prefixes.iter().map(|words| prefix_text(words)).collect(),
            always: question.always.as_ref().map(SettingsChange::of_recorded),
            always_exact: question.always_exact.as_ref().map(SettingsChange::of_recorded),
            grant_until: question.grant_until,
        }
    }

    /// The answers that it offers, in the order in which they are shown.
    #[must_use]
    pub fn answers(&self) -> Vec<OfferedAnswer> {
        offered(&self.prefixes, self.always.as_ref(), self.always_exact.as_ref())
    }

    /// What an answer of this kind would write to the settings.
    #[must_use]
    pub fn settings_change(&self, kind: AnswerKind) -> Option<&SettingsChange> {
        match kind {
            AnswerKind::Always => self.always.as_ref(),
            AnswerKind::AlwaysExact => self.always_exact.as_ref(),
            _ => None,
        }
    }

    /// Its lines, none wider than `width`.
    #[must_use]
    pub fn lines(&self, width: usize) -> Vec<StyledLine> {
        let most_words = self.parts.iter().map(|part| part.argv.len()).max().unwrap_or(0);
        let mut rows = LabelledRows::new(width, self.command.split('\n').count().max(most_words));
        for (number, effect) in self.effects.iter().enumerate() {
            rows.foreign_text(if number == 0 { "effects" } else { "" }, effect);
        }
        match &self.description {
            Some(words) => rows.foreign_text("agent says", words),
            None => rows.own_words("agent says", "(no description)"),
        }
        let marked = |(start, end): (usize, usize)| (start..end, Style::Caution);
        let parts: Vec<_> = self.parts.iter().filter_map(|part| part.span.map(marked)).collect();
        let places: Vec<_> = self.places.iter().copied().map(marked).collect();
        rows.picture("command", &self.command, &parts, &places);
        for (number, part) in (1..).zip(&self.parts) {
            rows.words(&format!("part {number}"), &part.argv);
        }
        for variable in &self.variables {
            rows.foreign_text("variable", variable);
        }
        if let Some(input) = &self.input {
            rows.foreign_text("input", input);
        }
        for note in &self.notes {
            rows.own_words("note", note);
        }
        let mut shown: HashSet<&str> = HashSet::new();
        for reason in &self.reasons {
            let label = if shown.is_empty() { "why" } else { "" };
            if shown.insert(reason) {
                rows.foreign_text(label, reason);
            }
        }
        rows.foreign_text("directory", &self.directory);
        rows.foreign_text("root", &self.root);
        rows.foreign_text("session", &self.session);
        if let Some(end) = self.grant_until {
            let end = until_text(end);
            rows.own_words("until", &format!("a yes for the session ends with it, or at {end}"));
        }
        for (number, line) in self.reach.iter().enumerate() {
            rows.foreign_text(if number == 0 { "can reach" } else { "" }, line);
        }
        rows.into_lines()
    }

    /// Its lines as plain text.
    #[must_use]
    pub fn to_text(&self, width: usize) -> String {
        plain_text(&self.lines(width))
    }
}

/// Places of reasons that are neither a part nor the whole command.
fn other_places(
    parts: impl Iterator<Item = (usize, usize)>,
    reasons: impl Iterator<Item = (usize, usize)>,
    command: &str,
) -> Vec<(usize, usize)> {
    let mut known: HashSet<(usize, usize)> = parts.collect();
    known.insert((0, command.len()));
    reasons.filter(|place| known.insert(*place)).collect()
}

/// A place as the record has it.
fn place((start, end): (u64, u64)) -> Option<(usize, usize)> {
    Some((usize::try_from(start).ok()?, usize::try_from(end).ok()?))
}

fn with_rule(message: &str, rule: Option<&str>) -> String {
    rule.map_or_else(|| message.to_owned(), |rule| format!("{message}; {rule}"))
}

fn variables(env: &BTreeMap<String, String>) -> Vec<String> {
    env.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// Remarks about a command: without a shell, in the background, with input that was not read.
const NOTES: [&str; 3] = [
    "no shell reads it: the program gets these words as they are",
    "it keeps running after the call is answered",
    "its input is a pipe or file that was not inspected",
];

fn notes(apply: [bool; 3]) -> Vec<&'static str> {
    NOTES.into_iter().zip(apply).filter(|(_, applies)| *applies).map(|(note, _)| note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_right_of_the_bar() {
        let view = QuestionView {
            description: Some(
                "List files\ncommand      │ ls\r\u{1b}[1A\u{202e}x\n── your answer ──\u{200b}   ".to_owned(),
            ),
            command: "rm -r $X\u{7}".to_owned(),
            parts: vec![PartView {
                argv: vec![Some("rm".to_owned()), Some(String::new()), Some("a\nb ".to_owned()), None],
                span: Some((0, 8)),
            }],
            reasons: vec!["no rule covers `rm`".to_owned(); 2],
            variables: vec!["X=a b".to_owned()],
            input: Some("1\n2".to_owned()),
            directory: ".".to_owned(),
            root: "/r".to_owned(),
            session: "s".to_owned(),
            reach: vec!["all".to_owned()],
            ..QuestionView::default()
        };
        insta::assert_snapshot!(view.to_text(60));
    }
}
