//! What a person needs to know to answer, as lines of text.
//!
//! Our own words stand left of a bar, everything that came from outside right of it. So no text, however long and
//! whatever is in it, looks like a line of ours. Nothing is left out.

use std::collections::{BTreeMap, HashSet};

use shellgate::approval::Question;
use shellgate::journal::{QueuedQuestion, RecordedStdin};
use shellgate::judge::{Decision, Span};
use shellgate::request::{Action, Stdin};

use super::table::Table;

/// What is asked, from whichever source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The agent's own words.
    pub(crate) description: Option<String>,
    /// The command.
    pub(crate) text: String,
    /// The parts that made it ask.
    pub(crate) parts: Vec<Part>,
    /// Where else in the text there is a reason to ask.
    pub(crate) places: Vec<Span>,
    /// Why it is asked.
    pub(crate) reasons: Vec<String>,
    /// Variables that it gets.
    pub(crate) variables: Vec<String>,
    /// What it reads, when that is known.
    pub(crate) input: Option<String>,
    /// Other things to know, in our words.
    pub(crate) notes: Vec<String>,
    /// Where it would run, relative to the root.
    pub(crate) directory: String,
    pub(crate) root: String,
    pub(crate) session: String,
    /// What it will be able to reach.
    pub(crate) reach: Vec<String>,
}

/// A program call.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its words; `None` for one that can't be known before it runs.
    pub(crate) argv: Vec<Option<String>>,
    /// Where it is in the text, if that is known.
    pub(crate) span: Option<Span>,
}

impl Facts {
    pub(crate) fn of(question: &Question<'_>) -> Self {
        let request = question.request;
        let text = request.action.shown();
        let verdict = question.verdict;
        let known = question.parts().map(|part| part.span);
        Self {
            description: (request.description.is_some() || request.background)
                .then(|| request.shown_description()),
            places: places(known, verdict.reasons().iter().map(|reason| reason.span), &text),
            text,
            parts: question
                .parts()
                .map(|part| Part { argv: part.argv.clone(), span: Some(part.span) })
                .collect(),
            reasons: verdict
                .reasons()
                .iter()
                .map(|reason| because(&reason.message, reason.rule.as_deref()))
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
        }
    }

    /// The same facts of a question that lies in the record.
    pub(crate) fn of_pending(pending: &QueuedQuestion) -> Self {
        let QueuedQuestion { asked, question, session, .. } = pending;
        let reasons = &asked.verdict.reasons;
        let parts = question.parts.iter();
        let parts = parts.map(|part| Part { argv: part.argv.clone(), span: part.span.and_then(span) });
        let parts: Vec<Part> = parts.collect();
        let known = parts.iter().filter_map(|part| part.span);
        Self {
            description: asked.description.clone(),
            text: asked.text.clone(),
            places: places(
                known,
                reasons.iter().filter_map(|reason| reason.span.and_then(span)),
                &asked.text,
            ),
            parts,
            reasons: reasons.iter().map(|reason| because(&reason.message, reason.rule.as_deref())).collect(),
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
        }
    }

    /// The lines, none wider than `width`, with codes for colours.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let longest = self
            .text
            .split('\n')
            .count()
            .max(self.parts.iter().map(|part| part.argv.len()).max().unwrap_or(0));
        let mut table = Table::new(width, longest);
        match &self.description {
            Some(words) => table.foreign_text("agent says", words),
            None => table.own_words("agent says", "(nothing about what this is for)"),
        }
        let parts: Vec<_> = self.parts.iter().filter_map(|part| Some((part.span?, Decision::Ask))).collect();
        let places: Vec<_> = self.places.iter().map(|span| (*span, Decision::Ask)).collect();
        table.picture("command", &self.text, &parts, &places);
        for (number, part) in (1..).zip(&self.parts) {
            table.words(&format!("part {number}"), &part.argv);
        }
        for variable in &self.variables {
            table.foreign_text("variable", variable);
        }
        if let Some(input) = &self.input {
            table.foreign_text("input", input);
        }
        for note in &self.notes {
            table.own_words("note", note);
        }
        let mut said: HashSet<&str> = HashSet::new();
        for reason in &self.reasons {
            let label = if said.is_empty() { "why" } else { "" };
            if said.insert(reason) {
                table.foreign_text(label, reason);
            }
        }
        table.foreign_text("directory", &self.directory);
        table.foreign_text("root", &self.root);
        table.foreign_text("session", &self.session);
        for (number, line) in self.reach.iter().enumerate() {
            table.foreign_text(if number == 0 { "can reach" } else { "" }, line);
        }
        table.lines
    }
}

/// Places of reasons that are no part and not all of the text.
fn places(parts: impl Iterator<Item = Span>, reasons: impl Iterator<Item = Span>, text: &str) -> Vec<Span> {
    let mut known: HashSet<Span> = parts.collect();
    known.insert(Span::new(0, text.len()));
    reasons.filter(|span| known.insert(*span)).collect()
}

/// A place as the record has it.
fn span((start, end): (u64, u64)) -> Option<Span> {
    Some(Span::new(usize::try_from(start).ok()?, usize::try_from(end).ok()?))
}

fn because(message: &str, rule: Option<&str>) -> String {
    rule.map_or_else(|| message.to_owned(), |rule| format!("{message}; {rule}"))
}

fn variables(env: &BTreeMap<String, String>) -> Vec<String> {
    env.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// What else there is to know, each with the words for it.
const NOTES: [&str; 3] = [
    "no shell reads it: the words go to the program as they are",
    "it goes on after the answer",
    "it reads a pipe or file that nobody has looked into",
];

fn notes(holds: [bool; 3]) -> Vec<String> {
    NOTES.iter().zip(holds).filter(|(_, holds)| *holds).map(|(words, _)| (*words).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_agent_stay_right_of_the_bar() {
        let facts = Facts {
            description: Some(
                "List files\ncommand      │ ls\r\u{1b}[1A\u{202e}x\n── your answer ──\u{200b}   ".to_owned(),
            ),
            text: "rm -r $X\u{7}".to_owned(),
            parts: vec![Part {
                argv: vec![Some("rm".to_owned()), Some(String::new()), Some("a\nb ".to_owned()), None],
                span: Some(Span::new(0, 8)),
            }],
            reasons: vec!["no rule covers `rm`".to_owned(); 2],
            variables: vec!["X=a b".to_owned()],
            input: Some("1\n2".to_owned()),
            directory: ".".to_owned(),
            root: "/r".to_owned(),
            session: "s".to_owned(),
            reach: vec!["all".to_owned()],
            ..Facts::default()
        };
        let lines = anstream::adapter::strip_str(&facts.lines(60).join("\n")).to_string();
        insta::assert_snapshot!(lines);
    }
}
