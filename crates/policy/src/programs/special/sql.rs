//! Statements given to a database's shell. SQL is data; commands of the shell itself can run programs.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::words;
use shellgate_syntax::Word;

/// Reads a statement, or a command such as `.shell` and `\!`.
pub(crate) fn sql(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    if word.value.known().is_none_or(|text| !describes(text) && reaches(text)) {
        collector.effect(word, EffectKind::Opaque(word.clone(), "commands of a database's shell"));
    }
}

fn reaches(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    // `ATTACH` and `VACUUM INTO` write other files.
    words.clone().any(|word| word == "attach")
        || words.any(|word| word == "vacuum") && words.any(|word| word == "into")
        || text.lines().any(|line| is_command(line.trim_start()))
        || words::SQL_REACHING_PARTS.iter().any(|part| lower.contains(part))
}

/// Whether a line is a command of the database's shell that may do more than show something.
fn is_command(line: &str) -> bool {
    let name = line.split_ascii_whitespace().next().unwrap_or_default();
    line.starts_with('!') || line.starts_with('.') && !words::SQLITE_SHOWING_COMMANDS.contains(&name)
}

/// Whether the whole text is one command like `\dt users`: a name, and plain words. A backquote would run a program, another
/// backslash would begin another command.
fn describes(text: &str) -> bool {
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default();
    let of_d = name
        .strip_prefix("\\d")
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphabetic() || c == '+'));
    let plain = |c: char| c.is_alphanumeric() || ['_', '.', '*', '-', '"'].contains(&c);
    (of_d || words::PSQL_SHOWING_COMMANDS.contains(&name)) && words.all(|word| word.chars().all(plain))
}
