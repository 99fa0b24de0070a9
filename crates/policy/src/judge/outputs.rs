//! Variables, parameters and filled words that hold what other commands say or read: with them data reaches an address.
//!
//! `x=$(cat y)`, `read x < y`, `for x in $(env)`, `f $(cat y)`, `xargs -I{}`: whatever puts it there, the word that uses it sends it.

use std::collections::HashMap;

use shellgate_syntax::{self as syntax, Assigned, RedirectOperator, Span, Unknown, Value, Why, Word};

use super::Judge;
use crate::calls::{Call, FoundCalls, Shadowed, Stdin};
use crate::programs::words::{INPUT_READERS, PARAMETER_SETTERS, PLAIN_FACTS, PLAIN_GIT};
use crate::programs::{ADDED_WORDS, Effect, EffectKind, ProgramKind, base_name, understand};

/// The judge reads substitutions in the words of one call up to this much text. More of it counts as data.
const MAX_WORDS_BYTES: usize = 8192;

/// How many sources of values are remembered. With more of them, every variable holds data.
const MAX_SOURCES: usize = 256;

/// How far values of values are followed.
const MAX_STEPS: usize = 8;

/// Parameters of functions and shells, whatever their numbers.
const PARAMETERS: &str = "@";

/// Variables into which `read` and `mapfile` read if none is named.
const UNNAMED: [&str; 2] = ["REPLY", "MAPFILE"];

/// Where values come from.
#[derive(Debug)]
enum Source {
    /// A text as it is written.
    Written(String),
    /// What another command says, whatever that is.
    Data,
}

/// What the variables of a text get from commands.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    sources: HashMap<String, Vec<Source>>,
    is_full: bool,
}

impl Outputs {
    pub(super) fn of(found: &FoundCalls, text: &str) -> Self {
        let mut all = Self::default();
        let mut count = 0;
        let mut give = |name: &str, source: Source| {
            count += 1;
            if count <= MAX_SOURCES {
                all.sources.entry(name.to_owned()).or_default().push(source);
            }
        };
        for call in &found.calls {
            for one in &call.assignments {
                if let Some(source) = assigned(call, one, text) {
                    give(&one.name, source);
                }
            }
            for (name, source) in set_by_words(call, found) {
                give(&name, source);
            }
        }
        all.is_full = count > MAX_SOURCES;
        all
    }

    /// Whether a variable holds what a command says that shows more than plain facts.
    fn hold(&self, name: &str, depth: usize, size: &mut usize) -> bool {
        let name = if is_parameter(name) { PARAMETERS } else { name };
        // `${!x}` is the variable that another one names, `$_` the last word of whatever ran before.
        if self.is_full
            || depth > MAX_STEPS
            || name == "_"
            || name.starts_with('!') && !self.sources.is_empty()
        {
            return true;
        }
        self.sources.get(name).into_iter().flatten().any(|source| match source {
            Source::Data => true,
            Source::Written(text) => self.is_data(text, depth + 1, size),
        })
    }

    /// Whether a text as it is written has in it what another command reads.
    fn is_data(&self, written: &str, depth: usize, size: &mut usize) -> bool {
        *size += written.len();
        *size > MAX_WORDS_BYTES
            || has_commands(written) && shows_files(written)
            || variables_in(written).any(|name| self.hold(name, depth, size))
    }

    /// Whether the words of a call have in them what another command reads.
    pub(super) fn are_in(&self, call: &Call) -> bool {
        let unknown = call.words.iter().skip(1).filter(|word| word.value.known().is_none());
        let mut size = 0;
        unknown.filter_map(|word| call.written(word)).any(|text| self.is_data(text, 0, &mut size))
    }
}

impl Judge<'_> {
    /// Whether words of a call are filled in by the program that runs it, with what that one reads or finds: `xargs -I{} curl x/{}`.
    pub(super) fn is_filled_with_data(&self, call: &Call) -> bool {
        if !call.in_wrapper || !has_filled(call) {
            return false;
        }
        match self.pipe_of(call) {
            Some(stages) => {
                stages.iter().any(|stage| shows_more(stage, |name| self.outputs.hold(name, 0, &mut 0)))
            }
            None => true,
        }
    }
}

/// Whether a word of a call is added, or has a mark that is filled in.
fn has_filled(call: &Call) -> bool {
    let is_filled = |word: &Word| match &word.value {
        Value::Known(_) => false,
        Value::Unknown(Unknown { why: Why::Parameter(name), .. }) => {
            name == ADDED_WORDS || call.written(word).is_some_and(|text| !text.contains('$'))
        }
        // Names that find puts in.
        Value::Unknown(_) => call.written(word).is_some_and(|text| text.contains("{}")),
    };
    call.more_words || call.words.iter().skip(1).any(is_filled)
}

/// Where a variable gets its value by an assignment.
fn assigned(call: &Call, one: &syntax::Assignment, text: &str) -> Option<Source> {
    let values = match &one.value {
        Assigned::ByShell(values) => values,
        Assigned::Scalar(value) if value.known().is_some() => return None,
        Assigned::Scalar(_) | Assigned::Array(_) => {
            let written = call.written_at(one.span).or_else(|| Some(one.span.of(text)));
            let value = written.and_then(|written| written.strip_prefix(one.name.as_str()));
            return Some(value.map_or(Source::Data, |value| Source::Written(value.to_owned())));
        }
    };
    let unknown = values.iter().filter_map(|value| match value {
        Value::Unknown(unknown) => Some(unknown),
        Value::Known(_) => None,
    });
    let unknown: Vec<&Unknown> = unknown.collect();
    if unknown.iter().any(|one| matches!(one.why, Why::Substitution | Why::Process)) {
        return Some(items_of_loop(one.span, &one.name, text));
    }
    let names = unknown.iter().filter_map(|one| match &one.why {
        Why::Parameter(name) => Some(format!("${{{name}}}")),
        _ => None,
    });
    let names: String = names.collect();
    (!names.is_empty()).then_some(Source::Written(names))
}

/// The words of a loop as they are written. Of a text inside the text they aren't known.
fn items_of_loop(place: Span, name: &str, text: &str) -> Source {
    let behind = text.get(place.start..).unwrap_or_default();
    let items = behind.trim_start_matches("for ").trim_start().strip_prefix(name);
    let items = items.and_then(|rest| rest.trim_start().strip_prefix("in "));
    let items = items.map(|rest| {
        rest.split_once("do").map_or(rest, |(items, _)| items).trim_end_matches([' ', '\n', ';'])
    });
    items.map_or(Source::Data, |items| Source::Written(items.to_owned()))
}

/// The variables that a call sets by its words, and where their values come from.
fn set_by_words(call: &Call, found: &FoundCalls) -> Vec<(String, Source)> {
    let mut all = Vec::new();
    let name = call.name().unwrap_or_default();
    let is_reader = INPUT_READERS.contains(&name);
    let written = || {
        let words = call.words.iter().skip(1).filter(|word| word.value.known().is_none());
        words.filter_map(|word| call.written(word)).collect::<Vec<_>>().join(" ")
    };
    if is_reader {
        let stages = found.pipes.before(call.span);
        let is_plain = match (&call.stdin, stages) {
            (Stdin::Empty | Stdin::Text(_), _) => true,
            (_, Some(stages)) => !stages.iter().any(|stage| shows_more(stage, |_| true)),
            _ => false,
        };
        if !is_plain {
            all.extend(UNNAMED.map(|name| (name.to_owned(), Source::Data)));
            let names = call.words.iter().skip(1).filter_map(|word| word.value.known());
            all.extend(names.map(|name| (name.to_owned(), Source::Data)));
        }
        return all;
    }
    for effect in &call.meaning.effects {
        if let EffectKind::Assigns { name: Value::Known(name), value } = &effect.kind
            && value.as_ref().is_none_or(|value| value.known().is_none())
        {
            all.push((name.clone(), Source::Written(written())));
        }
    }
    let starts = call.shadowed != Shadowed::No
        || call.meaning.kind == Some(ProgramKind::Shell)
        || PARAMETER_SETTERS.contains(&name);
    if starts {
        if call.in_wrapper && has_filled(call) {
            let is_plain = found
                .pipes
                .before(call.span)
                .is_some_and(|stages| !stages.iter().any(|one| shows_more(one, |_| true)));
            all.extend((!is_plain).then(|| (PARAMETERS.to_owned(), Source::Data)));
        }
        all.push((PARAMETERS.to_owned(), Source::Written(written())));
    }
    all
}

/// Whether a name is one of a parameter: `1`, `@`.
fn is_parameter(name: &str) -> bool {
    matches!(name, "@" | "*") || name.chars().all(|c| c.is_ascii_digit())
}

fn has_commands(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// The variables that a word as it is written has in it. Of `${!x}` the name begins with the sign.
fn variables_in(written: &str) -> impl Iterator<Item = &str> {
    written.split('$').skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let is_special = rest.starts_with(['@', '*']);
        let skipped = usize::from(rest.starts_with('!'));
        let end = rest
            .char_indices()
            .skip(skipped)
            .find(|(_, c)| !c.is_ascii_alphanumeric() && *c != '_')
            .map_or(rest.len(), |(at, _)| at);
        rest.get(..if is_special { 1 } else { end }).filter(|name| !name.is_empty() && *name != "!")
    })
}

/// Whether a command in a word shows more than plain facts about the machine: the content of files, variables, what other programs say.
fn shows_files(written: &str) -> bool {
    let Ok(found) = syntax::read(&format!(": {written}")) else { return true };
    found.invocations.iter().skip(1).any(|one| {
        let is_input = one.redirects.iter().any(|redirect| redirect.operator == RedirectOperator::Read);
        is_input || shows_more(&one.words, |_| false)
    })
}

/// Whether a command shows more than plain facts. `holds`: whether a variable holds more.
fn shows_more(words: &[Word], holds: impl Fn(&str) -> bool) -> bool {
    let name = words.first().and_then(|word| word.value.known()).map(base_name);
    let Some(name) = name.filter(|name| PLAIN_FACTS.contains(name)) else { return true };
    let meaning = understand(words);
    let is_about_commits = || !meaning.subcommands.first().is_some_and(|first| PLAIN_GIT.contains(first));
    let reads = |word: &Word| !matches!(&word.value, Value::Unknown(Unknown { why: Why::Process, .. }));
    let shows = |effect: &Effect| match &effect.kind {
        EffectKind::Reads(word) => reads(word),
        EffectKind::Inline(..) | EffectKind::Opaque(..) => true,
        _ => false,
    };
    let is_held = |word: &Word| match &word.value {
        Value::Unknown(Unknown { why: Why::Parameter(name), .. }) => holds(name),
        _ => false,
    };
    name == "git" && is_about_commits()
        || meaning.effects.iter().any(shows)
        || words.iter().skip(1).any(is_held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_facts_are_nothing_to_hide() {
        for (written, expected) in [
            ("$(cat x)", true),
            ("a$(base64 < x)b", true),
            ("`cat x`", true),
            ("$(env)", true),
            ("$(git show HEAD:x)", true),
            ("$(git rev-parse --short HEAD)", false),
            ("kubectl-$(uname -s)-$(uname -m)", false),
            ("$(uname -s | tr A-Z a-z)", false),
            ("$(date +%F)", false),
        ] {
            assert_eq!(shows_files(written), expected, "{written}");
        }
    }

    #[test]
    fn names_of_variables() {
        let all = |text| variables_in(text).collect::<Vec<_>>();
        assert_eq!(all("a$x/${y:0:9}$1${z[0]}"), ["x", "y", "1", "z"]);
        assert_eq!(all("${!x}$@$*"), ["!x", "@", "*"]);
    }
}
