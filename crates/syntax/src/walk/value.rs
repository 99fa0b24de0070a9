//! Says what words will be: their text without quotes, or why it can't be known.

use super::{Walker, braces};
use crate::parse::is_all;
use crate::tree::{Operation, Parameter, Piece, PieceKind, Text};
use crate::{Unknown, Value, Why, Word};

/// What bash does with a text when it expands it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// A word of a command: split, and matched with files' names.
    Argument,
    /// The value of an assignment: neither, but tildes behind `:` are expanded.
    Assignment,
    /// A here-document, a pattern: neither.
    Quiet,
}

/// `"$@"`
pub(super) fn positional() -> Value {
    Value::Unknown(Unknown { lead: String::new(), splits: true, why: Why::Parameter("@".into()), tail: None })
}

impl Walker<'_> {
    /// The words that a word becomes by brace expansion.
    pub(super) fn words(&self, text: &Text, context: Context) -> Vec<Word> {
        let span = text.span;
        let build = |pieces: &[Piece]| {
            let value = Builder::new(self.text, context, text.head.is_some()).build(pieces);
            Word { span, value }
        };
        match braces::expand(&text.pieces, self.text, &self.budget) {
            braces::Expanded::Same => vec![build(&text.pieces)],
            braces::Expanded::Words(words) => words.iter().map(|pieces| build(pieces)).collect(),
            braces::Expanded::Unknown => {
                let unknown = Unknown { lead: String::new(), splits: true, why: Why::Brace, tail: None };
                vec![Word { span, value: Value::Unknown(unknown) }]
            }
        }
    }

    /// What a text will be, if it doesn't become several words.
    pub(super) fn value(&self, pieces: &[Piece], context: Context) -> Value {
        Builder::new(self.text, context, context == Context::Assignment).build(pieces)
    }
}

/// Builds the value of a word, piece by piece.
struct Builder<'a> {
    source: &'a str,
    context: Context,
    /// Whether tildes behind `=` and `:` are expanded.
    assigns: bool,
    text: String,
    unknown: Option<Unknown>,
    /// How many expansions the word has.
    expansions: usize,
    /// The length of `text` when a tilde made the word unknown.
    tilde: Option<usize>,
    /// An unquoted `[` that may begin a glob.
    bracket: bool,
}

impl<'a> Builder<'a> {
    fn new(source: &'a str, context: Context, assigns: bool) -> Self {
        Self {
            source,
            context,
            assigns,
            text: String::new(),
            unknown: None,
            expansions: 0,
            tilde: None,
            bracket: false,
        }
    }

    fn build(mut self, pieces: &[Piece]) -> Value {
        for (index, piece) in pieces.iter().enumerate() {
            let next = pieces.get(index + 1);
            match &piece.kind {
                PieceKind::Literal(text) => self.literal(text, index == 0, next.is_none()),
                PieceKind::Array(_) if next.is_none() => {
                    self.unknown(Why::Array, false);
                }
                _ => self.piece(piece, false),
            }
        }
        match self.unknown {
            None => Value::Known(self.text),
            Some(mut unknown) => {
                if let (Why::Tilde { rest, .. }, Some(start)) = (&mut unknown.why, self.tilde) {
                    *rest = self.text.get(start..).map(str::to_owned);
                }
                if self.expansions == 1 {
                    unknown.tail = self.text.strip_prefix(unknown.lead.as_str()).map(str::to_owned);
                }
                Value::Unknown(unknown)
            }
        }
    }

    /// Warnings why the word isn't known. The first reason is kept, unless a later one can become any words.
    fn unknown(&mut self, why: Why, splits: bool) {
        self.expansions += 1;
        match &mut self.unknown {
            Some(unknown) => {
                unknown.splits |= splits;
                let anything = |why: &Why| matches!(why, Why::Parameter(_) | Why::Substitution);
                if splits && anything(&why) && !anything(&unknown.why) {
                    unknown.why = why;
                }
            }
            None => {
                let lead = self.text.clone();
                self.unknown = Some(Unknown { lead, splits, why, tail: None });
                return;
            }
        }
        self.tilde = None;
    }

    fn piece(&mut self, piece: &Piece, quoted: bool) {
        let splits = !quoted && self.context == Context::Argument;
        match &piece.kind {
            PieceKind::Literal(text) | PieceKind::Quoted(text, _) => self.text.push_str(text),
            PieceKind::Double(inner) => inner.iter().for_each(|piece| self.piece(piece, true)),
            PieceKind::Parameter(parameter) => {
                let several = self.context == Context::Argument && several(parameter);
                // Only `$x` is the value of a variable and nothing else.
                self.expansions += usize::from(!parameter.is_plain());
                self.unknown(Why::Parameter(parameter.name.clone()), splits || several);
            }
            PieceKind::Substitution(_) => self.unknown(Why::Substitution, splits),
            PieceKind::Process(..) => self.unknown(Why::Process, false),
            PieceKind::Arithmetic(_) => self.unknown(Why::Arithmetic, false),
            PieceKind::Subscript(text) => {
                // Without a `=` behind it, it is no subscript, but a part of a pattern: `to[u]ch`.
                let is_pattern = splits && !self.assigns;
                if is_pattern {
                    self.unknown(Why::Glob, true);
                }
                self.text.push('[');
                text.pieces.iter().for_each(|piece| self.piece(piece, !is_pattern));
                self.text.push(']');
            }
            PieceKind::Array(elements) => self.array(piece, elements),
        }
    }

    /// Adds an array that is a part of a word: as it is written, if all of it is known.
    fn array(&mut self, piece: &Piece, elements: &[Text]) {
        let unknown = elements.iter().find_map(|element| {
            match Builder::new(self.source, Context::Assignment, false).build(&element.pieces) {
                Value::Known(_) => None,
                Value::Unknown(unknown) => Some(unknown),
            }
        });
        match unknown {
            Some(unknown) => self.unknown(unknown.why, false),
            None => self.text.push_str(piece.span.of(self.source)),
        }
    }

    fn literal(&mut self, text: &str, first: bool, last: bool) {
        let mut may_be_tilde = (first && self.text.is_empty()) || (self.assigns && self.after_separator());
        let mut rest = text;
        // What is left of the text behind the last bracket that closes.
        let unclosed = text.rfind(']').map_or(text.len(), |at| text.len() - at - 1);
        while let Some(character) = rest.chars().next() {
            if character == '~'
                && may_be_tilde
                && let Some(user) = self.user_name(rest, last)
            {
                let known = self.unknown.is_none();
                self.unknown(Why::Tilde { user: user.to_owned(), rest: None }, false);
                rest = rest.get(1 + user.len()..).unwrap_or_default();
                self.tilde = known.then_some(self.text.len());
                may_be_tilde = false;
                continue;
            }
            self.note_glob(character, rest.len() > unclosed);
            self.text.push(character);
            may_be_tilde = self.assigns && matches!(character, '=' | ':');
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
        }
    }

    fn after_separator(&self) -> bool {
        self.text.ends_with(['=', ':']) || (self.context == Context::Assignment && self.text.is_empty())
    }

    /// The user's name behind a tilde. `None` if a quote or an expansion is part of it.
    fn user_name<'t>(&self, rest: &'t str, last: bool) -> Option<&'t str> {
        let name = rest.get(1..)?;
        let ends = |c: char| c == '/' || (self.assigns && c == ':');
        match name.find(ends) {
            Some(end) => name.get(..end),
            None => last.then_some(name),
        }
    }

    /// Notes a character of a pattern. `is_closed`: whether a closing bracket comes behind it.
    fn note_glob(&mut self, character: char, is_closed: bool) {
        if self.context != Context::Argument {
            return;
        }
        match character {
            '*' | '?' => self.unknown(Why::Glob, true),
            // The unknown begins at the bracket, if another one closes it.
            '[' if is_closed => self.unknown(Why::Glob, true),
            '[' => self.bracket = true,
            ']' if self.bracket => self.unknown(Why::Glob, true),
            _ => {}
        }
    }
}

/// Whether an expansion becomes several words even between double quotes.
fn several(parameter: &Parameter) -> bool {
    let all = parameter.name == "@" || parameter.subscript.as_ref().is_some_and(is_all);
    let length = parameter.operation == Operation::Length;
    // `"${x-${a[@]}}"`
    let default = match &parameter.operation {
        Operation::Default(_, text) => text.pieces.iter().any(holds_several),
        _ => false,
    };
    (all && !length) || parameter.operation == Operation::Names || parameter.indirect || default
}

fn holds_several(piece: &Piece) -> bool {
    match &piece.kind {
        PieceKind::Double(inner) => inner.iter().any(holds_several),
        PieceKind::Parameter(parameter) => several(parameter),
        _ => false,
    }
}
