//! Statements given to a database's shell. SQL is data; commands of the shell itself can run programs.

use super::super::What;
use super::super::sink::Sink;
use shellgate_syntax::Word;

/// What plain SQL doesn't have, or has only to reach outside.
const REACHES: &[&str] = &[
    "\\",
    "load_extension",
    "readfile",
    "writefile",
    "edit(",
    "program",
    "outfile",
    "dumpfile",
    "load_file",
    "infile",
];

/// Commands of sqlite's shell that only show something, or how it is shown. It takes abbreviations; they aren't here.
const SHOWS: &[&str] = &[
    ".changes",
    ".databases",
    ".dbinfo",
    ".dump",
    ".exit",
    ".explain",
    ".fullschema",
    ".header",
    ".headers",
    ".help",
    ".indexes",
    ".indices",
    ".mode",
    ".nullvalue",
    ".print",
    ".quit",
    ".schema",
    ".separator",
    ".show",
    ".stats",
    ".tables",
    ".timer",
    ".version",
    ".width",
];

/// Commands of psql's shell of which the same is true, besides those that begin with `\d`.
const DESCRIBES: &[&str] =
    &["\\l", "\\l+", "\\z", "\\conninfo", "\\timing", "\\x", "\\encoding", "\\copyright"];

/// A statement, or a command such as `.shell` and `\!`.
pub(crate) fn sql(word: &Word, sink: &mut Sink) {
    sink.names_code = true;
    if word.value.known().is_none_or(|text| !describes(text) && reaches(text)) {
        sink.effect(word, What::Opaque(word.clone(), "commands of a database's shell"));
    }
}

fn reaches(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    // `ATTACH` and `VACUUM INTO` write other files.
    words.clone().any(|word| word == "attach")
        || words.any(|word| word == "vacuum") && words.any(|word| word == "into")
        || text.lines().any(|line| is_command(line.trim_start()))
        || REACHES.iter().any(|part| lower.contains(part))
}

/// Whether a line is a command of the shell that isn't known to only show something.
fn is_command(line: &str) -> bool {
    let name = line.split_ascii_whitespace().next().unwrap_or_default();
    line.starts_with('!') || line.starts_with('.') && !SHOWS.contains(&name)
}

/// Whether all of it is one command like `\dt users`: a name, and plain words. A backquote would run a program, another
/// backslash begins another command.
fn describes(text: &str) -> bool {
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default();
    let of_d = name
        .strip_prefix("\\d")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphabetic() || c == '+'));
    let plain = |c: char| c.is_alphanumeric() || ['_', '.', '*', '-', '"'].contains(&c);
    (of_d || DESCRIBES.contains(&name)) && words.all(|word| word.chars().all(plain))
}
