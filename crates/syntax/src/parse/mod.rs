//! Reads a text as bash 5.2 does, by recursive descent.
//!
//! There is no stream of tokens: what a byte means depends on where it stands, so each construct reads its own bytes
//! from one [`Parser`]. A word is read once, with everything inside it. Where bash first looks for the end of a
//! construct and only then reads what is inside (`$(( ))`, `[ ]`, groups in a regular expression), [`matched`] finds
//! that end by the same rules. Where bash reads a text again after changing it (backticks, here-documents), a second
//! parser reads the changed text and knows which byte came from where.

mod arithmetic;
mod assignments;
mod compound;
mod cursor;
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
const LONGEST: usize = 131_071;

/// As deep as any thread's stack allows. Most texts are less deep.
pub(crate) const SHALLOW: usize = 24;

/// As deep as anybody nests on purpose, and then some.
pub(crate) const DEEP: usize = 400;

/// What reading gives: the tree, and what was noticed on the way.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) script: Script,
    pub(crate) notes: Notes,
    /// How deep constructs were nested.
    pub(crate) depth: usize,
    /// How deep substitutions were.
    pub(crate) nested: usize,
}

/// What was noticed while reading.
#[derive(Debug, Default)]
pub(crate) struct Notes {
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
    /// Parts were read again and again.
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
    /// Whether a reserved word may stand here: decided by what was read last.
    reserved: bool,
    /// Whether this is inside `$( )`: a here-document may end before `)` there.
    inside: bool,
    /// Whether a here-document began in this `$( )`.
    documented: bool,
    pending: Vec<heredocs::Pending>,
    /// Where double quotes that were read begin and end.
    doubles: HashMap<usize, usize>,
    notes: Notes,
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
        notes: parser.notes,
        depth: parser.deepest,
        nested: parser.nested.1,
    })
}

/// Reads `text` as an arithmetic expression.
pub(crate) fn expression(text: &str, limit: usize) -> Read<(crate::tree::Text, Notes)> {
    let mut parser = Parser::new(text, limit);
    let expression = parser.expression(0, text.len())?;
    Ok((expression, parser.notes))
}

/// What no reader should get.
pub(crate) fn guard(text: &str) -> Result<(), Unreadable> {
    if text.len() > LONGEST {
        return Err(Unreadable::Budget(format!(
            "the text has {} bytes; more than {LONGEST} can't be passed to bash",
            text.len()
        )));
    }
    match text.find('\0') {
        Some(at) => Err(Unreadable::Syntax {
            span: Span::new(at, at + 1),
            message: "a NUL byte stands in the text".into(),
        }),
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
            inside: false,
            documented: false,
            pending: Vec::new(),
            doubles: HashMap::new(),
            notes: Notes::default(),
            depth: 0,
            deepest: 0,
            nested: (0, 0),
            limit,
            work: 1000 + 8 * text.len(),
        }
    }

    /// The place of `start..end` in the original text.
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
        self.notes.doubts.push(Doubt { span, message: message.into() });
    }

    fn hazard(&mut self, span: Span, kind: HazardKind) {
        self.notes.hazards.push(Hazard { span, kind });
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
        let (notes, deepest, nested) = (inner.notes, inner.deepest, inner.nested);
        self.work = inner.work;
        self.notes.doubts.extend(notes.doubts);
        self.notes.hazards.extend(notes.hazards);
        self.deepest = deepest;
        self.nested.1 = nested.1;
        result
    }
}
