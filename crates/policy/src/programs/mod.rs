//! What each program does with its words: which are options, which are paths, which are commands that it runs.
//!
//! The knowledge is in `tables/*.toml`, one entry per program; `tables/README.md` describes the notation. The build script
//! turns the tables into bytes in the form of `form`, and `entry` finds a program in them. `understand` reads one call by its entry:
//! `read` goes through the words, `option` and `operand` say what a word is, `collector` turns words in their roles
//! into effects, and `special` has functions for what a table can't say. `property`, `keys` and `variable` hold what
//! is known by name alone.
//!
//! This module never decides what is allowed. What it can't read is an effect (`EffectKind::Unusual`,
//! `EffectKind::Opaque`), and never left out.

mod collector;
mod effect_rows;
mod entry;
mod form;
mod helpers;
mod keys;
mod name_slot;
mod operand;
mod option;
mod property;
mod read;
mod ruin_rows;
mod special;
mod stored;
#[cfg(test)]
mod tests;
mod text_table;
mod variable;
pub(crate) mod words;

use collector::Collector;
pub(crate) use effect_rows::{EffectRow, effect_rows, is_known_by_effects};
pub(crate) use entry::{NAME_MAX_BYTES, matches as fits_pattern};
pub(crate) use form::ProgramKind;
pub use form::ShellGrammar;
use form::Synonym;
pub use helpers::{is_helper, is_own_file};
pub(crate) use keys::CommandKeys;
pub(crate) use property::{Property, has, is_builtin};
pub use property::{affects_later_lines, base_name, is_assistant, is_multi_call, shell_grammar};
pub(crate) use ruin_rows::{Condition, RuinRow, TargetClass, has_ruin_rows, ruin_rows};
use shellgate_syntax::{Span, Unknown, Value, Why, Word};
pub(crate) use variable::{VariableEffect, VariableRow, is_listed_variable, variable};

/// Calls with more words than this are not read by their grammar: that takes time by the square of their number.
const MAX_WORDS: usize = 1500;

/// What one call means, by the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of a call, and any may hold with any other"
)]
pub(crate) struct CallMeaning {
    /// What kind of program it is. `None`: no table lists it, and nothing is known of its words.
    pub(crate) kind: Option<ProgramKind>,
    /// The call in one canonical form, for comparing with prefixes: the program's basename, then subcommands, operands
    /// and options in order; global options before a subcommand left out; each option under its first name in the
    /// table (`-fr`, `-r -f` and `--recursive --force` are the same), bundles taken apart, abbreviations completed.
    pub(crate) canonical: Vec<Canonical>,
    /// What it does besides what its name says.
    pub(crate) effects: Vec<Effect>,
    /// The first name of its entry in the tables: `python3` for `python3.11`.
    pub(crate) entry: Option<&'static str>,
    /// Words of its entry that mean the same as other options.
    pub(crate) synonyms: &'static [Synonym],
    /// Options that the call has by the meaning of its words, by their first names.
    pub(crate) implied: Vec<&'static str>,
    /// Operands from this one on are paths, and their order doesn't matter. `None`: it does for all.
    pub(crate) unordered_from: Option<usize>,
    /// Whether its entry doesn't list all options: their values may be anything.
    pub(crate) is_loose: bool,
    /// Words that its entry doesn't explain: options that it doesn't list, and words that may be their values.
    pub(crate) unexplained: Vec<Word>,
    /// Files that it writes because an option names them, beside its purpose: a log, an index.
    pub(crate) side_files: Vec<Word>,
    /// Whether its entry has subcommands.
    pub(crate) has_subcommands: bool,
    /// Whether the last subcommand that was called has subcommands of its own, and none of them was called.
    pub(crate) is_incomplete: bool,
    /// The first names of the subcommands that were called.
    pub(crate) subcommands: Vec<&'static str>,
    /// The same as they are written: an entry may be for several subcommands.
    pub(crate) written_subcommands: Vec<String>,
    /// Whether the program only prints something about itself and ends (`--version`).
    pub(crate) prints: bool,
}

/// A word of the canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Canonical {
    /// The program, a subcommand or an operand.
    Word(Value),
    /// An option under its first name in the table, with its value.
    Option(String, Option<Value>),
}

/// Something that a call does besides what its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Where the words are that cause it.
    pub(crate) span: Span,
    /// What the call does.
    pub(crate) kind: EffectKind,
}

/// The kinds of effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EffectKind {
    /// Runs this command.
    Argv {
        /// The program and the arguments that are known to be there.
        words: Vec<Word>,
        /// Whether further words are added when it runs (`xargs`, `find -exec … {}`): [`understand_as`] reads it.
        more_words: bool,
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
    /// Uses this file as a key or password, and doesn't show it.
    Uses(Word),
    /// May connect to another machine by this code, and send what it likes.
    Connects(Word),
    /// Changes the working directory of what follows. `None`: to somewhere unknown.
    Directory(Option<Word>),
    /// Loads modules of python, which are searched in the folder that it starts in before all others.
    Imports(Word),
    /// Is no plain call of its program: it has an unknown option, loads code, sets the clock. The text says what, for
    /// people.
    Unusual(&'static str),
    /// Has a word that may be an option, and the program has options that matter.
    MaybeOption(Word),
}

/// Why a word isn't known that is added when the call runs.
pub(crate) const ADDED_WORDS: &str = "words that are added";

/// Reads a call by the tables. `name`: the program's name if it isn't the one that is written. `more_words`: words that
/// aren't known will be added (`xargs CMD`, `find -exec CMD {} +`).
#[must_use]
pub(crate) fn understand_as(words: &[Word], name: Option<&str>, more_words: bool) -> CallMeaning {
    if !more_words {
        return understand_named(words, name);
    }
    let mut words = words.to_vec();
    let span = words.last().map(|word| word.span).unwrap_or_default();
    let why = Why::Parameter(ADDED_WORDS.to_owned());
    words.push(Word {
        span,
        value: Value::Unknown(Unknown { lead: String::new(), splits: true, why, tail: None }),
    });
    understand_named(&words, name)
}

/// Reads one call by the tables. `words` are the program and its arguments.
#[must_use]
pub(crate) fn understand(words: &[Word]) -> CallMeaning {
    understand_named(words, None)
}

/// Whether a table has an entry for a program, by its own name or by its family.
pub(crate) fn is_listed(program: &str) -> bool {
    entry::find(base_name(program)).is_some()
}

/// The first name of a program's entry in the tables.
pub(crate) fn listed_name(program: &str) -> Option<&'static str> {
    entry::find(base_name(program)).and_then(|entry| entry.names.first().copied())
}

/// What kind of program this is, by its name.
pub(crate) fn kind_of(program: &str) -> Option<ProgramKind> {
    entry::find(base_name(program)).map(|entry| entry.kind)
}

fn understand_named(words: &[Word], resolved: Option<&str>) -> CallMeaning {
    let mut collector = Collector::default();
    let Some((program, arguments)) = words.split_first() else {
        return collector.meaning;
    };
    if words.len() > MAX_WORDS {
        collector
            .effect(program, EffectKind::Unusual("has more words than are read by this program's grammar"));
        words.iter().for_each(|word| collector.word(word.value.clone()));
        return collector.meaning;
    }
    collector.span = collector::span_of(words).unwrap_or(program.span);
    let name = program.value.known().map(|path| path.rsplit('/').next().unwrap_or(path));
    match name {
        Some(name) => collector.word(Value::Known(name.to_owned())),
        None => collector.word(program.value.clone()),
    }
    match resolved.or(name).and_then(entry::find) {
        Some(entry) => {
            collector.meaning.entry = entry.names.first().copied();
            collector.meaning.has_subcommands = !entry.subcommands.is_empty();
            read::call(entry, arguments, &mut collector);
            collector.find_implied();
        }
        None => arguments.iter().for_each(|word| collector.word(word.value.clone())),
    }
    collector.meaning.prints = collector.prints;
    collector.meaning
}
