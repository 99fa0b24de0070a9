//! Words and what they are made of.

use super::{Command, List, SimpleCommand};
use crate::Span;

/// A word, or another text that bash expands: a pattern, an expression, a here-document's line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Where it is written.
    pub span: Span,
    /// Its parts, in order.
    pub pieces: Vec<Piece>,
    /// When it has the form of an assignment: where the value begins.
    pub head: Option<AssignmentHead>,
}

/// What comes before the value in `name[subscript]+=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentHead {
    /// The name; empty for `[subscript]=value` in an array.
    pub name: String,
    /// `+=`
    pub append: bool,
    /// The index of the first piece of the value.
    pub value: usize,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it is written.
    pub span: Span,
    /// What it is.
    pub kind: PieceKind,
}

/// The kinds of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Text without quotes: globs, braces and tildes in it mean something.
    Literal(String),
    /// Text that quotes protect, after quote removal.
    Quoted(String, Quoting),
    /// `"…"` and `$"…"`
    Double(Vec<Piece>),
    /// `$x` and `${x…}`
    Parameter(Box<Parameter>),
    /// `$( … )` and backticks.
    Substitution(Commands),
    /// `<( … )` and `>( … )`
    Process(Direction, Commands),
    /// `$(( … ))` and `$[ … ]`
    Arithmetic(Text),
    /// `[ … ]` behind a name, where an assignment may be.
    Subscript(Text),
    /// `( … )` behind `=`: the elements of an array.
    Array(Vec<Text>),
}

/// Commands inside a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// The commands.
    pub list: List,
    /// How they are written; for backticks, without the backslashes that only protect from them.
    pub text: String,
}

/// How a text was quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// `\x`
    Backslash,
    /// `'…'`
    Single,
    /// `$'…'`, decoded.
    Ansi,
}

/// Which end of a process substitution the command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<( … )`: reads what the process writes.
    Read,
    /// `>( … )`: writes what the process reads.
    Write,
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name: `x`, `1`, `@`.
    pub name: String,
    /// `${x[…]}`
    pub subscript: Option<Text>,
    /// `${!x}`
    pub indirect: bool,
    /// What is done with the value.
    pub operation: Operation,
}

impl Parameter {
    /// Whether it is the value of a variable and nothing else: `$x`, `${x}`.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.indirect && self.subscript.is_none() && self.operation == Operation::Value
    }
}

/// What `${x…}` does with the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    Value,
    /// `${#x}`
    Length,
    /// `${!x*}`, `${!x@}`: names that begin so; `${!x[@]}`: the keys.
    Names,
    /// `:-` `:=` `:?` `:+` and the same without `:`; the text is the operator.
    Default(&'static str, Text),
    /// `${x:offset:length}`
    Substring(Text),
    /// `#` `%` `/` `^` `,` `~` with pattern and replacement.
    Pattern(Text),
    /// `${x@Q}`: the letter.
    Transform(char),
    /// Anything else: bash 5.2 says "bad substitution".
    Bad(Text),
}

/// An expression between `[[` and `]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// `&&`, `||`
    Both(Box<Test>, Box<Test>),
    /// `!`, `( )`
    Inner(Box<Test>),
    /// `-f x`; a word alone is `-n`.
    Unary(char, Text),
    /// `a == b`
    Binary(Text, TestOperator, Text),
}

/// The operators between two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOperator {
    /// `=`, `==`, `!=`: the right side is a pattern.
    Pattern,
    /// `=~`
    Regex,
    /// `-eq`, `-lt` and so on: both sides are expressions.
    Number,
    /// `<`, `>`, and those that compare files.
    Other,
}

impl Text {
    /// The text, if it is one piece without any quote or expansion.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece { kind: PieceKind::Literal(text), .. }] => Some(text),
            _ => None,
        }
    }

    /// The subscript before the value, when this is an assignment with one.
    pub(crate) fn subscript(&self) -> Option<&Text> {
        let head = self.head.as_ref()?;
        self.pieces.iter().take(head.value).find_map(|piece| match &piece.kind {
            PieceKind::Subscript(text) => Some(text),
            _ => None,
        })
    }
}

impl Operation {
    /// The text behind the operator.
    pub(crate) fn text(&self) -> &[Text] {
        match self {
            Self::Value | Self::Length | Self::Names | Self::Transform(_) => &[],
            Self::Default(_, text) | Self::Substring(text) | Self::Pattern(text) | Self::Bad(text) => {
                std::slice::from_ref(text)
            }
        }
    }
}

impl SimpleCommand {
    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && self.redirects.is_empty()
    }
}

impl Command {
    /// A command that does nothing, as after `time` alone.
    pub(crate) fn nothing(span: Span) -> Self {
        Self { span, kind: super::CommandKind::Simple(SimpleCommand::default()), redirects: Vec::new() }
    }
}
