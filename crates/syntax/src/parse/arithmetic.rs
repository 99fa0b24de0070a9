//! Arithmetic: `(( … ))`, `$(( … ))`, `$[ … ]`.

use super::quotes::SoftText;
use super::{Parser, Read};
use crate::tree::{PieceKind, Text};

impl Parser<'_> {
    /// `(( … ))`, from the first parenthesis. Nothing, if the last two aren't together: then these are two subshells.
    pub(super) fn arithmetic_command(&mut self) -> Read<Option<Text>> {
        let open = self.joined(self.pos + 1);
        let close = self.matched(open, b'(', b')')?;
        if self.byte(close + 1) != Some(b')') {
            return Ok(None);
        }
        let expression = self.expression(open + 1, close)?;
        self.pos = close + 2;
        Ok(Some(expression))
    }

    /// `$[ … ]`, from the bracket.
    pub(super) fn old_arithmetic(&mut self) -> Read<PieceKind> {
        let open = self.pos;
        let close = self.matched(open, b'[', b']')?;
        let expression = self.expression(open + 1, close)?;
        self.pos = close + 1;
        Ok(PieceKind::Arithmetic(expression))
    }

    /// The expression in `start..end`. Bash expands it like text between double quotes.
    pub(super) fn expression(&mut self, start: usize, end: usize) -> Read<Text> {
        let pieces = self.within(start, end, |parser| parser.soft(SoftText::Expression))?;
        Ok(Text { span: self.span(start, end), pieces, head: None })
    }
}
