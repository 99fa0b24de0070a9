//! What `$` begins.

use super::cursor::{name_byte, name_start};
use super::{Parser, Read};
use crate::tree::{Operation, Parameter, PieceKind, Quoting};

impl Parser<'_> {
    /// Reads what the `$` here begins. `None` if it is just a character. `soft`: between double quotes or the like.
    pub(super) fn dollar(&mut self, soft: bool) -> Read<Option<PieceKind>> {
        let Some(next) = self.peek_second() else { return Ok(None) };
        let second = self.joined(self.pos + 1);
        let kind = match next {
            b'(' => {
                self.pos = second;
                self.substitution()?
            }
            b'{' => {
                self.pos = second + 1;
                self.parameter(second, soft)?
            }
            b'[' => {
                self.pos = second;
                self.old_arithmetic()?
            }
            b'\'' if !soft => {
                self.pos = second;
                self.ansi()?
            }
            b'"' if !soft => {
                self.pos = second;
                self.double()?
            }
            byte if name_start(byte) => {
                self.pos = second;
                let name = self.name();
                plain(name)
            }
            b'0'..=b'9' | b'*' | b'@' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                self.pos = second + 1;
                plain(char::from(next).to_string())
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    /// The name that begins here.
    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            if !name_byte(byte) {
                break;
            }
            name.push(char::from(byte));
            self.pos += 1;
        }
        name
    }

    /// `$'…'`, from the quote.
    pub(super) fn ansi(&mut self) -> Read<PieceKind> {
        let start = self.pos;
        let end = self.single_end(start, true)?;
        self.pos = end + 1;
        let text = decode(self.slice(start + 1, end));
        let text = String::from_utf8(text).unwrap_or_else(|error| {
            self.doubt(self.since(start), "these escapes make bytes that are no characters");
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        Ok(PieceKind::Quoted(text, Quoting::Ansi))
    }
}

fn plain(name: String) -> PieceKind {
    PieceKind::Parameter(Box::new(Parameter {
        name,
        subscript: None,
        indirect: false,
        operation: Operation::Value,
    }))
}

/// Escapes that stand for one byte.
const ESCAPES: &[(u8, u8)] = &[
    (b'a', 7),
    (b'b', 8),
    (b'e', 27),
    (b'E', 27),
    (b'f', 12),
    (b'n', b'\n'),
    (b'r', b'\r'),
    (b't', b'\t'),
    (b'v', 11),
    (b'\\', b'\\'),
    (b'\'', b'\''),
    (b'"', b'"'),
    (b'?', b'?'),
];

/// The bytes that `$'text'` stands for. A NUL ends them.
fn decode(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&escape, tail)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        if let Some((_, meaning)) = ESCAPES.iter().find(|(name, _)| *name == escape) {
            out.push(*meaning);
            rest = tail;
            continue;
        }
        match escape {
            b'0'..=b'7' => out.push(low_byte(digits(&mut rest, 8, 3))),
            b'x' => {
                rest = tail;
                hexadecimal(&mut rest, &mut out);
            }
            b'u' | b'U' => {
                rest = tail;
                unicode(escape, &mut rest, &mut out);
            }
            b'c' if !tail.is_empty() => {
                rest = tail;
                control(&mut rest, &mut out);
            }
            _ => {
                out.extend([b'\\', escape]);
                rest = tail;
            }
        }
        if out.last() == Some(&0) {
            out.pop();
            break;
        }
    }
    out
}

/// Up to `most` digits from `rest`.
fn digits(rest: &mut &[u8], base: u32, most: usize) -> u32 {
    let mut value = 0_u32;
    for _ in 0..most {
        let Some((&byte, tail)) = rest.split_first() else { break };
        let Some(digit) = char::from(byte).to_digit(base) else { break };
        value = value.wrapping_mul(base).wrapping_add(digit);
        *rest = tail;
    }
    value
}

fn low_byte(value: u32) -> u8 {
    u8::try_from(value & 0xff).unwrap_or_default()
}

fn hexadecimal(rest: &mut &[u8], out: &mut Vec<u8>) {
    if let Some(mut inner) = rest.strip_prefix(b"{") {
        let value = digits(&mut inner, 16, usize::MAX);
        *rest = inner.strip_prefix(b"}").unwrap_or(inner);
        out.push(low_byte(value));
        return;
    }
    let before = rest.len();
    let value = digits(rest, 16, 2);
    if rest.len() == before { out.extend(b"\\x") } else { out.push(low_byte(value)) }
}

fn unicode(escape: u8, rest: &mut &[u8], out: &mut Vec<u8>) {
    let before = rest.len();
    let value = digits(rest, 16, if escape == b'u' { 4 } else { 8 });
    if rest.len() == before {
        out.extend([b'\\', escape]);
        return;
    }
    match char::from_u32(value) {
        Some(character) => out.extend(character.encode_utf8(&mut [0; 4]).bytes()),
        // Not UTF-8 on purpose: what bash makes of it is no character.
        None => out.push(0xff),
    }
}

fn control(rest: &mut &[u8], out: &mut Vec<u8>) {
    let Some((&byte, tail)) = rest.split_first() else { return };
    *rest = tail;
    if byte == b'\\' {
        *rest = rest.strip_prefix(b"\\").unwrap_or(rest);
    }
    out.push(if byte == b'?' { 0x7f } else { byte.to_ascii_uppercase() & 0x1f });
}
