//! Commands, from lists down to redirects.

use std::sync::{Arc, OnceLock};

use super::{Piece, Test, Text};
use crate::{Descriptor, RedirectOperator, Span};

/// Commands after each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// In order.
    pub items: Vec<AndOr>,
}

/// Pipelines that are joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AndOr {
    /// The first.
    pub first: Pipeline,
    /// The others, each with what joins it to those before.
    pub rest: Vec<(Connector, Pipeline)>,
    /// Whether `&` ends it.
    pub background: bool,
}

/// What joins two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands that are joined by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// From the first prefix to the end of the last stage.
    pub span: Span,
    /// `!` and `time`, in order.
    pub prefixes: Vec<PipelinePrefix>,
    /// One or more.
    pub stages: Vec<Stage>,
}

/// A word before a pipeline that changes how it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelinePrefix {
    /// `!`
    Not,
    /// `time`, with or without `-p` and `--`.
    Time,
}

/// One command of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The command.
    pub command: Command,
    /// Whether `|&` follows, which adds `2>&1` to the command.
    pub both: Option<Span>,
}

/// A command of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// All of it, redirects included.
    pub span: Span,
    /// What it is.
    pub kind: CommandKind,
    /// Redirects after a compound command. Those of simple commands are theirs.
    pub redirects: Vec<Redirection>,
}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Assignments, words and redirects.
    Simple(SimpleCommand),
    /// `( … )`
    Subshell(List),
    /// `{ …; }`
    Group(List),
    /// `if`: conditions with their branches, and what follows `else`.
    If {
        /// Condition and branch of `if` and each `elif`.
        branches: Vec<(List, List)>,
        /// The branch of `else`.
        otherwise: Option<List>,
    },
    /// `while` and `until`.
    While {
        /// What decides whether it is repeated.
        condition: List,
        /// What is repeated.
        body: List,
        /// `until`.
        until: bool,
    },
    /// `for` and `select` over words.
    For {
        /// Which of them.
        kind: LoopKind,
        /// The variable.
        name: Text,
        /// The words after `in`; without it, the positional parameters.
        words: Option<Vec<Text>>,
        /// What is repeated.
        body: List,
    },
    /// `for (( … ))`
    ArithmeticFor {
        /// The three expressions, as one text.
        expressions: Text,
        /// What is repeated.
        body: List,
    },
    /// `case`
    Case {
        /// What is compared.
        word: Text,
        /// The patterns, each with its commands.
        clauses: Vec<CaseClause>,
    },
    /// `(( … ))`
    Arithmetic(Text),
    /// `[[ … ]]`
    Test(Test),
    /// `f() …` and `function f …`
    Function {
        /// As written.
        name: Text,
        /// A compound command with its redirects.
        body: Box<Command>,
    },
    /// `coproc`
    Coprocess {
        /// The array that gets its descriptors, if one is named.
        name: Option<Text>,
        /// The command.
        body: Box<Command>,
    },
}

/// Which loop goes over words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// `for`
    For,
    /// `select`
    Select,
}

/// One `pattern | pattern) commands ;;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseClause {
    /// The patterns.
    pub patterns: Vec<Text>,
    /// May be empty.
    pub body: List,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Words before the program that set variables.
    pub assignments: Vec<Text>,
    /// The program and its arguments.
    pub words: Vec<Text>,
    /// Its redirects, wherever they are in it.
    pub redirects: Vec<Redirection>,
}

/// A redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// From the descriptor to the end of the target.
    pub span: Span,
    /// Before the operator.
    pub descriptor: Descriptor,
    /// The operator.
    pub operator: RedirectOperator,
    /// After it: a file, a descriptor, a text, or what ends a here-document.
    pub target: Text,
    /// The here-document, for `<<` and `<<-`.
    pub here: Option<HereSlot>,
}

/// A slot in the tree for a here-document. It is filled when its lines are read, later than the operator.
#[derive(Clone, Debug, Default)]
pub struct HereSlot(pub(crate) Arc<OnceLock<HereDocument>>);

impl HereSlot {
    /// The document, once its lines were read.
    #[must_use]
    pub fn get(&self) -> Option<&HereDocument> {
        self.0.get()
    }
}

impl PartialEq for HereSlot {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for HereSlot {}

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// The lines, without the one that ends it.
    pub span: Span,
    /// `<<-`: leading tabs are removed.
    pub strips: bool,
    /// The body. Only literals, when the delimiter was quoted.
    pub body: Vec<Piece>,
}
