//! Redirects.

use super::cursor::is_name;
use super::heredocs::Pending;
use super::words::WordPosition;
use super::{Parser, Read};
use crate::tree::{HereSlot, Piece, PieceKind, Redirection, Text};
use crate::{Descriptor, RedirectOperator};

use RedirectOperator::{
    Append, AppendBoth, Clobber, DuplicateIn, DuplicateOut, HereDocument, HereString, Read as ReadFrom,
    ReadWrite, Write, WriteBoth,
};

/// The operators, longest first. Those with `&` in front take no descriptor.
const OPERATORS: &[(&str, RedirectOperator)] = &[
    ("&>>", AppendBoth),
    ("&>", WriteBoth),
    ("<<<", HereString),
    ("<<-", HereDocument),
    ("<<", HereDocument),
    ("<&", DuplicateIn),
    ("<>", ReadWrite),
    ("<", ReadFrom),
    (">>", Append),
    (">&", DuplicateOut),
    (">|", Clobber),
    (">", Write),
];

impl Parser<'_> {
    /// Whether a redirect comes next.
    pub(super) fn redirect_ahead(&mut self) -> bool {
        let pos = self.pos;
        self.skip_blanks();
        let found = self.descriptor().is_some();
        self.pos = pos;
        found
    }

    /// The redirect that comes next, if one does.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirection>> {
        let before = self.pos;
        self.skip_blanks();
        let start = self.pos;
        let Some(descriptor) = self.descriptor() else {
            self.pos = before;
            return Ok(None);
        };
        let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| self.eat(sign.as_bytes())) else {
            return self.unexpected();
        };
        if descriptor != Descriptor::Default && sign.starts_with('&') {
            return self.unexpected();
        }
        self.skip_blanks();
        let target = self.redirect_target(*operator)?;
        let span = self.since(start);
        let here = match operator {
            HereDocument => Some(self.expect_here_document(&target, *sign == "<<-")),
            _ => None,
        };
        Ok(Some(Redirection { span, descriptor, operator: *operator, target, here }))
    }

    /// Passes the descriptor before an operator. `None` if no redirect begins here.
    fn descriptor(&mut self) -> Option<Descriptor> {
        match self.peek()? {
            b'<' | b'>' if self.peek_second() != Some(b'(') => Some(Descriptor::Default),
            b'&' if self.peek_second() == Some(b'>') => Some(Descriptor::Default),
            b'0'..=b'9' => {
                let (digits, end) = self.run(self.pos, u8::is_ascii_digit);
                let number = digits.parse::<u32>().ok().filter(|number| i32::try_from(*number).is_ok())?;
                self.operator_at(end).then(|| {
                    self.pos = end;
                    Descriptor::Number(number)
                })
            }
            b'{' => {
                let (name, end) = self.run(self.pos + 1, |byte| super::cursor::name_byte(*byte));
                let brace = self.joined(end);
                if is_name(&name) && self.byte(brace) == Some(b'[') {
                    // `{a[1]}>f`: bash takes it for a redirect when a bracket, a brace and an operator follow.
                    self.doubt(
                        self.span(self.pos, brace + 1),
                        "an element of a list may be what is redirected here",
                    );
                    return None;
                }
                if !is_name(&name) || self.byte(brace) != Some(b'}') || !self.operator_at(brace + 1) {
                    return None;
                }
                self.pos = brace + 1;
                Some(Descriptor::Variable(name))
            }
            _ => None,
        }
    }

    /// The bytes from `at` on that `fits` takes, and where they end.
    fn run(&self, mut at: usize, fits: impl Fn(&u8) -> bool) -> (String, usize) {
        let mut text = String::new();
        loop {
            let next = self.joined(at);
            match self.byte(next).filter(&fits) {
                Some(byte) => text.push(char::from(byte)),
                None => return (text, at),
            }
            at = next + 1;
        }
    }

    /// Whether `<` or `>` is at `at`, and not a process substitution.
    fn operator_at(&self, at: usize) -> bool {
        let at = self.joined(at);
        matches!(self.byte(at), Some(b'<' | b'>')) && self.byte(self.joined(at + 1)) != Some(b'(')
    }

    fn redirect_target(&mut self, operator: RedirectOperator) -> Read<Text> {
        let start = self.pos;
        // Bash takes `-` alone here: what follows it is the next word.
        if matches!(operator, DuplicateIn | DuplicateOut) && self.peek() == Some(b'-') {
            let at = self.pos;
            self.pos += 1;
            let span = self.since(at);
            let piece = Piece { span, kind: PieceKind::Literal("-".into()) };
            return Ok(Text { span, pieces: vec![piece], head: None });
        }
        // What would be a descriptor is no target: `> 2>f`.
        let descriptor = matches!(self.byte(self.joined(start)), Some(b'0'..=b'9' | b'{'));
        if descriptor && self.descriptor().is_some() {
            return self.error(start, "a redirect can't be the target of a redirect");
        }
        let target = self.word(WordPosition::Plain)?;
        if target.pieces.is_empty() {
            return match self.peek() {
                None => self.error(start, "the text ends where a redirect's target should be"),
                Some(_) => self.unexpected(),
            };
        }
        Ok(target)
    }

    /// Remembers a here-document whose lines come later.
    fn expect_here_document(&mut self, delimiter: &Text, strips: bool) -> HereSlot {
        let here = HereSlot::default();
        self.has_here_document = true;
        let (text, quoted) = Self::unquoted(&delimiter.pieces).unwrap_or_else(|| {
            let raw = delimiter.pieces.iter().map(|piece| self.raw(piece)).collect();
            (raw, false)
        });
        self.pending.push(Pending { here: here.clone(), delimiter: text, quoted, strips });
        here
    }

    /// A piece of a delimiter as it is written. `$E` is itself there.
    fn raw(&mut self, piece: &Piece) -> String {
        match &piece.kind {
            PieceKind::Literal(text) => text.clone(),
            // Not `${E}`: that ends where the same is written.
            PieceKind::Parameter(parameter)
                if parameter.is_plain() && piece.span.end - piece.span.start == parameter.name.len() + 1 =>
            {
                format!("${}", parameter.name)
            }
            _ => {
                self.doubt(piece.span, "the line that ends a here-document has an expansion in it");
                String::new()
            }
        }
    }
}
