//! Words.

use super::cursor::{breaks, is_name};
use super::quotes::Pieces;
use super::{Parser, Read};
use crate::HazardKind;
use crate::tree::{AssignmentHead, PieceKind, Quoting, Text};

/// Where a word is. That decides what it may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordPosition {
    /// An argument, a pattern, a redirect's target.
    Plain,
    /// Where a program's name may be: `a[1]=x` and `a=(x)` are assignments.
    Command,
    /// An argument of `declare` and its like: `a=(x)` is an assignment.
    Declaration,
    /// An element of an array: `[1]=x`.
    Element,
    /// Right of `==` in `[[ ]]`, where extended patterns are always on.
    Pattern,
    /// Right of `=~`.
    Regex,
}

impl Parser<'_> {
    /// Reads a word that must be there.
    pub(super) fn required_word(&mut self) -> Read<Text> {
        self.skip_blanks();
        let word = self.word(WordPosition::Plain)?;
        if word.pieces.is_empty() { self.unexpected() } else { Ok(word) }
    }

    /// Reads a word where an assignment may be.
    pub(super) fn assignment_word(&mut self) -> Read<Text> {
        self.skip_blanks();
        let word = self.word(WordPosition::Command)?;
        if word.pieces.is_empty() { self.unexpected() } else { Ok(word) }
    }

    /// Reads the word that begins here. It has no pieces if none does.
    pub(super) fn word(&mut self, position: WordPosition) -> Read<Text> {
        self.reserved = false;
        let start = self.pos;
        let mut pieces = Pieces::default();
        let mut head = None;
        while let Some(byte) = self.peek() {
            let at = self.pos;
            let kind = match byte {
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
                b'(' | b'|' if position == WordPosition::Regex => {
                    self.regex_part(&mut pieces)?;
                    continue;
                }
                b'?' | b'*' | b'+' | b'@' | b'!'
                    if position == WordPosition::Pattern && self.peek_second() == Some(b'(') =>
                {
                    self.pos += 1;
                    pieces.literal(at, char::from(byte).encode_utf8(&mut [0; 4]));
                    self.pattern_group(&mut pieces)?;
                    continue;
                }
                b'[' if self.subscript_may_begin(position, &pieces) => self.subscript()?,
                b'=' if head.is_none() => {
                    self.pos += 1;
                    pieces.literal(at, "=");
                    head = self.assignment_head(position, &mut pieces);
                    if head.is_some() && self.array_may_begin(position) {
                        let at = self.pos;
                        let kind = self.array()?;
                        pieces.push(self, at, kind);
                    }
                    continue;
                }
                byte if breaks(byte) => break,
                _ => {
                    self.literal_run(&mut pieces);
                    continue;
                }
            };
            pieces.push(self, at, kind);
        }
        pieces.flush(self, self.pos);
        // A long text has many words, and most have one piece.
        pieces.done.shrink_to_fit();
        Ok(Text { span: self.since(start), pieces: pieces.done, head })
    }

    /// Reads text without special characters, at least one character of it.
    fn literal_run(&mut self, pieces: &mut Pieces) {
        let start = self.pos;
        self.pos = self.char_end(start);
        while let Some(byte) = self.byte(self.pos) {
            let special = matches!(
                byte,
                b'\\' | b'\'' | b'"' | b'`' | b'$' | b'[' | b'=' | b'?' | b'*' | b'+' | b'@' | b'!'
            );
            if special || breaks(byte) {
                break;
            }
            self.pos += 1;
        }
        pieces.literal(start, self.slice(start, self.pos));
    }

    fn subscript_may_begin(&self, position: WordPosition, pieces: &Pieces) -> bool {
        match position {
            WordPosition::Command => pieces.done.is_empty() && is_name(pieces.tail()),
            WordPosition::Element => pieces.is_empty(),
            _ => false,
        }
    }

    /// What comes before the `=` that was just read, if that makes an assignment. The value's pieces begin after it.
    fn assignment_head(&self, position: WordPosition, pieces: &mut Pieces) -> Option<AssignmentHead> {
        let tail = pieces.tail().strip_suffix('=')?;
        let (before, append) = match tail.strip_suffix('+') {
            Some(before) => (before, true),
            None => (tail, false),
        };
        let name = match pieces.done.as_slice() {
            [] if is_name(before) => before.to_owned(),
            [name, subscript] if before.is_empty() => match (&name.kind, &subscript.kind) {
                (PieceKind::Literal(name), PieceKind::Subscript(_)) => name.clone(),
                _ => return None,
            },
            [subscript] if before.is_empty() && position == WordPosition::Element => match subscript.kind {
                PieceKind::Subscript(_) => String::new(),
                _ => return None,
            },
            _ => return None,
        };
        pieces.flush(self, self.pos);
        Some(AssignmentHead { name, append, value: pieces.done.len() })
    }

    fn array_may_begin(&mut self, position: WordPosition) -> bool {
        matches!(position, WordPosition::Command | WordPosition::Declaration) && self.peek() == Some(b'(')
    }

    /// `|` or `( … )` in a regular expression.
    fn regex_part(&mut self, pieces: &mut Pieces) -> Read<()> {
        if self.peek() == Some(b'|') {
            pieces.literal(self.pos, "|");
            self.pos += 1;
            return Ok(());
        }
        self.pattern_group(pieces)
    }

    /// `( … )` inside a pattern or a regular expression.
    fn pattern_group(&mut self, pieces: &mut Pieces) -> Read<()> {
        let start = self.pos;
        let end = self.matched(start, b'(', b')')?;
        pieces.literal(start, "(");
        self.within(start + 1, end, |parser| parser.group_pieces(pieces))?;
        pieces.literal(end, ")");
        self.pos = end + 1;
        Ok(())
    }

    fn group_pieces(&mut self, pieces: &mut Pieces) -> Read<()> {
        while let Some(byte) = self.peek() {
            let at = self.pos;
            let kind = match byte {
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
                    self.pos = self.char_end(at);
                    pieces.literal(at, self.slice(at, self.pos));
                    continue;
                }
            };
            pieces.push(self, at, kind);
        }
        Ok(())
    }

    /// Notices `?(`, `*(`, `+(`, `@(` and `!(`: with `extglob` on, bash reads them as one word. Called where `(` or
    /// what ends a word comes next.
    pub(super) fn note_extglob(&mut self) {
        let paren = self.joined(self.pos);
        if self.byte(paren) != Some(b'(') || self.pos == 0 {
            return;
        }
        let before = self.pos - 1;
        if matches!(self.byte(before), Some(b'?' | b'*' | b'+' | b'@' | b'!')) {
            self.hazard(self.span(before, paren + 1), HazardKind::ExtendedGlob);
        }
    }

    /// What a word is after quote removal alone: for what ends a here-document. `None`, if it isn't that simple.
    pub(super) fn unquoted(pieces: &[crate::tree::Piece]) -> Option<(String, bool)> {
        let mut text = String::new();
        let mut quoted = false;
        for piece in pieces {
            match &piece.kind {
                PieceKind::Literal(part) => text.push_str(part),
                PieceKind::Quoted(part, quoting) => {
                    quoted = true;
                    // A lone backslash at the end of the text quotes nothing.
                    debug_assert!(*quoting != Quoting::Backslash || !part.is_empty());
                    text.push_str(part);
                }
                PieceKind::Double(inner) => {
                    quoted = true;
                    text.push_str(&Self::unquoted(inner)?.0);
                }
                _ => return None,
            }
        }
        Some((text, quoted))
    }
}
