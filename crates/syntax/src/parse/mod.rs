//! Reads a text as bash 5.2 does, by recursive descent.
//!
//! There is no stream of tokens: what a byte means depends on where it is, so each construct reads its own bytes
//! from one [`Parser`]. A word is read once, with everything inside it. Where bash first looks for the end of a
//! construct and only then reads what is inside (`$(( ))`, `[ ]`, groups in a regular expression), [`matched`] finds
//! that end by the same rules. Where bash reads a text again after changing it (backticks, here-documents), a second
//! parser reads the changed text and knows which byte came from where.

mod arithmetic;
mod assignments;
mod compound;
mod cursor;
mod decoded;
mod definitions;
mod expansions;
mod heredocs;
mod keywords;
mod lists;
mod matched;
mod parameters;
mod quotes;
mod redirects;
mod simple;
mod substitutions;
mod test_command;
mod words;

pub(crate) use cursor::is_name;
pub(crate) use parameters::is_all;

use std::collections::HashMap;

use crate::{Doubt, Hazard, HazardKind, Script, Span, Unreadable};

/// The longest text that bash gets through one argument of `execve`.
const MAX_TEXT_BYTES: usize = 131_071;

/// How deep a text may be nested to be read on any thread's stack. Most texts are.
pub(crate) const SMALL_STACK_MAX_DEPTH: usize = 24;

/// How deep a text may be nested.
pub(crate) const MAX_DEPTH: usize = 400;

/// The result of reading: the tree, and warnings.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) script: Script,
    pub(crate) warnings: Warnings,
    /// How deep constructs were nested.
    pub(crate) depth: usize,
    /// How deep substitutions were nested.
    pub(crate) nested: usize,
}

/// What was noticed while reading.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) hazards: Vec<Hazard>,
}

/// Why reading stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It is not bash.
    Syntax { span: Span, message: String },
    /// Nested deeper than the limit it was given.
    Deep,
    /// It takes too much work: parts were read again and again.
    Work,
}

type Read<T> = Result<T, Stop>;

/// A text that is being read.
pub(crate) struct Parser<'a> {
    text: &'a str,
    /// Where each byte of `text` came from, when it isn't the original. One longer than `text`.
    origin: Option<&'a [usize]>,
    pos: usize,
    /// Where the text ends for now.
    end: usize,
    /// Whether a reserved word may come next: decided by what was read last.
    reserved: bool,
    /// Whether this is inside `$( )`, where a here-document may end before `)`.
    in_substitution: bool,
    /// Whether a here-document began in this `$( )`.
    has_here_document: bool,
    /// Here-documents whose lines come later.
    pending: Vec<heredocs::Pending>,
    /// Where double quotes begin and end that were read already.
    double_quotes: HashMap<usize, usize>,
    warnings: Warnings,
    depth: usize,
    deepest: usize,
    /// How deep substitutions are nested now, and were at most.
    nested: (usize, usize),
    limit: usize,
    /// How many constructs may still be read. Some are read more than once, and those inside them more often.
    work: usize,
}

/// Reads `text`, which may be nested `limit` deep.
pub(crate) fn script(text: &str, limit: usize) -> Read<Reading> {
    let mut parser = Parser::new(text, limit);
    let list = parser.whole()?;
    Ok(Reading {
        script: Script { list },
        warnings: parser.warnings,
        depth: parser.deepest,
        nested: parser.nested.1,
    })
}

/// Reads `text` as an arithmetic expression.
pub(crate) fn expression(text: &str, limit: usize) -> Read<(crate::tree::Text, Warnings)> {
    let mut parser = Parser::new(text, limit);
    let expression = parser.expression(0, text.len())?;
    Ok((expression, parser.warnings))
}

/// Refuses what no reader should get: a text that is too long, or has a NUL byte.
pub(crate) fn guard(text: &str) -> Result<(), Unreadable> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(Unreadable::Budget(format!(
            "the text has {} bytes; more than {MAX_TEXT_BYTES} can't be passed to bash",
            text.len()
        )));
    }
    match text.find('\0') {
        Some(at) => {
            Err(Unreadable::Syntax { span: Span::new(at, at + 1), message: "the text has a NUL byte".into() })
        }
        None => Ok(()),
    }
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, limit: usize) -> Self {
        Self {
            text,
            origin: None,
            pos: 0,
            end: text.len(),
            reserved: true,
            in_substitution: false,
            has_here_document: false,
            pending: Vec::new(),
            double_quotes: HashMap::new(),
            warnings: Warnings::default(),
            depth: 0,
            deepest: 0,
            nested: (0, 0),
            limit,
            work: 1000 + 8 * text.len(),
        }
    }

    /// Where `start..end` is in the original text.
    fn span(&self, start: usize, end: usize) -> Span {
        match self.origin {
            None => Span::new(start, end),
            Some(origin) => {
                let place = |at: usize| origin.get(at).or(origin.last()).copied().unwrap_or_default();
                Span::new(place(start), place(end).max(place(start)))
            }
        }
    }

    fn since(&self, start: usize) -> Span {
        self.span(start, self.pos)
    }

    fn error<T>(&self, start: usize, message: impl Into<String>) -> Read<T> {
        let end = self.char_end(start);
        Err(Stop::Syntax { span: self.span(start, end), message: message.into() })
    }

    fn doubt(&mut self, span: Span, message: impl Into<String>) {
        self.warnings.doubts.push(Doubt { span, message: message.into() });
    }

    fn hazard(&mut self, span: Span, kind: HazardKind) {
        self.warnings.hazards.push(Hazard { span, kind });
    }

    /// Reads something one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        if self.depth > self.limit {
            return Err(Stop::Deep);
        }
        self.work = self.work.checked_sub(1).ok_or(Stop::Work)?;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads `start..end` alone, and comes back to `end`.
    fn within<T>(&mut self, start: usize, end: usize, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let outer = self.end;
        self.pos = start;
        self.end = end;
        let result = read(self);
        self.pos = end;
        self.end = outer;
        result
    }

    /// Reads a text that bash made from this one. `origin` says where its bytes are here.
    fn changed<T>(
        &mut self,
        text: &str,
        origin: &[usize],
        read: impl FnOnce(&mut Parser<'_>) -> Read<T>,
    ) -> Read<T> {
        // Each level of such texts holds a copy of all that is inside it.
        self.work = self.work.checked_sub(text.len() / 2).ok_or(Stop::Work)?;
        let origin: Vec<usize> = origin.iter().map(|&at| self.span(at, at).start).collect();
        let mut inner = Parser {
            origin: Some(&origin),
            depth: self.depth,
            deepest: self.deepest,
            nested: self.nested,
            work: self.work,
            ..Parser::new(text, self.limit)
        };
        let result = read(&mut inner);
        let (warnings, deepest, nested) = (inner.warnings, inner.deepest, inner.nested);
        self.work = inner.work;
        self.warnings.doubts.extend(warnings.doubts);
        self.warnings.hazards.extend(warnings.hazards);
        self.deepest = deepest;
        self.nested.1 = nested.1;
        result
    }
}
