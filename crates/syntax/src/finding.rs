//! What was found in a text: the interface between reading and judging.

use std::sync::Arc;

use crate::{Span, Value, Word};

/// Everything in a text that matters to a judge, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Every simple command, at any depth, also in bodies of functions. Assignments without a program, redirects of
    /// compound commands and variables that a loop sets are here as invocations without words.
    pub invocations: Vec<Invocation>,
    /// Every function that is defined. Their bodies are among the invocations.
    pub functions: Vec<Function>,
    /// Every `for` loop, over words or by expressions.
    pub loops: Vec<Loop>,
    /// Every arithmetic context: bash evaluates the *values* of the variables in it as expressions again, and a
    /// subscript in a value can run commands.
    pub arithmetic: Vec<Arithmetic>,
    /// Constructs that can run text which is nowhere in the tree, or whose meaning depends on the shell's state.
    pub hazards: Vec<Hazard>,
    /// Why the text could not be read with certainty. Empty: it was.
    pub doubts: Vec<Doubt>,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// From its first assignment, redirect or word to its last.
    pub span: Span,
    /// The program and its arguments. Empty when there are only assignments or redirects.
    pub words: Vec<Word>,
    /// `A=1 B+=2 c[3]=x program`, and variables that its expansions set.
    pub assignments: Vec<Assignment>,
    /// Its redirects, in order.
    pub redirects: Vec<Redirect>,
    /// The constructs around it, from the outside in.
    pub constructs: Arc<[Construct]>,
    /// Whether it is in a loop: it is run again after what follows it there.
    pub repeated: bool,
    /// Where its standard input comes from, as far as pipes and the redirects around it say.
    pub input: Input,
}

/// A construct of the shell that commands can be inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Construct {
    /// A stage of a pipeline with several.
    Pipeline,
    /// `( )`: a shell of its own.
    Subshell,
    /// `{ }`
    Group,
    /// `&`
    Background,
    /// `$( )` or backticks.
    Substitution,
    /// `<( )` or `>( )`.
    Process,
    /// The body of the function of this name.
    Function(String),
    /// A part of `if`, `while`, `until`, `for`, `select`, `case`, or behind `&&` or `||`: it may be run never or often.
    Conditional,
    /// `coproc`
    Coprocess,
}

/// Where standard input comes from. Redirects of the invocation itself are not repeated here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// From the process that started the whole command.
    #[default]
    Inherited,
    /// From the previous stage of a pipeline, whose invocations have these indices in [`Findings::invocations`].
    Pipe(Arc<[usize]>),
    /// From a redirect of a compound command around it.
    Redirect(Box<Redirect>),
    /// From a coprocess, from the caller of the function that it is in, or from anything else.
    Other,
}

/// A variable that gets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where it is written.
    pub span: Span,
    /// The name, without subscript.
    pub name: String,
    /// The text between `[` and `]`, if there is one. Its arithmetic is among [`Findings::arithmetic`].
    pub subscript: Option<Value>,
    /// `+=`
    pub append: bool,
    /// Its new value.
    pub value: Assigned,
}

/// The value that a variable gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// One value.
    Scalar(Value),
    /// `( … )`: the values of the elements.
    Array(Vec<Value>),
    /// A value that the shell chooses: a loop's variable, the descriptor of `{fd}>`, a coprocess's array. The values that it
    /// chooses from, if they are written in the text.
    ByShell(Vec<Value>),
}

/// A redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Operator and target.
    pub span: Span,
    /// The descriptor before the operator.
    pub descriptor: Descriptor,
    /// The operator.
    pub operator: RedirectOperator,
    /// The word after it.
    pub target: RedirectTarget,
}

/// Which descriptor is redirected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// The operator's own: 0 or 1 (`&>`: 1 and 2).
    Default,
    /// `2>`
    Number(u32),
    /// `{name}>`: bash chooses and sets the variable. That is among the assignments too.
    Variable(String),
}

/// How a redirect is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `>|`
    Clobber,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateIn,
    /// `>&`
    DuplicateOut,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<`, `<<-`
    HereDocument,
    /// `<<<`
    HereString,
}

/// The target of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// A file, a descriptor or `-`, or the text of a here-string.
    Word(Word),
    /// The body of a here-document, as the command will read it.
    Body(Word),
}

/// A function that is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, after quote removal.
    pub name: String,
    /// The whole definition.
    pub span: Span,
    /// The constructs around the definition. Empty: it certainly happens before what follows in the text.
    pub constructs: Arc<[Construct]>,
}

/// A `for` loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its variable, or its expressions.
    pub header: Span,
    /// From the end of the header's variable or expressions to the end of the loop.
    pub rest: Span,
}

/// An arithmetic context: `$(( ))`, `(( ))`, `$[ ]`, a subscript, an offset, `[[ a -eq b ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// Where it is written.
    pub span: Span,
    /// The variables whose values are evaluated, by name.
    pub names: Vec<String>,
    /// Whether it also holds text that is no variable's value: a substitution's output, `${x:-y}`.
    pub expands: bool,
    /// Whether a name is put together from parts: `x$i`. It may be the name of any variable.
    pub composes: bool,
}

/// A construct that can run what isn't in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// Where it is written.
    pub span: Span,
    /// Which kind of construct it is.
    pub kind: HazardKind,
}

/// The kinds of dangerous constructs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HazardKind {
    /// `${x@P}`: the value is expanded like a prompt, with its substitutions.
    PromptExpansion,
    /// `${!x}`: the value is the name of what is expanded, and a subscript in it is evaluated.
    Indirection,
    /// Text that bash reads differently with `extglob` on, or that switches it on.
    ExtendedGlob,
    /// `${x@A}`, `${x@E}`, `${x@K}` and operators that we don't know: what they do isn't followed.
    Transformation,
}

/// A reason why a text could not be read with certainty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Where, if that is known. Else the whole text.
    pub span: Span,
    /// A sentence for people.
    pub message: String,
}
