//! The entries of the tables as data: what the build writes and what a process reads.
//!
//! The build script includes this file too, so both sides have the same types. An entry is read when its program is first
//! looked up ([`super::entry`]): thousands of words as static data would be as many pointers, which the loader relocates
//! whenever a process starts.

use serde::{Deserialize, Serialize};

/// Makes the enum of the list.
macro_rules! roles {
    ($($(#[$doc:meta])* $name:literal = $role:ident,)*) => {
        /// What a value or an operand is to the program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub(crate) enum Role {
            $($(#[$doc])* #[serde(rename = $name)] $role,)*
        }
    };
}

include!("role_list.rs");

/// Kinds of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProgramKind {
    /// Shows or computes something. What it writes by options is an effect.
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

/// How a shell reads a text, compared with bash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShellGrammar {
    /// Bash itself.
    Bash,
    /// POSIX without what bash adds.
    Posix,
    /// Close to bash, with constructs of its own.
    Korn,
    /// Another language.
    Other,
}

/// A program or a subcommand.
#[derive(Debug, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key that a table may set")]
pub(crate) struct Entry {
    /// Its spellings, the canonical one first.
    pub(crate) names: Vec<&'static str>,
    /// Whether a version may follow the name.
    pub(crate) versions: bool,
    pub(crate) kind: ProgramKind,
    /// Of a shell: how it reads a text.
    pub(crate) grammar: Option<ShellGrammar>,
    pub(crate) parsing: Parsing,
    /// Whether long options may be cut to a unique beginning.
    pub(crate) abbreviate: bool,
    /// Whether every long option has a `--no-` form.
    pub(crate) negatable: bool,
    /// Whether options and subcommands that aren't listed are plain words.
    pub(crate) open: bool,
    /// Whether `--` ends the options. If not, it is a word like others.
    pub(crate) dashes: bool,
    /// Its options, by their numbers among all options of the tables.
    pub(crate) option_numbers: Vec<u16>,
    /// Its operands, in order. `None`: it takes none, or only a subcommand.
    pub(crate) operands: Option<Vec<Operand>>,
    /// The language of its code and scripts.
    pub(crate) language: &'static str,
    /// What its standard input is when the call names nothing to run.
    pub(crate) input: Option<Input>,
    /// Why every call of it is unusual, if it is.
    pub(crate) because: Option<&'static str>,
    /// The function that reads its calls, if the table can't say enough: its number among all that the tables name.
    pub(crate) special: Option<u8>,
    /// Words that mean the same as other options.
    pub(crate) synonyms: Vec<Synonym>,
    pub(crate) subcommands: Vec<Entry>,
    /// Whether it has options or subcommands that do more than show something: then it matters whether a word that can't be
    /// known is one of them.
    pub(crate) options_matter: bool,
}

/// A word that means the same as some options.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Synonym {
    /// The option by its first name. Empty: it is about operands.
    pub(crate) option: &'static str,
    /// The pattern that the operand or the option's value fits. Case doesn't count.
    pub(crate) pattern: &'static str,
    /// The options that it stands for, by their first names.
    pub(crate) meant: Vec<&'static str>,
    /// Options beside which it stands for nothing.
    pub(crate) unless: Vec<&'static str>,
}

/// Where the options of a program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Parsing {
    /// Anywhere among its words.
    Permuted,
    /// Before the first operand.
    Leading,
    /// Long options with one dash, no bundles.
    Dashed,
    /// Nowhere: every word is an operand.
    Words,
    /// Every word is `key=value`.
    Assignments,
}

/// What standard input is when the call names nothing to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Input {
    /// Commands for a shell.
    Shell,
    /// Code in the program's language.
    Code,
    /// Keys or commands, also when the call names others.
    Keys,
}

/// An option.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OptionEntry {
    /// Its spellings, the canonical one first.
    pub(crate) names: Vec<&'static str>,
    /// The roles of its values.
    pub(crate) values: Vec<Role>,
    pub(crate) value_form: ValueForm,
    /// Whether the program then only prints something and ends.
    pub(crate) prints: bool,
    /// Whether the words behind its value belong to the code and aren't read.
    pub(crate) ends: bool,
    /// Why a call with it is unusual.
    pub(crate) unusual: Option<&'static str>,
    /// Whether it does more than show something.
    pub(crate) matters: bool,
}

/// How an option gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ValueForm {
    /// It has none.
    None,
    /// Glued to the option, or the next word.
    Required,
    /// Glued to the option, or missing.
    Optional,
    /// Glued to the long name, or missing. The letter has none.
    LongOptional,
    /// It has none, but anything may be glued to its beginning and does nothing: `-DX=1`.
    Any,
    /// Digits may be glued; further letters of the bundle follow them.
    Digits,
    /// The next word after a letter; after a long name only glued.
    Glued,
}

/// An operand, or several of the same role.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Operand {
    pub(crate) role: Role,
    pub(crate) required: bool,
    pub(crate) repeated: bool,
    /// It is there only if none of these options is given, by their first names.
    pub(crate) unless: Vec<&'static str>,
    /// It is there only if one of these options is given.
    pub(crate) only_if: Vec<&'static str>,
    /// Why a call with it is unusual.
    pub(crate) unusual: Option<&'static str>,
}
