//! Quotes in the rest of a `${x…}` between double quotes, in a here-document or in an expression.
//!
//! `$'…'`: between double quotes bash decodes it while it reads the text and puts the result back without quotes; what the escapes
//! made is then expanded, together with what stands behind the quote. In a here-document `$'` is no quote at all: what is
//! inside is expanded as it is written. A text without special characters is the same either way. Any other is a
//! doubt, and what either reading would run is found.
//!
//! `"…"`: bash takes these quotes out before it expands the rest, so `"${x-"$"(c)}"` runs `c`.

use super::quotes::SoftText;
use super::{Parser, Read, Stop};
use crate::tree::{Piece, PieceKind, Quoting};

/// Characters that begin or end something when they are read again, alone or with what comes behind them.
const LIVE: [char; 9] = ['$', '`', '\\', '"', '\'', '{', '}', '<', '>'];

impl Parser<'_> {
    /// From the quote behind `$`.
    pub(super) fn decoded_again(&mut self) -> Read<PieceKind> {
        let start = self.pos;
        let PieceKind::Quoted(decoded, quoting) = self.ansi()? else {
            return self.error(start, "the `'` is never closed");
        };
        let written = self.slice(start + 1, self.pos.saturating_sub(1));
        // A backslash as it is written only hides the character behind it.
        let is_live = decoded.contains(LIVE) || written.contains(['$', '`', '}']);
        if !is_live {
            return Ok(PieceKind::Quoted(decoded, quoting));
        }
        self.doubt(self.since(start), "bash expands what this quote holds");
        let mut pieces = self.expanded_text(&decoded, start)?;
        if written != decoded {
            pieces.extend(self.expanded_text(written, start)?);
        }
        let kind = PieceKind::Quoted(decoded, Quoting::Ansi);
        pieces.push(Piece { span: self.since(start), kind });
        Ok(PieceKind::Double(pieces))
    }

    /// Adds what the text from `start` to here holds without its double quotes.
    pub(super) fn without_quotes(&mut self, start: usize, pieces: &mut Vec<Piece>) -> Read<()> {
        self.doubt(self.since(start), "bash takes quotes out of this expansion and then expands it");
        let mut is_escaped = false;
        let is_kept = |c: &char| {
            let keeps = *c != '"' || is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            keeps
        };
        let text: String = self.slice(start, self.pos).chars().filter(is_kept).collect();
        pieces.extend(self.expanded_text(&text, start)?);
        Ok(())
    }

    /// What `text` holds if it is expanded. One that can't be read alone holds nothing that is certain.
    fn expanded_text(&mut self, text: &str, start: usize) -> Read<Vec<Piece>> {
        if !text.contains(['$', '`']) {
            return Ok(Vec::new());
        }
        let origin = vec![start; text.len() + 1];
        let inside =
            self.deeper(|parser| Ok(parser.changed(text, &origin, |inner| inner.soft(SoftText::HereSlot))))?;
        match inside {
            Ok(pieces) => Ok(pieces),
            Err(Stop::Syntax { .. }) => Ok(Vec::new()),
            Err(stop) => Err(stop),
        }
    }
}

/// Whether the end of a text may begin something together with what comes behind it.
pub(super) fn opens_something(text: &str) -> bool {
    text.ends_with(['$', '<', '>'])
}

/// The same for the pieces of a text between double quotes.
pub(super) fn ends_open(pieces: &[Piece]) -> bool {
    matches!(pieces.last(), Some(Piece { kind: PieceKind::Literal(text), .. }) if opens_something(text))
}
