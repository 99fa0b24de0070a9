//! Names of files that Perl's `open(F, NAME)` takes for commands or for files to write: `COMMAND |`, `| COMMAND`, `> FILE`.
//! Other programs know some of them, too, and Ghostscript knows `%pipe%COMMAND`.

use shellgate_syntax::{Value, Word};

pub(super) const MESSAGE: &str =
    "it names a file by a word that some programs take for a command or for a file to write";

/// Whether Perl takes a text for a command or a file to write.
pub(super) fn is_command(text: &str) -> bool {
    begins(text) || ends(text)
}

/// The same for a word, as far as it can be known.
pub(super) fn may_be_command(word: &Word) -> bool {
    match &word.value {
        Value::Known(text) => is_command(text),
        Value::Unknown(unknown) => begins(&unknown.lead) || unknown.tail.as_deref().is_some_and(ends),
    }
}

fn begins(text: &str) -> bool {
    let text = text.trim_start();
    // `>(` and `<(` are texts of a shell; `+>` opens a file to read and write.
    text.strip_prefix('+').unwrap_or(text).starts_with(['|', '>']) || text.starts_with("%pipe%")
}

fn ends(text: &str) -> bool {
    text.trim_end().ends_with('|')
}
