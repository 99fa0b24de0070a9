//! `[[ … ]]`.

use super::words::WordPosition;
use super::{Parser, Read};
use crate::tree::{CommandKind, Test, TestOperator, Text};

/// Letters of the tests with one operand.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

const BINARY: &[(&str, TestOperator)] = &[
    ("=", TestOperator::Pattern),
    ("==", TestOperator::Pattern),
    ("!=", TestOperator::Pattern),
    ("=~", TestOperator::Regex),
    ("-eq", TestOperator::Number),
    ("-ne", TestOperator::Number),
    ("-lt", TestOperator::Number),
    ("-le", TestOperator::Number),
    ("-gt", TestOperator::Number),
    ("-ge", TestOperator::Number),
    ("-nt", TestOperator::Other),
    ("-ot", TestOperator::Other), // typos: ignore-line
    ("-ef", TestOperator::Other),
];

impl Parser<'_> {
    /// From behind the opening brackets.
    pub(super) fn test_command(&mut self) -> Read<CommandKind> {
        let start = self.pos.saturating_sub(2);
        let test = self.deeper(Self::test_or)?;
        if !self.eat_word("]]") {
            return self.unclosed(start, "`[[`");
        }
        Ok(CommandKind::Test(test))
    }

    fn test_or(&mut self) -> Read<Test> {
        let left = self.test_and()?;
        if !self.eat(b"||") {
            return Ok(left);
        }
        let right = self.deeper(Self::test_or)?;
        Ok(Test::Both(Box::new(left), Box::new(right)))
    }

    fn test_and(&mut self) -> Read<Test> {
        let left = self.test_term()?;
        if !self.eat(b"&&") {
            return Ok(left);
        }
        let right = self.deeper(Self::test_and)?;
        Ok(Test::Both(Box::new(left), Box::new(right)))
    }

    fn test_term(&mut self) -> Read<Test> {
        self.newlines()?;
        if self.eat(b"(") {
            let test = self.deeper(Self::test_or)?;
            if !self.eat(b")") {
                return self.unexpected();
            }
            self.newlines()?;
            return Ok(Test::Inner(Box::new(test)));
        }
        if self.eat_word("!") {
            return Ok(Test::Inner(Box::new(self.deeper(Self::test_term)?)));
        }
        let word = self.test_word(WordPosition::Plain)?;
        if let Some(letter) = unary(&word) {
            self.skip_blanks();
            let operand = self.test_word(WordPosition::Plain)?;
            self.newlines()?;
            return Ok(Test::Unary(letter, operand));
        }
        self.skip_blanks();
        if self.ends_test_word() {
            return Ok(Test::Unary('n', word));
        }
        let operator = self.test_operator()?;
        self.skip_blanks();
        let position = match operator {
            TestOperator::Pattern => WordPosition::Pattern,
            TestOperator::Regex => WordPosition::Regex,
            _ => WordPosition::Plain,
        };
        let right = self.test_word(position)?;
        self.newlines()?;
        Ok(Test::Binary(word, operator, right))
    }

    fn ends_test_word(&self) -> bool {
        self.word_ahead("]]").is_some()
            || self.ahead(b"&&").is_some()
            || self.ahead(b"||").is_some()
            || self.ahead(b")").is_some()
    }

    fn test_word(&mut self, position: WordPosition) -> Read<Text> {
        self.skip_blanks();
        if self.word_ahead("]]").is_some() {
            return self.unexpected();
        }
        let start = self.pos;
        let word = self.word(position)?;
        if word.pieces.is_empty() {
            return self.unexpected();
        }
        // Bash takes digits right before `<` or `>` as a descriptor, and then it isn't a word.
        let number = word.plain().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        if number && matches!(self.peek(), Some(b'<' | b'>')) {
            return self.error(start, "a redirect can't be inside `[[ ]]`");
        }
        Ok(word)
    }

    fn test_operator(&mut self) -> Read<TestOperator> {
        if matches!(self.peek(), Some(b'<' | b'>')) && self.peek_second() != Some(b'(') {
            if matches!(self.peek_second(), Some(b'<' | b'>' | b'&' | b'|')) {
                return self.unexpected();
            }
            self.pos += 1;
            return Ok(TestOperator::Other);
        }
        let found = BINARY.iter().find(|(text, _)| self.word_ahead(text).is_some());
        match found {
            Some((text, operator)) => {
                self.eat_word(text);
                Ok(*operator)
            }
            None => self.unexpected(),
        }
    }
}

fn unary(word: &Text) -> Option<char> {
    let letter = word.plain()?.strip_prefix('-')?;
    let mut letters = letter.chars();
    let first = letters.next().filter(|letter| UNARY.contains(*letter))?;
    letters.next().is_none().then_some(first)
}
