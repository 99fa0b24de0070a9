//! Words as bash would pass them on, as far as that can be known before running.

use crate::Span;

/// One word of a command, after quote removal and brace expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it is written. The words of one brace expansion share their span.
    pub span: Span,
    /// What it will be.
    pub value: Value,
}

/// What a word will be when the command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Exactly this text: quotes are removed, escapes resolved, no expansion is left.
    Known(String),
    /// It depends on something that isn't in the text.
    Unknown(Unknown),
}

/// A word that can't be known before running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The text that it certainly begins with; often empty.
    pub lead: String,
    /// Whether it may become no word or several: an unquoted expansion, `"$@"`, a glob.
    pub splits: bool,
    /// Why it isn't known; the first reason from the left.
    pub why: Why,
    /// The text behind the expansion, when one expansion is all that isn't known: the word is `lead`, the expansion's value,
    /// `tail`.
    pub tail: Option<String>,
}

/// Why a word isn't known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// A parameter: `$x`, `${x:-y}`, `"$@"`. The name without decoration: `x`, `@`.
    Parameter(String),
    /// `$( )` or backticks.
    Substitution,
    /// `<( )` or `>( )`: a path in `/dev/fd`.
    Process,
    /// `$(( ))` or `$[ ]`: a number.
    Arithmetic,
    /// `*`, `?`, `[`: names of files that exist, or the pattern itself.
    Glob,
    /// A leading tilde. `user` is empty for `~`; `rest` follows it, if that is known.
    Tilde {
        /// `root` of `~root/x`, empty for `~/x`.
        user: String,
        /// `/x`.
        rest: Option<String>,
    },
    /// A brace expansion with too many results to list.
    Brace,
    /// `( … )` behind `name=` of `declare` and its like: an array that is written as one. `'name=( … )'` is text.
    Array,
}

impl Value {
    /// The text, if it is known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Unknown(_) => None,
        }
    }

    /// The text that it certainly begins with.
    #[must_use]
    pub fn lead(&self) -> &str {
        match self {
            Self::Known(text) => text,
            Self::Unknown(unknown) => &unknown.lead,
        }
    }
}
