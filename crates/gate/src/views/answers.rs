//! The answers that a question offers.

use serde::Serialize;
use shellgate_journal::SettingsLines;
use shellgate_text::{LabelledRows, StyledLine, escape};

use crate::admit::approval::{Always, Choice};
use crate::intake::request::Action;

/// An answer that a question offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfferedAnswer {
    /// The answer.
    pub kind: AnswerKind,
    /// What it does, as a sentence without its full stop.
    pub meaning: String,
}

/// The kinds of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Approves this execution.
    Once,
    /// Approves exactly this for the session.
    Session,
    /// Approves the offered prefixes for the session.
    Prefix,
    /// Approves by rules that are added to the user's settings.
    Always,
    /// Approves exactly this by rules that are added to the user's settings.
    AlwaysExact,
    /// Denies.
    No,
    /// Denies with a reason.
    NoBecause,
}

impl AnswerKind {
    /// Its name for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Prefix => "prefix",
            Self::Always => "always",
            Self::AlwaysExact => "always_exact",
            Self::No => "no",
            Self::NoBecause => "no_because",
        }
    }

    /// What it approves. `None`: it denies.
    #[must_use]
    pub const fn choice(self) -> Option<Choice> {
        match self {
            Self::Once => Some(Choice::Once),
            Self::Session => Some(Choice::SessionExact),
            Self::Prefix => Some(Choice::SessionPrefix),
            Self::Always => Some(Choice::Always),
            Self::AlwaysExact => Some(Choice::AlwaysExact),
            Self::No | Self::NoBecause => None,
        }
    }
}

/// Lines that "always" adds to a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingsChange {
    /// The file.
    pub file: String,
    /// The lines.
    pub lines: Vec<String>,
}

impl SettingsChange {
    pub(super) fn of(always: &Always) -> Self {
        Self { file: always.file.display().to_string(), lines: always.lines.clone() }
    }

    pub(super) fn of_recorded(always: &SettingsLines) -> Self {
        Self { file: always.file.clone(), lines: always.lines.clone() }
    }

    /// The file, the lines and what they mean, none wider than `width`.
    #[must_use]
    pub fn lines(&self, width: usize) -> Vec<StyledLine> {
        let mut rows = LabelledRows::new(width, self.lines.len());
        rows.foreign_text("file", &self.file);
        rows.foreign_text("new lines", &self.lines.join("\n"));
        rows.own_words(
            "",
            "Commands that these rules cover will run without asking, in all your sessions and directories.",
        );
        rows.into_lines()
    }
}

/// The answers to a question with these prefixes, in the order in which they are shown.
pub(super) fn offered(
    prefixes: &[String],
    always: Option<&SettingsChange>,
    always_exact: Option<&SettingsChange>,
) -> Vec<OfferedAnswer> {
    let answer = |kind, meaning: &str| OfferedAnswer { kind, meaning: meaning.to_owned() };
    let mut answers = vec![
        answer(AnswerKind::Once, "run it once"),
        answer(AnswerKind::Session, "run it, and allow exactly this in this session and directory"),
    ];
    if !prefixes.is_empty() {
        let prefixes: Vec<String> = prefixes.iter().map(|prefix| format!("`{prefix} …`")).collect();
        let meaning = format!("run it, and allow {} in this session and directory", prefixes.join(" or "));
        answers.push(answer(AnswerKind::Prefix, &meaning));
    }
    if always.is_some() {
        answers.push(answer(AnswerKind::Always, "run it, and add a rule to your settings"));
    }
    if always_exact.is_some() {
        let meaning = "run it, and add a rule for exactly this to your settings";
        answers.push(answer(AnswerKind::AlwaysExact, meaning));
    }
    answers.push(answer(AnswerKind::No, "don't run it"));
    answers.push(answer(AnswerKind::NoBecause, "don't run it, and tell the agent why"));
    answers
}

/// A prefix as a person would type it.
pub(super) fn prefix_text(words: &[String]) -> String {
    escape::marked_line(&Action::Program(words.to_vec()).shown())
}
