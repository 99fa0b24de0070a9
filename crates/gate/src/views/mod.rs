//! What people are shown: questions, verdicts and past executions, as data and as text.
//!
//! Terminal, MCP and other front ends use the same views. Each view has its lines with styles, which a front end turns
//! into colors, and the same as plain text. Foreign text in them is escaped: nothing in it acts on a terminal or looks
//! like words of ours.

mod answers;
mod effects;
mod entry;
mod execution;
mod foretold;
mod gain;
mod grant;
mod question;
mod queue;
mod settings;
mod steps;
mod verdict;

pub use crate::answer::comparison::{ComparedEffect, Comparison, Foretold};
pub use answers::{AnswerKind, OfferedAnswer, SettingsChange};
pub use effects::{effect_phrases, effects_text};
pub use entry::outcome_text;
pub use execution::{ExecutionSummary, ExecutionView, status_style};
pub use gain::GainView;
pub use grant::{GrantView, scope_text};
pub use question::{PartView, QuestionView};
pub use queue::QueuedQuestionView;
pub use settings::{FileView, RuleView, SettingsView, UnusedView, ValueView};
pub use verdict::VerdictView;

use shellgate_journal::Millis;
use shellgate_journal::calendar::exact;
use shellgate_text::Style;

use crate::admit::judge::Decision;

/// The style of a decision.
#[must_use]
pub const fn decision_style(decision: Decision) -> Style {
    match decision {
        Decision::Allow => Style::Good,
        Decision::Ask => Style::Caution,
        Decision::Deny => Style::Bad,
    }
}

/// The end of an approval as people read it: `2026-11-15 20:43 UTC`.
#[must_use]
pub fn until_text(end: Millis) -> String {
    let time = format_time(end);
    format!("{} UTC", time.get(..16).unwrap_or(&time))
}

/// A time in UTC as people read it: `2026-11-15 08:43:34`.
#[must_use]
pub fn format_time(at: Millis) -> String {
    exact(at).chars().take(19).map(|c| if c == 'T' { ' ' } else { c }).collect()
}
