//! What each program does with its words: which are options, which are paths, which are commands that it runs.
//!
//! The knowledge is in `tables/*.toml`, one entry per program. The build script turns them into static data, so that
//! nothing is parsed at run time. [`understand`] reads one call by its entry; it never decides what is allowed.

mod entry;
mod keys;
mod operand;
mod option;
mod property;
mod read;
mod role;
mod sink;
mod special;
#[cfg(test)]
mod tests;
mod variable;
pub(crate) mod words;

pub(crate) use keys::CommandKeys;
pub(crate) use property::{Property, has, is_builtin};
pub use property::{
    ShellGrammar, affects_later_lines, base_name, is_assistant, is_multi_call, shell_grammar,
};
use shellgate_syntax::{Span, Unknown, Value, Why, Word};
use sink::Sink;
pub use variable::{VariableEffect, VariableRow, variable};

/// Calls with more words than this are not read by their grammar.
const MOST_WORDS: usize = 1500;

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
    /// The first name of its entry in the tables: `python3` for `python3.11`.
    pub entry: Option<&'static str>,
    /// Whether that has subcommands.
    pub has_subcommands: bool,
    /// The first names of the subcommands that were called.
    pub subcommands: Vec<&'static str>,
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
        /// Whether others are added: [`understand_with_more`] reads it.
        more: bool,
    },
    /// Has a POSIX shell read this text (`sh -c`, `eval`, `trap`, `watch`, `ssh host TEXT`).
    Shell(Word),
    /// Has a shell read its standard input, or this file or descriptor if there is one.
    ShellInput(Option<Word>),
    /// Runs code that we can't read: a script, an inline program of another language, a configuration that names
    /// programs. The text says which.
    Opaque(Word, &'static str),
    /// Runs this inline code of another language; the text names the language.
    Inline(Word, &'static str),
    /// Runs code of another language that is its standard input; the text names the language.
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

/// Reads a call to which words that aren't known will be added: `xargs CMD`, `find -exec CMD {} +`.
#[must_use]
pub fn understand_with_more(words: &[Word]) -> Understood {
    let mut words = words.to_vec();
    let span = words.last().map(|word| word.span).unwrap_or_default();
    let why = Why::Parameter("words that are added".to_owned());
    words.push(Word {
        span,
        value: Value::Unknown(Unknown { lead: String::new(), splits: true, why, tail: None }),
    });
    understand(&words)
}

/// Reads one call by the tables. `words` are the program and its arguments.
#[must_use]
pub fn understand(words: &[Word]) -> Understood {
    let mut sink = Sink::default();
    let Some((program, arguments)) = words.split_first() else {
        return sink.understood;
    };
    // Reading takes time by the square of it, and nobody looks through so many.
    if words.len() > MOST_WORDS {
        sink.effect(program, What::Unusual("has more words than anybody reads"));
        words.iter().for_each(|word| sink.word(word.value.clone()));
        return sink.understood;
    }
    sink.call = sink::across(words).unwrap_or(program.span);
    let name = program.value.known().map(|path| path.rsplit('/').next().unwrap_or(path));
    match name {
        Some(name) => sink.word(Value::Known(name.to_owned())),
        None => sink.word(program.value.clone()),
    }
    match name.and_then(entry::find) {
        Some(entry) => {
            sink.understood.entry = entry.names.first().copied();
            sink.understood.has_subcommands = !entry.subcommands.is_empty();
            read::call(entry, arguments, &mut sink);
        }
        None => arguments.iter().for_each(|word| sink.word(word.value.clone())),
    }
    sink.understood
}
