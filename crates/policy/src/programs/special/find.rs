//! Expressions of `find`: starting points, then tests and actions, some of which run and write.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::entry::Entry;
use super::super::words;
use super::placeholders::with_placeholders;
use shellgate_syntax::{Unknown, Value, Why, Word};

/// With more starting points, it isn't known what the names that are found begin with.
const MANY: usize = 8;

/// Reads a call of find.
pub(crate) fn find(_: &'static Entry, words: &[Word], collector: &mut Collector) {
    // Names from a list may begin with anything.
    let listed = words.iter().any(|word| word.value.known() == Some("-files0-from"));
    let mut starts: Vec<Word> = Vec::new();
    let mut words = words.iter().peekable();
    let mut expression = false;
    while let Some(word) = words.next() {
        let Some(text) = word.value.known() else {
            collector.word(word.value.clone());
            unknown(word, expression, collector);
            if !expression {
                starts.push(word.clone());
            }
            continue;
        };
        if !expression && (words::FIND_LEADING_OPTIONS.contains(&text) || text.starts_with("-O")) {
            collector.option(text, None);
            continue;
        }
        if !expression && text == "-D" {
            collector.option(text, words.next().map(|word| word.value.clone()));
            continue;
        }
        if !expression && !text.starts_with('-') && !["(", "!", ","].contains(&text) {
            collector.word(word.value.clone());
            collector.effect(word, EffectKind::Reads(word.clone()));
            starts.push(word.clone());
            continue;
        }
        expression = true;
        if words::FIND_PLAIN_EXPRESSIONS.contains(&text) {
            collector.option(text, None);
            continue;
        }
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                collector.option(text, None);
                let mut command = Vec::new();
                let mut plus = false;
                for word in words.by_ref() {
                    collector.word(word.value.clone());
                    let end = word.value.known();
                    if end == Some(";") {
                        break;
                    }
                    // `+` ends the command only behind `{}`.
                    let holes = command.last().is_some_and(|last: &Word| last.value.known() == Some("{}"));
                    if end == Some("+") && holes {
                        plus = true;
                        break;
                    }
                    command.push(word.clone());
                }
                // `-execdir` gives names relative to their folder.
                let leads = if listed || text.ends_with("dir") { None } else { leads(&starts) };
                match leads {
                    Some(leads) => leads.iter().for_each(|lead| {
                        let filled = |word: &Word| filled(word, lead, plus);
                        collector.runs(&command.iter().map(filled).collect::<Vec<Word>>(), false);
                    }),
                    None => {
                        if plus {
                            command.pop();
                        }
                        let holes = |word: &Word| with_placeholders(word, &["{}"]);
                        collector.runs(&command.iter().map(holes).collect::<Vec<Word>>(), plus);
                    }
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let file = words.next();
                collector.option(text, file.map(|word| word.value.clone()));
                if let Some(file) = file {
                    collector.effect(file, EffectKind::Writes(file.clone()));
                }
                if text == "-fprintf"
                    && let Some(format) = words.next()
                {
                    collector.word(format.value.clone());
                }
            }
            "-delete" => {
                collector.option(text, None);
                collector.effect(word, EffectKind::Unusual("deletes the files that it finds"));
            }
            "-files0-from" => {
                let file = words.next();
                collector.option(text, file.map(|word| word.value.clone()));
                if let Some(file) = file {
                    collector.effect(file, EffectKind::Reads(file.clone()));
                    collector
                        .effect(file, EffectKind::Opaque(file.clone(), "a list of files that isn't known"));
                }
            }
            _ if words::FIND_EXPRESSIONS_WITH_ARGUMENT.contains(&text) || text.starts_with("-newer") => {
                let value = words.next();
                collector.option(text, value.map(|word| word.value.clone()));
                if let Some(value) = value {
                    splits(value, collector);
                    if ["-newer", "-anewer", "-cnewer", "-samefile"].contains(&text) {
                        collector.effect(value, EffectKind::Reads(value.clone()));
                    }
                }
            }
            _ => {
                collector.word(word.value.clone());
                collector.effect(word, EffectKind::Unusual("has an expression that isn't known for find"));
            }
        }
    }
}

/// Adds the effects of a word that isn't known. It is a starting point if it certainly begins like one.
fn unknown(word: &Word, expression: bool, collector: &mut Collector) {
    if expression || may_be(word) || word.value.lead().starts_with(['-', '(', '!', ',']) {
        collector.effect(word, EffectKind::MaybeOption(word.clone()));
    }
    if !expression {
        collector.effect(word, EffectKind::Reads(word.clone()));
    }
}

/// Whether a starting point that isn't known may be an option, or become words of which one is. The same rule as in `read`,
/// for the values that a starting point has.
fn may_be(word: &Word) -> bool {
    let Value::Unknown(unknown) = &word.value else {
        return false;
    };
    match &unknown.why {
        // The shell sets these to paths that begin with a slash. `${HOME#…}` may not.
        Why::Parameter(name) if ["HOME", "PWD"].contains(&name.as_str()) && unknown.lead.is_empty() => {
            unknown.splits || unknown.tail.is_none()
        }
        Why::Tilde { .. } => false,
        // Names of files that exist begin as the pattern does.
        Why::Glob | Why::Brace => unknown.lead.is_empty(),
        _ => unknown.lead.is_empty() || unknown.splits,
    }
}

/// What the names begin with that are found from these starting points. `None`: that isn't known.
fn leads(starts: &[Word]) -> Option<Vec<String>> {
    if starts.is_empty() {
        return Some(vec!["./".to_owned()]);
    }
    if starts.len() > MANY {
        return None;
    }
    let lead = |word: &Word| match &word.value {
        Value::Known(text) if text.is_empty() => None,
        Value::Known(text) if text.ends_with('/') => Some(text.clone()),
        Value::Known(text) => Some(format!("{text}/")),
        Value::Unknown(unknown) => (!unknown.lead.is_empty() && !may_be(word)).then(|| unknown.lead.clone()),
    };
    starts.iter().map(lead).collect()
}

/// The word with a name that is found in place of `{}` at its beginning.
fn filled(word: &Word, lead: &str, several: bool) -> Word {
    let Some(rest) = word.value.known().and_then(|text| text.strip_prefix("{}")) else {
        return with_placeholders(word, &["{}"]);
    };
    let unknown = Unknown {
        lead: lead.to_owned(),
        splits: several && rest.is_empty(),
        // Names of files that exist.
        why: Why::Glob,
        tail: None,
    };
    Word { span: word.span, value: Value::Unknown(unknown) }
}

/// Notes a value that may become several words: those may be parts of the expression.
fn splits(word: &Word, collector: &mut Collector) {
    if matches!(&word.value, Value::Unknown(unknown) if unknown.splits) {
        collector.effect(word, EffectKind::MaybeOption(word.clone()));
    }
}
