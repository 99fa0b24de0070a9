//! Quotes of all kinds, and what is expanded inside double ones.

use super::{Parser, Read};
use crate::tree::{Piece, PieceKind, Quoting};

/// A text in which only `$`, backticks and some backslashes mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SoftText {
    /// Between double quotes.
    Double,
    /// A here-document.
    HereSlot,
    /// An arithmetic expression.
    Expression,
}

impl SoftText {
    /// Whether a backslash before this byte disappears.
    const fn escapes(self, byte: u8) -> bool {
        matches!(byte, b'$' | b'`' | b'\\') || (byte == b'"' && !matches!(self, Self::HereSlot))
    }

    const fn ordinary(self, byte: u8) -> bool {
        !matches!(byte, b'$' | b'`' | b'\\') && (byte != b'"' || matches!(self, Self::HereSlot))
    }
}

/// Collects literal text between other pieces.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) done: Vec<Piece>,
    literal: String,
    start: usize,
}

impl Pieces {
    pub(super) fn literal(&mut self, at: usize, text: &str) {
        if self.literal.is_empty() {
            self.start = at;
        }
        self.literal.push_str(text);
    }

    /// The literal text that nothing interrupted yet.
    pub(super) fn tail(&self) -> &str {
        &self.literal
    }

    pub(super) fn flush(&mut self, parser: &Parser<'_>, end: usize) {
        if !self.literal.is_empty() {
            let span = parser.span(self.start, end);
            self.done.push(Piece { span, kind: PieceKind::Literal(std::mem::take(&mut self.literal)) });
        }
    }

    /// Adds the piece that was read from `start` up to where the parser is.
    pub(super) fn push(&mut self, parser: &Parser<'_>, start: usize, kind: PieceKind) {
        self.flush(parser, start);
        self.done.push(Piece { span: parser.since(start), kind });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.literal.is_empty()
    }
}

impl Parser<'_> {
    /// `'…'`, from its first quote.
    pub(super) fn single(&mut self) -> Read<PieceKind> {
        let start = self.pos;
        let end = self.single_end(start, false)?;
        self.pos = end + 1;
        Ok(PieceKind::Quoted(self.slice(start + 1, end).to_owned(), Quoting::Single))
    }

    /// `\x`, from the backslash. One at the very end is itself.
    pub(super) fn backslash(&mut self) -> PieceKind {
        let start = self.pos + 1;
        self.pos = self.char_end(start).min(self.end);
        let text = self.slice(start, self.pos);
        PieceKind::Quoted(if text.is_empty() { "\\".into() } else { text.into() }, Quoting::Backslash)
    }

    /// `"…"`, from its first quote.
    pub(super) fn double(&mut self) -> Read<PieceKind> {
        let start = self.pos;
        self.pos += 1;
        Ok(PieceKind::Double(self.double_pieces(start)?))
    }

    /// What is behind the quote at `start`, and the quote that closes it.
    pub(super) fn double_pieces(&mut self, start: usize) -> Read<Vec<Piece>> {
        let pieces = self.soft(SoftText::Double)?;
        if self.byte(self.pos) != Some(b'"') {
            return self.error(start, "the `\"` is never closed");
        }
        self.double_quotes.insert(start, self.pos);
        self.pos += 1;
        Ok(pieces)
    }

    /// Reads a soft text up to its end; between double quotes, up to the one that closes them.
    pub(super) fn soft(&mut self, soft: SoftText) -> Read<Vec<Piece>> {
        self.deeper(|parser| {
            let mut pieces = Pieces::default();
            loop {
                let run = parser.pos;
                while parser.byte(parser.pos).is_some_and(|byte| soft.ordinary(byte)) {
                    parser.pos += 1;
                }
                if parser.pos > run {
                    pieces.literal(run, parser.slice(run, parser.pos));
                }
                let start = parser.pos;
                match if soft == SoftText::HereSlot { parser.byte(start) } else { parser.peek() } {
                    None => break,
                    Some(b'"') if soft == SoftText::Double => break,
                    Some(b'\\') => parser.soft_backslash(soft, &mut pieces),
                    Some(b'`') => {
                        let kind = parser.backtick(soft == SoftText::Double)?;
                        pieces.push(parser, start, kind);
                    }
                    Some(b'$') => match parser.dollar(true)? {
                        Some(kind) => pieces.push(parser, start, kind),
                        None => {
                            parser.pos += 1;
                            pieces.literal(start, "$");
                        }
                    },
                    // Only after a continued line, or a quote in an expression.
                    Some(_) => {
                        let at = parser.pos;
                        parser.pos = parser.char_end(at);
                        pieces.literal(at, parser.slice(at, parser.pos));
                    }
                }
            }
            pieces.flush(parser, parser.pos);
            Ok(pieces.done)
        })
    }

    fn soft_backslash(&mut self, soft: SoftText, pieces: &mut Pieces) {
        let start = self.pos;
        match self.byte(start + 1) {
            Some(byte) if soft.escapes(byte) => {
                let kind = self.backslash();
                pieces.push(self, start, kind);
            }
            _ => {
                self.pos += 1;
                pieces.literal(start, "\\");
            }
        }
    }
}
