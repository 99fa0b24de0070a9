//! The state of a question on the screen, and what keys do to it. It knows neither the terminal nor the clock.

use shellgate::approval::{Answer, Choice};
use shellgate::text::StyledLine;
use shellgate::views::{AnswerKind, QuestionView, SettingsChange};

use super::choices::{self, KeyedAnswer};
use super::keys::Key;

/// A typed reason has at most this many characters.
const REASON_MAX_CHARS: usize = 500;

/// The page on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Question,
    /// The lines that this kind of "always" would write.
    Always(AnswerKind),
    /// The reason for a denial, as far as it is typed.
    Reason(String),
}

/// A question that is being asked.
#[derive(Debug)]
pub(crate) struct Dialogue {
    view: QuestionView,
    pub(crate) page: Page,
    /// The lines that can be scrolled, wrapped to `width`.
    body: Vec<StyledLine>,
    width: usize,
    /// How many lines fit on the screen.
    visible_lines: usize,
    pub(crate) top: usize,
    /// Whether the last line has been on the screen.
    seen_to_end: bool,
    /// A remark about the last key.
    pub(crate) note: Option<&'static str>,
    /// What Ctrl-C means.
    pub(crate) interrupted: Answer,
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// At most a change on the screen.
    None,
    /// Another page is on the screen.
    PageChanged,
    Answered(Answer),
}

impl Dialogue {
    pub(crate) fn new(view: QuestionView, interrupted: Answer) -> Self {
        Self {
            view,
            page: Page::Question,
            body: Vec::new(),
            width: 0,
            visible_lines: 0,
            top: 0,
            seen_to_end: false,
            note: None,
            interrupted,
        }
    }

    /// The answers that this page takes.
    pub(crate) fn answers(&self) -> Vec<KeyedAnswer> {
        match self.page {
            Page::Always(_) => choices::confirmation(),
            Page::Question | Page::Reason(_) => choices::keyed_answers(&self.view),
        }
    }

    /// All lines that can be scrolled, wrapped to `width`.
    pub(crate) fn body(&mut self, width: usize) -> &[StyledLine] {
        if self.width != width {
            self.width = width;
            self.body = match self.page {
                Page::Always(kind) => {
                    let lines = |always: &SettingsChange| always.lines(width);
                    self.view.settings_change(kind).map(lines).unwrap_or_default()
                }
                Page::Question | Page::Reason(_) => self.view.lines(width),
            };
        }
        &self.body
    }

    /// The range of lines to show, with room for `rows` of `total` lines.
    pub(crate) fn scroll_to_fit(&mut self, rows: usize, total: usize) -> std::ops::Range<usize> {
        self.visible_lines = rows.max(1);
        self.top = self.top.min(total.saturating_sub(self.visible_lines));
        let end = total.min(self.top + self.visible_lines);
        self.seen_to_end |= end == total;
        self.top..end
    }

    /// Whether a key takes effect at once, because it only scrolls, edits the reason, or denies.
    pub(crate) fn needs_no_debounce(&self, key: &Key) -> bool {
        if matches!(self.page, Page::Reason(_)) {
            return true;
        }
        match key {
            Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End | Key::Ctrl(_) => true,
            Key::Char(c) => matches!(c, 'j' | 'k' | 'g' | 'G' | ' ' | 'b'),
            _ => false,
        }
    }

    /// Handles a key that was accepted.
    pub(crate) fn key(&mut self, key: &Key) -> Effect {
        self.note = None;
        if *key == Key::Ctrl('c') {
            return Effect::Answered(self.interrupted.clone());
        }
        if let Page::Reason(reason) = &mut self.page {
            return match edit(reason, key) {
                Edited::More => Effect::None,
                Edited::Back => self.change_page(Page::Question),
                Edited::Done => {
                    let reason = reason.trim();
                    Effect::Answered(Answer::No((!reason.is_empty()).then(|| reason.to_owned())))
                }
            };
        }
        if self.scroll(key) {
            return Effect::None;
        }
        match (&self.page, key) {
            (Page::Always(kind), Key::Char('y')) => {
                let choice = kind.choice();
                choice.map_or(Effect::None, |choice| self.approve(choice))
            }
            (Page::Always(_), Key::Char('n' | 'q') | Key::Escape) => self.change_page(Page::Question),
            (Page::Question, Key::Char('n' | 'q') | Key::Escape) => Effect::Answered(Answer::No(None)),
            (Page::Question, Key::Char(c)) => match choices::answer_of_key(&self.view, *c) {
                Some(AnswerKind::Once) => self.approve(Choice::Once),
                Some(AnswerKind::Session) => self.approve(Choice::SessionExact),
                Some(AnswerKind::Prefix) => self.approve(Choice::SessionPrefix),
                Some(kind @ (AnswerKind::Always | AnswerKind::AlwaysExact)) => match self.seen_to_end {
                    true => self.change_page(Page::Always(kind)),
                    false => self.demand_reading(),
                },
                Some(AnswerKind::NoBecause) => self.change_page(Page::Reason(String::new())),
                Some(AnswerKind::No) => Effect::Answered(Answer::No(None)),
                None => Effect::None,
            },
            (_, Key::Enter) => self.with_note("Enter is not an answer: press one of the keys below"),
            (_, Key::Pasted(_)) => self.with_note("a paste is not an answer: press one of the keys below"),
            _ => Effect::None,
        }
    }

    /// Several keys arrived at once.
    pub(crate) fn note_too_fast(&mut self) {
        self.note = Some("too fast for an answer: press one key");
    }

    fn with_note(&mut self, note: &'static str) -> Effect {
        self.note = Some(note);
        Effect::None
    }

    fn approve(&mut self, choice: Choice) -> Effect {
        if self.seen_to_end { Effect::Answered(Answer::Yes(choice)) } else { self.demand_reading() }
    }

    fn demand_reading(&mut self) -> Effect {
        self.with_note("there is more to read: press PageDown or G, then answer")
    }

    fn change_page(&mut self, page: Page) -> Effect {
        let other_text = [&self.page, &page].iter().any(|page| matches!(page, Page::Always(_)));
        self.page = page;
        if other_text {
            // "Always" is offered after the question was read to its end; the other page wasn't read yet.
            self.seen_to_end = self.page == Page::Question;
            (self.width, self.top) = (0, 0);
        }
        Effect::PageChanged
    }

    fn scroll(&mut self, key: &Key) -> bool {
        let page = self.visible_lines.saturating_sub(1).max(1);
        self.top = match key {
            Key::Down | Key::Char('j') => self.top.saturating_add(1),
            Key::Up | Key::Char('k') => self.top.saturating_sub(1),
            Key::PageDown | Key::Char(' ') => self.top.saturating_add(page),
            Key::PageUp | Key::Char('b') => self.top.saturating_sub(page),
            Key::Home | Key::Char('g') => 0,
            // `scroll_to_fit` corrects it.
            Key::End | Key::Char('G') => usize::MAX >> 1,
            _ => return false,
        };
        true
    }
}

enum Edited {
    More,
    Done,
    Back,
}

/// Edits one line of text.
fn edit(text: &mut String, key: &Key) -> Edited {
    let mut add = |c: char| {
        if text.chars().count() < REASON_MAX_CHARS {
            text.push(if c.is_control() { ' ' } else { c });
        }
    };
    match key {
        Key::Char(c) => add(*c),
        Key::Pasted(pasted) => pasted.chars().for_each(add),
        Key::Backspace => drop(text.pop()),
        Key::Ctrl('u') => text.clear(),
        Key::Ctrl('w') => {
            let kept = text.trim_end().rfind(' ').map_or(0, |at| at + 1);
            text.truncate(kept);
        }
        Key::Enter => return Edited::Done,
        Key::Escape => return Edited::Back,
        _ => {}
    }
    Edited::More
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialogue(lines: usize) -> Dialogue {
        Dialogue::new(
            QuestionView { command: "x\n".repeat(lines), ..QuestionView::default() },
            Answer::No(None),
        )
    }

    fn visible_lines(mut dialogue: Dialogue, rows: usize) -> Dialogue {
        let total = dialogue.body(80).len();
        dialogue.scroll_to_fit(rows, total);
        dialogue
    }

    #[test]
    fn yes_wants_the_end_to_be_seen() {
        let mut dialogue = visible_lines(dialogue(100), 10);
        for key in ['y', 's'] {
            assert_eq!(dialogue.key(&Key::Char(key)), Effect::None);
            assert!(dialogue.note.is_some());
        }
        dialogue.key(&Key::Char('G'));
        let mut dialogue = visible_lines(dialogue, 10);
        assert_eq!(dialogue.key(&Key::Char('y')), Effect::Answered(Answer::Yes(Choice::Once)));
    }

    #[test]
    fn a_no_counts_before_the_end_was_shown() {
        for key in [Key::Char('n'), Key::Char('q'), Key::Escape, Key::Ctrl('c')] {
            assert_eq!(
                visible_lines(dialogue(100), 10).key(&key),
                Effect::Answered(Answer::No(None)),
                "{key:?}"
            );
        }
    }

    #[test]
    fn other_keys_answer_nothing() {
        let pasted = Key::Pasted("y".to_owned());
        for key in
            [Key::Enter, Key::Char('p'), Key::Char('a'), Key::Char('Y'), Key::Other, Key::Backspace, pasted]
        {
            assert_eq!(visible_lines(dialogue(1), 50).key(&key), Effect::None, "{key:?}");
        }
    }

    #[test]
    fn a_reason_is_one_line() {
        let mut dialogue = visible_lines(dialogue(1), 50);
        assert_eq!(dialogue.key(&Key::Char('r')), Effect::PageChanged);
        for key in [Key::Char('y'), Key::Pasted("a\nb\u{1b}c ".to_owned()), Key::Backspace, Key::Char('é')] {
            assert_eq!(dialogue.key(&key), Effect::None);
        }
        assert_eq!(dialogue.key(&Key::Enter), Effect::Answered(Answer::No(Some("ya b cé".to_owned()))));
    }
}
