//! Programs that a call starts besides the one that it names: `tar -z` starts `gzip`.

use shellgate_syntax::{Value, Word};

use super::known_word;
use crate::programs::words::STARTED_PROGRAMS;
use crate::programs::{CallMeaning, Canonical, base_name, fits_pattern};

/// What stands for the further words of the call in a row of the table.
const FURTHER_WORDS: &str = "...";

/// What stands for a place on another machine in a row of the table: `host:path`.
const HOST_PATH: &str = "<host-path>";

/// The commands that a call starts, as the table says.
pub(crate) fn started(words: &[Word], meaning: &CallMeaning) -> Vec<Vec<Word>> {
    let Some(program) = words.first().and_then(|word| word.value.known()).map(base_name) else {
        return Vec::new();
    };
    let rows = STARTED_PROGRAMS.iter().filter_map(|row| row.strip_prefix(program)?.strip_prefix(' '));
    let started = rows.filter_map(|row| {
        let (conditions, command) = row
            .strip_prefix("starts ")
            .map(|command| ("", command))
            .or_else(|| row.split_once(" starts "))?;
        let mut conditions = conditions.split(' ').filter(|condition| !condition.is_empty());
        conditions
            .all(|condition| meaning.canonical.iter().skip(1).any(|part| meets(part, condition)))
            .then_some(command)
    });
    started
        .map(|command| {
            let further = command.ends_with(FURTHER_WORDS);
            let own = command.split(' ').filter(|word| *word != FURTHER_WORDS).map(known_word);
            own.chain(words.iter().skip(1).filter(|_| further).cloned()).collect()
        })
        .collect()
}

/// Whether a part of a call is what a row asks for: `-z`, `-f=*.gz`, `clone`, `<host-path>`.
fn meets(part: &Canonical, condition: &str) -> bool {
    match part {
        Canonical::Word(value) if condition == HOST_PATH => is_host_path(value),
        Canonical::Word(value) => value.known().is_some_and(|text| fits_pattern(condition, text)),
        Canonical::Option(name, value) => match (condition.split_once('='), value) {
            (Some((wanted, pattern)), Some(value)) => name == wanted && fits_pattern(pattern, value.lead()),
            (Some(_), None) => false,
            (None, _) => name == condition,
        },
    }
}

/// Whether a word is `host:path`, `user@host:path` or `ssh://host/path`.
fn is_host_path(value: &Value) -> bool {
    let lead = value.lead();
    lead.starts_with("ssh://")
        || lead.contains("+ssh://")
        || lead
            .split_once(':')
            .is_some_and(|(host, path)| !host.is_empty() && !host.contains('/') && !path.starts_with("//"))
}
