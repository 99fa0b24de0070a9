//! Reserved words. Bash knows them only where a command may begin, and only written without any quote.

use super::Parser;
use super::cursor::breaks;

/// A reserved word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    Not,
    OpenTest,
    CloseTest,
    Case,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    In,
    Select,
    Then,
    Time,
    Until,
    While,
    Open,
    Close,
}

use Keyword::{
    Case, Close, CloseTest, Coproc, Do, Done, Elif, Else, Esac, Fi, For, Function, If, In, Not, Open,
    OpenTest, Select, Then, Time, Until, While,
};

const WORDS: &[(&str, Keyword)] = &[
    ("!", Not),
    ("[[", OpenTest),
    ("]]", CloseTest),
    ("case", Case),
    ("coproc", Coproc),
    ("do", Do),
    ("done", Done),
    ("elif", Elif),
    ("else", Else),
    ("esac", Esac),
    ("fi", Fi),
    ("for", For),
    ("function", Function),
    ("if", If),
    ("in", In),
    ("select", Select),
    ("then", Then),
    ("time", Time),
    ("until", Until),
    ("while", While),
    ("{", Open),
    ("}", Close),
];

impl Keyword {
    pub(super) fn text(self) -> &'static str {
        WORDS.iter().find(|(_, keyword)| *keyword == self).map_or("", |(text, _)| text)
    }
}

impl Parser<'_> {
    /// The end of `word`, if exactly that comes next as a word of its own.
    pub(super) fn word_ahead(&self, word: &str) -> Option<usize> {
        let end = self.ahead(word.as_bytes())?;
        let next = self.joined(end);
        match self.byte(next) {
            None => Some(end),
            // `<(` and `>(` would go on with the word.
            Some(b'<' | b'>') if self.byte(self.joined(next + 1)) == Some(b'(') => None,
            Some(byte) if breaks(byte) => Some(end),
            Some(_) => None,
        }
    }

    /// The reserved word that comes next, if one may.
    pub(super) fn keyword(&mut self) -> Option<Keyword> {
        if !self.reserved {
            return None;
        }
        let first = self.peek()?;
        WORDS
            .iter()
            .filter(|(text, _)| text.as_bytes().first() == Some(&first))
            .find(|(text, _)| self.word_ahead(text).is_some())
            .map(|(_, keyword)| *keyword)
    }

    /// Passes this reserved word, if it comes next and may.
    pub(super) fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        self.reserved && self.eat_word(keyword.text())
    }

    /// Passes this word, if it comes next, wherever that is. What comes after it may be reserved.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        match self.word_ahead(word) {
            Some(end) => {
                self.pos = end;
                self.reserved = true;
                true
            }
            None => false,
        }
    }
}
