//! The answers that a question offers: their keys and their meanings.

use shellgate::approval::{Answer, Choice, Question};
use shellgate::journal::QueuedQuestion;
use shellgate::request::Action;

use super::escape;
use super::table::Table;

/// The approvals that a question offers beyond "once".
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// The prefixes as a person would type them.
    prefixes: Vec<String>,
    /// The file and the lines that "always" writes.
    always: Option<(String, Vec<String>)>,
}

/// An answer and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: char,
    /// Its meaning in a word or two.
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

    /// The choices of a question that waits in the record.
    pub(crate) fn of_pending(pending: &QueuedQuestion) -> Self {
        let question = &pending.question;
        Self {
            prefixes: question.prefixes.iter().map(|words| prefix_text(words)).collect(),
            always: question.always.as_ref().map(|always| (always.file.clone(), always.lines.clone())),
        }
    }

    /// The answers in the order in which they are shown.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entry = |key, short, meaning: &str| Entry { key, short, meaning: meaning.to_owned() };
        let mut entries = vec![
            entry('y', "once", "run it once"),
            entry('s', "session", "run it, and allow exactly this in this session and directory"),
        ];
        if !self.prefixes.is_empty() {
            let prefixes: Vec<String> = self.prefixes.iter().map(|prefix| format!("`{prefix} …`")).collect();
            let meaning =
                format!("run it, and allow {} in this session and directory", prefixes.join(" or "));
            entries.push(Entry { key: 'p', short: "prefix", meaning });
        }
        if self.always.is_some() {
            entries.push(entry('a', "always", "run it, and add a rule to your settings (shown first)"));
        }
        entries.push(entry('n', "no", "don't run it"));
        entries.push(entry('r', "no, reason", "don't run it, and tell the agent why"));
        entries
    }

    pub(crate) fn offers(&self, key: char) -> bool {
        self.entries().iter().any(|entry| entry.key == key)
    }

    /// The lines that "always" would write, and the file.
    pub(crate) fn always_lines(&self, width: usize) -> Vec<String> {
        let Some((file, lines)) = &self.always else { return Vec::new() };
        let mut table = Table::new(width, lines.len());
        table.foreign_text("file", file);
        table.foreign_text("new lines", &lines.join("\n"));
        table.own_words(
            "",
            "Commands that these rules cover will run without asking, in all your sessions and directories.",
        );
        table.lines
    }

    /// The line that stays on the screen after an answer that was given here.
    pub(crate) fn summary(&self, answer: &Answer) -> String {
        match answer {
            Answer::Yes(Choice::Once) => "approved once".to_owned(),
            Answer::Yes(Choice::SessionExact) => "approved exactly this for the session".to_owned(),
            Answer::Yes(Choice::SessionPrefix) => {
                format!("approved `{}` for the session", self.prefixes.join("` and `"))
            }
            Answer::Yes(Choice::Always) => "approved always".to_owned(),
            Answer::No(_) => "denied".to_owned(),
            Answer::Nobody | Answer::Canceled => "there is no person to ask".to_owned(),
            Answer::TimedOut => "denied: no answer in time".to_owned(),
        }
    }
}

/// A prefix as a person would type it.
fn prefix_text(words: &[String]) -> String {
    escape::line(&Action::Program(words.to_vec()).shown())
}

/// The answers to the page that shows what "always" writes.
pub(crate) fn confirmation() -> Vec<Entry> {
    let entry = |key, short, meaning: &str| Entry { key, short, meaning: meaning.to_owned() };
    vec![
        entry('y', "write it", "add these lines and run the command"),
        entry('n', "back", "go back to the question; nothing is written"),
    ]
}

/// The line that stays on the screen after an answer that was given elsewhere.
pub(crate) fn summary_elsewhere(answer: &Answer) -> &'static str {
    match answer {
        Answer::Yes(_) => "approved from another terminal",
        Answer::No(_) => "denied from another terminal",
        Answer::TimedOut => "denied: no answer in time",
        Answer::Nobody | Answer::Canceled => "the question was withdrawn",
    }
}
