//! The keys that answer a question, and the line that stays on the screen after the answer.

use shellgate::approval::{Answer, Choice};
use shellgate::views::{AnswerKind, QuestionView};

/// An answer and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyedAnswer {
    pub(crate) key: char,
    /// Its meaning in a word or two.
    pub(crate) short: &'static str,
    pub(crate) meaning: String,
}

/// The key of an answer, and its meaning in a word or two.
const fn key(kind: AnswerKind) -> (char, &'static str) {
    match kind {
        AnswerKind::Once => ('y', "once"),
        AnswerKind::Session => ('s', "session"),
        AnswerKind::Prefix => ('p', "prefix"),
        AnswerKind::Always => ('a', "always"),
        AnswerKind::AlwaysExact => ('e', "always this"),
        AnswerKind::No => ('n', "no"),
        AnswerKind::NoBecause => ('r', "no, reason"),
    }
}

/// The answers that a question offers, in the order in which they are shown.
pub(crate) fn keyed_answers(view: &QuestionView) -> Vec<KeyedAnswer> {
    let keyed = |answer: shellgate::views::OfferedAnswer| {
        let (key, short) = key(answer.kind);
        let meaning = match answer.kind {
            AnswerKind::Always | AnswerKind::AlwaysExact => format!("{} (shown first)", answer.meaning),
            _ => answer.meaning,
        };
        KeyedAnswer { key, short, meaning }
    };
    view.answers().into_iter().map(keyed).collect()
}

/// The answer that a key gives to a question, if the question offers it.
pub(crate) fn answer_of_key(view: &QuestionView, pressed: char) -> Option<AnswerKind> {
    view.answers().into_iter().map(|answer| answer.kind).find(|kind| key(*kind).0 == pressed)
}

/// The answers to the page that shows what "always" writes.
pub(crate) fn confirmation() -> Vec<KeyedAnswer> {
    let keyed = |key, short, meaning: &str| KeyedAnswer { key, short, meaning: meaning.to_owned() };
    vec![
        keyed('y', "write it", "add these lines and run the command"),
        keyed('n', "back", "go back to the question; nothing is written"),
    ]
}

/// The line that stays on the screen after an answer that was given here.
pub(crate) fn summary(view: &QuestionView, answer: &Answer) -> String {
    match answer {
        Answer::Yes(Choice::Once) => "approved once".to_owned(),
        Answer::Yes(Choice::SessionExact) => "approved exactly this for the session".to_owned(),
        Answer::Yes(Choice::SessionPrefix) => {
            format!("approved `{}` for the session", view.prefixes.join("` and `"))
        }
        Answer::Yes(Choice::Always) => "approved always".to_owned(),
        Answer::Yes(Choice::AlwaysExact) => "approved exactly this for always".to_owned(),
        Answer::No(_) => "denied".to_owned(),
        Answer::Unavailable | Answer::Canceled => "there is no person to ask".to_owned(),
        Answer::TimedOut => "denied: no answer in time".to_owned(),
    }
}

/// The line that stays on the screen after an answer that was given elsewhere.
pub(crate) fn summary_elsewhere(answer: &Answer) -> &'static str {
    match answer {
        Answer::Yes(_) => "approved elsewhere",
        Answer::No(_) => "denied elsewhere",
        Answer::TimedOut => "denied: no answer in time",
        Answer::Unavailable | Answer::Canceled => "the question was withdrawn",
    }
}
