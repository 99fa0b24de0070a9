//! Expressions of `find`: starting points, then tests and actions, some of which run and write.

use super::super::What;
use super::super::entry::Entry;
use super::super::sink::Sink;
use super::super::words;
use super::holes::with_holes;
use shellgate_syntax::{Unknown, Value, Why, Word};

/// More starting points than these aren't told apart.
const MANY: usize = 8;

/// A call of `find`.
pub(crate) fn find(_: &'static Entry, words: &[Word], sink: &mut Sink) {
    // Names from a list may begin with anything.
    let listed = words.iter().any(|word| word.value.known() == Some("-files0-from"));
    let mut starts: Vec<Word> = Vec::new();
    let mut words = words.iter().peekable();
    let mut expression = false;
    while let Some(word) = words.next() {
        let Some(text) = word.value.known() else {
            sink.word(word.value.clone());
            unknown(word, expression, sink);
            if !expression {
                starts.push(word.clone());
            }
            continue;
        };
        if !expression && (words::FIND_LEADING_OPTIONS.contains(&text) || text.starts_with("-O")) {
            sink.option(text, None);
            continue;
        }
        if !expression && text == "-D" {
            sink.option(text, words.next().map(|word| word.value.clone()));
            continue;
        }
        if !expression && !text.starts_with('-') && !["(", "!", ","].contains(&text) {
            sink.word(word.value.clone());
            sink.effect(word, What::Reads(word.clone()));
            starts.push(word.clone());
            continue;
        }
        expression = true;
        if words::FIND_PLAIN_EXPRESSIONS.contains(&text) {
            sink.option(text, None);
            continue;
        }
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                sink.option(text, None);
                let mut command = Vec::new();
                let mut plus = false;
                for word in words.by_ref() {
                    sink.word(word.value.clone());
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
                // `-execdir` says names in its own way.
                let leads = if listed || text.ends_with("dir") { None } else { leads(&starts) };
                match leads {
                    Some(leads) => leads.iter().for_each(|lead| {
                        let filled = |word: &Word| filled(word, lead, plus);
                        sink.runs(&command.iter().map(filled).collect::<Vec<Word>>(), false);
                    }),
                    None => {
                        if plus {
                            command.pop();
                        }
                        let holes = |word: &Word| with_holes(word, &["{}"]);
                        sink.runs(&command.iter().map(holes).collect::<Vec<Word>>(), plus);
                    }
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                let file = words.next();
                sink.option(text, file.map(|word| word.value.clone()));
                if let Some(file) = file {
                    sink.effect(file, What::Writes(file.clone()));
                }
                if text == "-fprintf"
                    && let Some(format) = words.next()
                {
                    sink.word(format.value.clone());
                }
            }
            "-delete" => {
                sink.option(text, None);
                sink.effect(word, What::Unusual("deletes the files that it finds"));
            }
            "-files0-from" => {
                let file = words.next();
                sink.option(text, file.map(|word| word.value.clone()));
                if let Some(file) = file {
                    sink.effect(file, What::Reads(file.clone()));
                    sink.effect(file, What::Opaque(file.clone(), "a list of files that isn't known"));
                }
            }
            _ if words::FIND_EXPRESSIONS_WITH_ARGUMENT.contains(&text) || text.starts_with("-newer") => {
                let value = words.next();
                sink.option(text, value.map(|word| word.value.clone()));
                if let Some(value) = value {
                    splits(value, sink);
                    if ["-newer", "-anewer", "-cnewer", "-samefile"].contains(&text) {
                        sink.effect(value, What::Reads(value.clone()));
                    }
                }
            }
            _ => {
                sink.word(word.value.clone());
                sink.effect(word, What::Unusual("has an expression that isn't known for find"));
            }
        }
    }
}

/// A word that isn't known: a starting point if it certainly begins like one.
fn unknown(word: &Word, expression: bool, sink: &mut Sink) {
    if expression || may_be(word) || word.value.lead().starts_with(['-', '(', '!', ',']) {
        sink.effect(word, What::MaybeOption(word.clone()));
    }
    if !expression {
        sink.effect(word, What::Reads(word.clone()));
    }
}

/// Whether a starting point that isn't known may be an option, or become words of which one is. The rule of `read`, for the
/// values that a starting point has.
fn may_be(word: &Word) -> bool {
    let Value::Unknown(unknown) = &word.value else {
        return false;
    };
    match &unknown.why {
        // Folders that the shell itself keeps begin with a slash; only as they are, or they may have been cut.
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

/// The word with names in place of `{}`, if it begins with that.
fn filled(word: &Word, lead: &str, several: bool) -> Word {
    let Some(rest) = word.value.known().and_then(|text| text.strip_prefix("{}")) else {
        return with_holes(word, &["{}"]);
    };
    let unknown = Unknown {
        lead: lead.to_owned(),
        splits: several && rest.is_empty(),
        // Files that are there.
        why: Why::Glob,
        tail: None,
    };
    Word { span: word.span, value: Value::Unknown(unknown) }
}

/// A value that may become several words brings its own expression along.
fn splits(word: &Word, sink: &mut Sink) {
    if matches!(&word.value, Value::Unknown(unknown) if unknown.splits) {
        sink.effect(word, What::MaybeOption(word.clone()));
    }
}
