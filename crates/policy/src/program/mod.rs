//! What each program does with its words: which are options, which are paths, which are commands that it runs.
//!
//! The knowledge is in `tables/*.toml`, one entry per program. The build script turns them into static data, so that
//! nothing is parsed at run time. [`understand`] reads one call by its entry; it never decides what is allowed.

use shellgate_syntax::{Span, Value, Word};

/// What one call means, by the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Understood {
    /// What kind of program it is. `None`: no table lists it, and nothing is known of its words.
    pub kind: Option<Kind>,
    /// The call in one canonical form, for comparing with prefixes: the program's basename, then subcommands, operands
    /// and options in order; global options before a subcommand left out; each option under its first name in the
    /// table (`-fr`, `-r -f` and `--recursive --force` are the same), bundles taken apart, abbreviations completed.
    pub canonical: Vec<Canonical>,
    /// What it does besides what its name says.
    pub effects: Vec<Effect>,
}

/// A word of the canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Canonical {
    /// The program, a subcommand or an operand.
    Word(Value),
    /// An option under its first name in the table, with its value.
    Option(String, Option<Value>),
}

/// Kinds of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Shows or computes; what it writes by options is an effect.
    Reader,
    /// Writing is its purpose.
    Writer,
    /// Runs the command that it is given.
    Wrapper,
    /// Reads shell commands.
    Shell,
    /// Runs code of another language.
    Interpreter,
    /// A package manager or build tool: runs what its project says.
    Builder,
    /// Reaches other machines.
    Network,
    /// A program in which a person or a script can do anything (editors, debuggers, multiplexers).
    Workbench,
    /// A builtin of bash.
    Builtin,
}

/// Something that a call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The words that say so.
    pub span: Span,
    /// What.
    pub what: What,
}

/// What a call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Runs this argv. `more`: further words are added when it runs (`xargs`, `find -exec … {}`).
    Argv {
        /// The program and the arguments that are known to be there.
        words: Vec<Word>,
        /// Whether others are added.
        more: bool,
    },
    /// Has a POSIX shell read this text (`sh -c`, `eval`, `trap`, `watch`, `ssh host TEXT`).
    Shell(Word),
    /// Has a shell read its standard input, or this file or descriptor if there is one.
    ShellInput(Option<Word>),
    /// Runs code that we can't read: a script, an inline program of another language, a configuration that names
    /// programs. The text says which.
    Opaque(Word, &'static str),
    /// The same with text that is standard input.
    OpaqueInput(&'static str),
    /// Sets a variable for itself or what it runs (`env A=1`, `export A=1`, `read A`, `printf -v A`).
    Assigns {
        /// The name, if known.
        name: Value,
        /// The value, if known.
        value: Option<Value>,
    },
    /// Evaluates this as arithmetic, in which subscripts run substitutions (`let`, `declare -i`, `test -v`, `unset`).
    Arithmetic(Word),
    /// Writes this file or below this folder.
    Writes(Word),
    /// Reads this file or folder.
    Reads(Word),
    /// Changes the working directory of what follows. `None`: to somewhere unknown.
    Directory(Option<Word>),
    /// Is not what a plain call would be: an unknown option of a listed program, loading code, setting the clock. The
    /// text says what, for people.
    Unusual(&'static str),
    /// A word that may be an option, and this program has options that matter.
    MaybeOption(Word),
}
