//! Programs of awk: the part of POSIX awk that mawk, gawk, busybox and the original awk read alike.
//!
//! What a program does depends on where its strings, regular expressions and comments end; everything else follows from
//! single tokens. [`lex`] therefore accepts a slash only where all versions take it for the same thing, and no
//! character, escape or number on which they differ. [`parse`] goes through the tokens and finds what runs (`system`, `|`),
//! writes (`>` behind `print`) and reads (`getline <`). Words that only some versions reserve are accepted nowhere else
//! than as calls of functions that compute something.

mod lex;
mod parse;
#[cfg(test)]
mod tests;

use super::Does;

/// Reads a program. `None` if it isn't inside the grammar.
pub(crate) fn read(text: &str) -> Option<Vec<Does>> {
    parse::program(&lex::tokens(text)?)
}
