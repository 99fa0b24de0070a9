//! Commands inside words.

use super::{Parser, Read};
use crate::tree::{Commands, Direction, PieceKind};

impl Parser<'_> {
    /// `$( … )` and `$(( … ))`, from the parenthesis.
    pub(super) fn substitution(&mut self) -> Read<PieceKind> {
        let open = self.pos;
        if self.byte(open + 1) != Some(b'(') {
            return Ok(PieceKind::Substitution(self.commands_in_parens(open)?));
        }
        // Bash takes `$((` as arithmetic when the last two parentheses belong together, else as commands.
        let close = self.matched(open, b'(', b')')?;
        let inner = close - 1;
        if inner > open + 1 && self.byte(inner) == Some(b')') && self.balanced(open + 2, inner)? {
            let expression = self.expression(open + 2, inner)?;
            self.pos = close + 1;
            return Ok(PieceKind::Arithmetic(expression));
        }
        Ok(PieceKind::Substitution(self.commands_between(open, close)?))
    }

    /// `<( … )` and `>( … )`, from the sign.
    pub(super) fn process(&mut self) -> Read<PieceKind> {
        let direction = if self.peek() == Some(b'<') { Direction::Read } else { Direction::Write };
        let open = self.joined(self.pos + 1);
        let commands = if self.byte(open + 1) == Some(b'(') {
            let close = self.matched(open, b'(', b')')?;
            self.commands_between(open, close)?
        } else {
            self.commands_in_parens(open)?
        };
        Ok(PieceKind::Process(direction, commands))
    }

    /// Commands up to the `)` that ends them.
    fn commands_in_parens(&mut self, open: usize) -> Read<Commands> {
        self.pos = open + 1;
        let list = self.apart(|parser| {
            let list = parser.list()?;
            if parser.eat(b")") { Ok(list) } else { parser.unclosed(open, "`(`") }
        })?;
        let text = self.slice(open + 1, self.pos - 1).to_owned();
        Ok(Commands { list, text })
    }

    /// Commands between parentheses whose places are known.
    fn commands_between(&mut self, open: usize, close: usize) -> Read<Commands> {
        let list = self.within(open + 1, close, |parser| parser.apart(Self::whole))?;
        self.pos = close + 1;
        Ok(Commands { list, text: self.slice(open + 1, close).to_owned() })
    }

    /// Reads commands inside a word: what was open outside doesn't concern them.
    fn apart<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let pending = std::mem::take(&mut self.pending);
        let in_substitution = std::mem::replace(&mut self.in_substitution, true);
        let has_here_document = std::mem::replace(&mut self.has_here_document, false);
        let start = self.pos;
        self.reserved = true;
        self.nested.0 += 1;
        self.nested.1 = self.nested.1.max(self.nested.0);
        let result = read(self)?;
        self.nested.0 -= 1;
        if !self.pending.is_empty() {
            self.doubt(self.since(start), "a here-document begins in this substitution and not in its lines");
            self.pending.clear();
        }
        self.pending = pending;
        self.in_substitution = in_substitution;
        self.has_here_document = has_here_document;
        self.reserved = false;
        Ok(result)
    }

    /// Backticks, from the first. Their text loses some backslashes before it is read.
    pub(super) fn backtick(&mut self, double: bool) -> Read<PieceKind> {
        let start = self.pos;
        let end = self.backtick_end(start)?;
        let mut text = Vec::with_capacity(end - start);
        let mut origin = Vec::with_capacity(end - start);
        let mut at = start + 1;
        while at < end {
            let mut from = at;
            if self.byte(at) == Some(b'\\') {
                match self.byte(at + 1) {
                    Some(b'\n') => {
                        at += 2;
                        continue;
                    }
                    Some(b'\\' | b'`' | b'$') => from = at + 1,
                    Some(b'"') if double => from = at + 1,
                    _ => {
                        text.push(b'\\');
                        origin.push(at);
                        from = at + 1;
                    }
                }
            }
            let Some(byte) = self.byte(from).filter(|_| from < end) else { break };
            text.push(byte);
            origin.push(from);
            at = from + 1;
        }
        origin.push(end);
        let text = String::from_utf8(text).unwrap_or_default();
        let list = self.deeper(|parser| parser.changed(&text, &origin, |inner| inner.whole()))?;
        self.pos = end + 1;
        Ok(PieceKind::Substitution(Commands { list, text }))
    }
}
