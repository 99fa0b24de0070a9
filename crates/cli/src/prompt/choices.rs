//! What can be answered, by which key, and what that means.

use shellgate::approval::{Answer, Choice, Question};
use shellgate::journal::QueuedQuestion;
use shellgate::request::Action;

use super::escape;
use super::table::Table;

/// What this question offers beyond yes and no.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// As a person would type them.
    prefixes: Vec<String>,
    /// The file and the lines of "always".
    always: Option<(String, Vec<String>)>,
}

/// An answer and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: char,
    /// In a word or two.
    pub(crate) short: &'static str,
    pub(crate) meaning: String,
}

impl Choices {
    pub(crate) fn of(question: &Question<'_>) -> Self {
        Self {
            prefixes: question.prefixes.iter().map(|words| prefix_text(words)).collect(),
            always: question.always.map(|always| (always.file.display().to_string(), always.lines.clone())),
        }
    }

    /// The same of a question that lies in the record.
    pub(crate) fn of_pending(pending: &QueuedQuestion) -> Self {
        let question = &pending.question;
        Self {
            prefixes: question.prefixes.iter().map(|words| prefix_text(words)).collect(),
            always: question.always.as_ref().map(|always| (always.file.clone(), always.lines.clone())),
        }
    }

    /// The answers, in the order in which they are shown.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entry = |key, short, meaning: &str| Entry { key, short, meaning: meaning.to_owned() };
        let mut entries = vec![
            entry('y', "once", "run it, this once"),
            entry('s', "session", "run it, and exactly this again: in this session and directory"),
        ];
        if !self.prefixes.is_empty() {
            let meaning = format!(
                "run it, and what begins with `{}`: in this session and directory",
                self.prefixes.join("` or `")
            );
            entries.push(Entry { key: 'p', short: "prefix", meaning });
        }
        if self.always.is_some() {
            entries.push(entry(
                'a',
                "always",
                "run it, and add a rule to your settings, which is shown first",
            ));
        }
        entries.push(entry('n', "no", "don't run it"));
        entries.push(entry('r', "no, why", "don't run it, and tell the agent why"));
        entries
    }

    pub(crate) fn offers(&self, key: char) -> bool {
        self.entries().iter().any(|entry| entry.key == key)
    }

    /// What "always" would write, and where.
    pub(crate) fn always_lines(&self, width: usize) -> Vec<String> {
        let Some((file, lines)) = &self.always else { return Vec::new() };
        let mut table = Table::new(width, lines.len());
        table.foreign_text("file", file);
        table.foreign_text("new lines", &lines.join("\n"));
        table.own_words(
            "",
            "Whatever these rules cover then runs unasked, in every session and directory of yours.",
        );
        table.lines
    }

    /// The line that stays, about an answer that was given here.
    pub(crate) fn summary(&self, answer: &Answer) -> String {
        match answer {
            Answer::Yes(Choice::Once) => "you said yes, this once".to_owned(),
            Answer::Yes(Choice::SessionExact) => "you said yes, for exactly this in this session".to_owned(),
            Answer::Yes(Choice::SessionPrefix) => {
                format!("you said yes, for `{}` in this session", self.prefixes.join("` and `"))
            }
            Answer::Yes(Choice::Always) => "you said yes, always".to_owned(),
            Answer::No(_) => "you said no".to_owned(),
            Answer::Nobody | Answer::Canceled => "nobody is there to ask".to_owned(),
            Answer::TimedOut => "nobody answered in time, which is a no".to_owned(),
        }
    }
}

/// A prefix as a person would type it.
fn prefix_text(words: &[String]) -> String {
    escape::line(&Action::Program(words.to_vec()).shown())
}

/// The answers for "always", once its lines are shown.
pub(crate) fn confirmation() -> Vec<Entry> {
    let entry = |key, short, meaning: &str| Entry { key, short, meaning: meaning.to_owned() };
    vec![
        entry('y', "write it", "add these lines, and run the command"),
        entry('n', "back", "back to the question: nothing is written"),
    ]
}

/// The line that stays, about an answer that somebody gave elsewhere.
pub(crate) fn summary_elsewhere(answer: &Answer) -> &'static str {
    match answer {
        Answer::Yes(_) => "somebody said yes from elsewhere",
        Answer::No(_) => "somebody said no from elsewhere",
        Answer::TimedOut => "nobody answered in time, which is a no",
        Answer::Nobody | Answer::Canceled => "the question was taken back",
    }
}
