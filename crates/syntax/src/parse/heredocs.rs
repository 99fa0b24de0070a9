//! Here-documents: their lines begin behind the newline that ends the command's line.

use super::quotes::SoftText;
use super::{Parser, Read};
use crate::tree::{HereDocument, HereSlot, Piece, PieceKind, Quoting};

/// A here-document whose lines weren't reached yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) here: HereSlot,
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strips: bool,
}

/// Lines as bash keeps them, with where each byte was.
#[derive(Debug, Default)]
struct Lines {
    text: Vec<u8>,
    origin: Vec<usize>,
}

impl Lines {
    fn push(&mut self, byte: u8, at: usize) {
        self.text.push(byte);
        self.origin.push(at);
    }
}

impl Parser<'_> {
    /// Reads the here-documents whose operators came before. The first one begins here.
    pub(super) fn here_documents(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.pos;
            let (lines, end) = self.document_lines(&pending);
            let span = self.span(start, end);
            let body = if pending.quoted {
                let text = String::from_utf8(lines.text).unwrap_or_default();
                vec![Piece { span, kind: PieceKind::Quoted(text, Quoting::Single) }]
            } else {
                self.document_body(lines, end)?
            };
            // Each slot is filled once, so this can't fail.
            let _ = pending.here.0.set(HereDocument { span, strips: pending.strips, body });
        }
        Ok(())
    }

    fn document_body(&mut self, mut lines: Lines, end: usize) -> Read<Vec<Piece>> {
        lines.origin.push(end);
        let text = String::from_utf8(lines.text).unwrap_or_default();
        let next = self.pos;
        let body = self
            .deeper(|parser| parser.changed(&text, &lines.origin, |inner| inner.soft(SoftText::HereSlot)))?;
        self.pos = next;
        Ok(body)
    }

    /// The lines up to the delimiter, and where they end. Passes the delimiter too.
    fn document_lines(&mut self, pending: &Pending) -> (Lines, usize) {
        let mut lines = Lines::default();
        loop {
            let start = self.pos;
            if self.byte(start).is_none() {
                // The last line has a newline, even if the text hasn't.
                if lines.text.last().is_some_and(|byte| *byte != b'\n') {
                    lines.push(b'\n', start);
                }
                return (lines, start);
            }
            let before = lines.text.len();
            self.document_line(pending, &mut lines);
            // A line that is the delimiter with its tabs ends the document too: bash looks before it strips them.
            let is_delimiter =
                |line: &[u8]| matches!(line.strip_prefix(pending.delimiter.as_bytes()), Some([] | [b'\n']));
            if pending.strips && !lines.text.get(before..).is_some_and(is_delimiter) {
                let line = lines.text.get(before..).unwrap_or_default();
                let tabs = line.iter().take_while(|byte| **byte == b'\t').count();
                lines.text.drain(before..before + tabs);
                lines.origin.drain(before..before + tabs);
            }
            let line = lines.text.get(before..).unwrap_or_default();
            let rest = line.strip_prefix(pending.delimiter.as_bytes());
            match rest {
                Some([] | [b'\n']) => {
                    lines.text.truncate(before);
                    lines.origin.truncate(before);
                    return (lines, start);
                }
                // Inside `$( )` a delimiter with `)` behind it ends the document too: bash goes on reading after the delimiter.
                Some(rest) if self.in_substitution && rest.contains(&b')') => {
                    let at = before + pending.delimiter.len();
                    self.pos = lines.origin.get(at).copied().unwrap_or(self.pos);
                    lines.text.truncate(before);
                    lines.origin.truncate(before);
                    return (lines, start);
                }
                _ => {}
            }
        }
    }

    /// One line, with its newline. Continued lines are joined unless the delimiter was quoted.
    fn document_line(&mut self, pending: &Pending, lines: &mut Lines) {
        while let Some(byte) = self.byte(self.pos) {
            if byte == b'\\' && !pending.quoted {
                if self.byte(self.pos + 1) == Some(b'\n') {
                    self.pos += 2;
                    continue;
                }
                lines.push(byte, self.pos);
                self.pos += 1;
                let Some(next) = self.byte(self.pos) else { return };
                lines.push(next, self.pos);
                self.pos += 1;
                continue;
            }
            lines.push(byte, self.pos);
            self.pos += 1;
            if byte == b'\n' {
                return;
            }
        }
    }
}
