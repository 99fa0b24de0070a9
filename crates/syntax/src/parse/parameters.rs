//! `${…}`.

use super::cursor::name_start;
use super::decoded::{ends_open, opens_something};
use super::quotes::Pieces;
use super::{Parser, Read};
use crate::HazardKind;
use crate::tree::{Operation, Parameter, PieceKind, Text};

/// Operators with a default value, longest first.
const DEFAULTS: &[&str] = &[":-", ":=", ":?", ":+", "-", "=", "?", "+"];

/// How quotes in the rest of `${x…}` count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    /// Not between double quotes: all quote.
    All,
    /// A pattern between double quotes: all quote, but what is nested is between double quotes.
    Pattern,
    /// Between double quotes: single quotes come in pairs, but protect nothing.
    SoftText,
}

impl Quotes {
    const fn of(soft: bool) -> Self {
        if soft { Self::SoftText } else { Self::All }
    }
}

impl Parser<'_> {
    /// `${…}`, from behind the brace at `open`.
    pub(super) fn parameter(&mut self, open: usize, soft: bool) -> Read<PieceKind> {
        self.deeper(|parser| {
            let parameter = parser.parameter_inside(open, soft)?;
            if parser.byte(parser.pos) != Some(b'}') {
                return parser.error(open, "the `${` is never closed");
            }
            parser.pos += 1;
            if parameter.indirect && parameter.operation != Operation::Names {
                parser.hazard(parser.since(open), HazardKind::Indirection);
            }
            Ok(PieceKind::Parameter(Box::new(parameter)))
        })
    }

    fn parameter_inside(&mut self, open: usize, soft: bool) -> Read<Parameter> {
        let mut parameter =
            Parameter { name: String::new(), subscript: None, indirect: false, operation: Operation::Value };
        if self.peek() == Some(b'#') && self.names_something() {
            self.pos += 1;
            parameter.operation = Operation::Length;
        } else if self.peek() == Some(b'!') && self.names_something() {
            self.pos += 1;
            parameter.indirect = true;
        }
        parameter.name = self.parameter_name();
        if self.peek() == Some(b'[') && parameter.name.bytes().next().is_some_and(name_start) {
            let bracket = self.pos;
            self.pos += 1;
            parameter.subscript = Some(self.subscript_inside(bracket, Some(b'}'))?);
        }
        if self.peek() == Some(b'}') && !parameter.name.is_empty() {
            if parameter.indirect && parameter.subscript.as_ref().is_some_and(is_all) {
                parameter.operation = Operation::Names;
            }
            return Ok(parameter);
        }
        if parameter.operation == Operation::Length {
            parameter.operation = self.bad(open, soft)?;
            return Ok(parameter);
        }
        parameter.operation = self.operation(open, soft, &parameter)?;
        Ok(parameter)
    }

    /// Whether a parameter's name follows the `#` or `!` here, so that this isn't the name itself.
    fn names_something(&mut self) -> bool {
        let Some(next) = self.peek_second() else { return false };
        if name_start(next) || next.is_ascii_digit() {
            return true;
        }
        // `${#-}` is the length of `$-`, `${#-x}` a default for `$#`.
        let after = self.byte(self.joined(self.joined(self.pos + 1) + 1));
        matches!(next, b'*' | b'@' | b'#' | b'?' | b'-' | b'$' | b'!') && after == Some(b'}')
    }

    fn parameter_name(&mut self) -> String {
        match self.peek() {
            Some(byte) if name_start(byte) => self.name(),
            Some(byte) if byte.is_ascii_digit() => {
                let mut name = String::new();
                while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
                    name.push(char::from(byte));
                    self.pos += 1;
                }
                name
            }
            Some(byte @ (b'*' | b'@' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.pos += 1;
                char::from(byte).to_string()
            }
            _ => String::new(),
        }
    }

    fn operation(&mut self, open: usize, soft: bool, parameter: &Parameter) -> Read<Operation> {
        let quotes = Quotes::of(soft);
        if parameter.name.is_empty() {
            return self.bad(open, soft);
        }
        for operator in DEFAULTS {
            if self.eat(operator.as_bytes()) {
                return Ok(Operation::Default(operator, self.operand(open, quotes)?));
            }
        }
        match self.peek() {
            Some(b':') => {
                self.pos += 1;
                Ok(Operation::Substring(self.operand(open, quotes)?))
            }
            Some(b'#' | b'%' | b'/' | b'^' | b',' | b'~') => {
                let pattern = soft && self.peek() != Some(b'~');
                let quotes = if pattern { Quotes::Pattern } else { quotes };
                self.pos += 1;
                Ok(Operation::Pattern(self.operand(open, quotes)?))
            }
            Some(b'*' | b'@') if parameter.indirect && self.peek_second() == Some(b'}') => {
                self.pos += 1;
                self.peek();
                Ok(Operation::Names)
            }
            Some(b'@') => self.transformation(open, soft),
            _ => self.bad(open, soft),
        }
    }

    fn transformation(&mut self, open: usize, soft: bool) -> Read<Operation> {
        let start = self.pos;
        if let Some(letter) = self.peek_second()
            && letter.is_ascii_alphabetic()
        {
            self.pos = self.joined(self.pos + 1) + 1;
            if self.peek() == Some(b'}') {
                let kind =
                    if letter == b'P' { HazardKind::PromptExpansion } else { HazardKind::Transformation };
                if !matches!(letter, b'Q' | b'U' | b'u' | b'L' | b'a' | b'k') {
                    self.hazard(self.since(open), kind);
                }
                return Ok(Operation::Transform(char::from(letter)));
            }
        }
        self.pos = start;
        self.bad(open, soft)
    }

    /// Something that bash 5.2 refuses when it gets there. Newer versions know more forms: `${ command; }`.
    fn bad(&mut self, open: usize, soft: bool) -> Read<Operation> {
        let rest = self.operand(open, Quotes::of(soft))?;
        self.doubt(self.since(open), "this expansion has a form that not every bash knows");
        Ok(Operation::Bad(rest))
    }

    /// The rest up to the closing brace.
    fn operand(&mut self, open: usize, quotes: Quotes) -> Read<Text> {
        let start = self.pos;
        let mut pieces = Pieces::default();
        // Until here a single quote that protects nothing is open.
        let mut paired = 0;
        // Whether something may begin on one side of a double quote and go on behind it.
        let mut is_joined = false;
        while let Some(byte) = self.peek() {
            let at = self.pos;
            let kind = match byte {
                b'}' if at >= paired => break,
                b'\\' => self.backslash(),
                b'\'' if quotes != Quotes::SoftText => self.single()?,
                b'\'' => {
                    if at >= paired {
                        paired = self.single_end(at, false)? + 1;
                    }
                    self.pos += 1;
                    pieces.literal(at, "'");
                    continue;
                }
                b'"' => {
                    let begins = opens_something(pieces.tail());
                    let kind = self.double()?;
                    let ends = matches!(&kind, PieceKind::Double(inner) if ends_open(inner));
                    is_joined |= begins || ends && self.peek() != Some(b'}');
                    kind
                }
                b'`' => self.backtick(false)?,
                b'$' if self.peek_second() == Some(b'\'') => {
                    self.pos = self.joined(at + 1);
                    if quotes == Quotes::SoftText { self.decoded_again()? } else { self.ansi()? }
                }
                b'$' => match self.dollar(quotes != Quotes::All)? {
                    Some(kind) => kind,
                    None => {
                        self.pos += 1;
                        pieces.literal(at, "$");
                        continue;
                    }
                },
                b'<' | b'>' if self.peek_second() == Some(b'(') => self.process()?,
                _ => {
                    self.pos = self.char_end(at);
                    pieces.literal(at, self.slice(at, self.pos));
                    continue;
                }
            };
            pieces.push(self, at, kind);
            if at < paired && self.pos > paired {
                self.doubt(self.since(open), "quotes overlap in this expansion");
            }
        }
        pieces.flush(self, self.pos);
        if is_joined && quotes == Quotes::SoftText {
            self.without_quotes(start, &mut pieces.done)?;
        }
        Ok(Text { span: self.since(start), pieces: pieces.done, head: None })
    }

    /// `[ … ]` behind a name, from the bracket.
    pub(super) fn subscript(&mut self) -> Read<PieceKind> {
        let open = self.pos;
        self.pos += 1;
        let text = self.deeper(|parser| parser.subscript_inside(open, None))?;
        Ok(PieceKind::Subscript(text))
    }

    fn subscript_inside(&mut self, open: usize, stop: Option<u8>) -> Read<Text> {
        let start = self.pos;
        let mut pieces = Pieces::default();
        let mut depth = 0_usize;
        loop {
            let Some(byte) = self.peek().filter(|byte| Some(*byte) != stop) else {
                return self.error(open, "the `[` is never closed");
            };
            let at = self.pos;
            let kind = match byte {
                b']' if depth == 0 => break,
                b'\\' => self.backslash(),
                b'\'' => self.single()?,
                b'"' => self.double()?,
                b'`' => self.backtick(false)?,
                b'$' => match self.dollar(false)? {
                    Some(kind) => kind,
                    None => {
                        self.pos += 1;
                        pieces.literal(at, "$");
                        continue;
                    }
                },
                b'<' | b'>' if self.peek_second() == Some(b'(') => self.process()?,
                _ => {
                    match byte {
                        b'[' => depth += 1,
                        b']' => depth -= 1,
                        _ => {}
                    }
                    self.pos = self.char_end(at);
                    pieces.literal(at, self.slice(at, self.pos));
                    continue;
                }
            };
            pieces.push(self, at, kind);
        }
        pieces.flush(self, self.pos);
        let text = Text { span: self.since(start), pieces: pieces.done, head: None };
        self.pos += 1;
        Ok(text)
    }
}

/// `@` or `*`: not one element, but all.
pub(crate) fn is_all(subscript: &Text) -> bool {
    matches!(subscript.plain(), Some("@" | "*"))
}
