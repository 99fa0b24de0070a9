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

/// Whether a name of a file is a connection to gawk.
fn names_connection(name: &str) -> bool {
    name.starts_with("/inet")
}

/// Whether a text, read or not, has the name of a connection in it: `"/inet/tcp/0/host/80"`. As a regular expression, `/inet/` is none.
pub(crate) fn mentions_connection(text: &str) -> bool {
    let is_name = |behind: &str| {
        let kind = behind.trim_start_matches(['4', '6']).strip_prefix('/').unwrap_or_default();
        ["tcp", "udp", "raw"].iter().any(|name| kind.starts_with(name))
    };
    text.contains("\"/inet")
        || text.match_indices("/inet").any(|(at, name)| text.get(at + name.len()..).is_some_and(is_name))
}
