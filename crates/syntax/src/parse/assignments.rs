//! Arrays in assignments: `a=( … )`.

use super::words::WordPosition;
use super::{Parser, Read};
use crate::tree::PieceKind;

impl Parser<'_> {
    /// `( … )`, from the parenthesis. Newlines and comments may come between the elements.
    pub(super) fn array(&mut self) -> Read<PieceKind> {
        let open = self.pos;
        self.pos += 1;
        let elements = self.deeper(|parser| {
            let mut elements = Vec::new();
            loop {
                parser.newlines()?;
                match parser.peek() {
                    None => return parser.error(open, "the `(` is never closed"),
                    Some(b')') => {
                        parser.pos += 1;
                        return Ok(elements);
                    }
                    Some(_) => {}
                }
                let element = parser.word(WordPosition::Element)?;
                if element.pieces.is_empty() {
                    return parser.unexpected();
                }
                elements.push(element);
            }
        })?;
        self.reserved = false;
        Ok(PieceKind::Array(elements))
    }
}
