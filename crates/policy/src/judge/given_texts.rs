//! Judges what a call gives to programs of the project: `cargo run -- WORDS`, `npm start <<< TEXT`.
//!
//! A build tool runs code that shellgate doesn't read, and that code may run what it is given. So a text on its standard input, and
//! a word that looks like a command, must not name an excluded program. A plain word (`cargo run -- rm`) is mostly a name of the
//! project's own.

use super::Judge;
use super::unlisted::Suspicion;
use crate::calls::{Call, Stdin};
use crate::programs::ProgramKind;
use crate::programs::words::{PROJECT_RUNNERS, PROJECT_RUNNERS_WITHOUT_NAME};

/// Signs of a word that is a command and not a name.
const COMMAND_SIGNS: &[char] = &[' ', '\t', '\n', ';', '|', '&', '$', '`', '<', '>'];

impl Judge<'_> {
    /// Why a build tool may give a command to a program of the project.
    pub(super) fn suspicion_of_given_text(&self, call: &Call) -> Option<Suspicion> {
        if call.meaning.kind != Some(ProgramKind::Builder) || self.rules.holds_any_code() {
            return None;
        }
        let input = match &call.stdin {
            Stdin::Text(text) => self.excluded_in(text),
            Stdin::Empty | Stdin::Unknown | Stdin::Fetched => None,
        };
        let mut commands = given_words(call).into_iter().filter(|text| text.contains(COMMAND_SIGNS));
        input.or_else(|| commands.find_map(|text| self.suspicion_of_value(text)))
    }
}

/// The words that a call gives to a program of the project: those behind `--`, else those behind the program's name.
fn given_words(call: &Call) -> Vec<&str> {
    let entry = call.meaning.entry.unwrap_or_default();
    let texts: Vec<&str> = call.words.iter().skip(1).map(|word| word.value.lead()).collect();
    let is_runner = |list: &[&str]| {
        let mut rows = list.iter().filter_map(|row| row.split_once(' '));
        rows.any(|(program, subcommand)| program == entry && texts.contains(&subcommand))
    };
    let has_name = is_runner(PROJECT_RUNNERS);
    if !has_name && !is_runner(PROJECT_RUNNERS_WITHOUT_NAME) {
        return Vec::new();
    }
    if let Some(dashes) = texts.iter().position(|text| *text == "--") {
        return texts.into_iter().skip(dashes + 1).collect();
    }
    // The subcommand, and the name of what it runs.
    let names = if has_name { 2 } else { 1 };
    texts.into_iter().filter(|text| !text.starts_with('-')).skip(names).collect()
}
