//! Expressions of `find`: starting points, then tests and actions, some of which run and write.
//!
//! Every word of an expression must be a known test, operator or action with its arguments. A word that can't be known may
//! be the `;` that ends the command of `-exec`: what follows would then be read as an expression. That is harmless only if
//! the next word can't begin one, because find refuses such a call before it does anything.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::words;
use super::placeholders::with_placeholders;
use shellgate_syntax::{Unknown, Value, Why, Word};
use std::iter::Peekable;
use std::slice::Iter;

/// With more starting points, it isn't known what the names that are found begin with.
const MANY: usize = 8;

/// Reads a call of find.
pub(crate) fn find(_: &'static Entry, words: &[Word], collector: &mut Collector) {
    // Names from a list may begin with anything.
    let has = |names: &[&str]| {
        words.iter().any(|word| word.value.known().is_some_and(|text| names.contains(&text)))
    };
    let listed = has(&["-files0-from"]);
    let follows_links = has(&["-L", "-follow"]);
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
        let level = text.strip_prefix("-O").is_some_and(|level| level.chars().all(|c| c.is_ascii_digit()));
        if !expression && (words::FIND_LEADING_OPTIONS.contains(&text) || level) {
            collector.option(first_name(text), None);
            continue;
        }
        if !expression && text == "-D" {
            let topics = words.next();
            collector.option(text, topics.map(|word| word.value.clone()));
            if let Some(topics) = topics {
                splits(topics, collector);
            }
            continue;
        }
        if !expression && !text.starts_with('-') && !["(", ")", "!", ","].contains(&text) {
            collector.word(word.value.clone());
            collector.effect(word, EffectKind::Reads(word.clone()));
            starts.push(word.clone());
            continue;
        }
        expression = true;
        if words::FIND_PLAIN_EXPRESSIONS.contains(&text) {
            collector.option(first_name(text), None);
            continue;
        }
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                collector.option(text, None);
                let (mut command, plus) = command(&mut words, collector);
                // `-execdir` gives names relative to their folder.
                let leads = if listed || text.ends_with("dir") { None } else { leads(&starts) };
                match leads {
                    Some(leads) => leads.iter().for_each(|lead| {
                        let filled = |word: &Word| filled(word, lead, plus, follows_links);
                        collector.runs(&command.iter().map(filled).collect::<Vec<Word>>(), false);
                    }),
                    None => {
                        if plus && command.len() == 1 {
                            let what = "a program that isn't known";
                            collector.effect(word, EffectKind::Opaque(word.clone(), what));
                        }
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
                    splits(file, collector);
                    collector.effect(file, EffectKind::Writes(file.clone()));
                }
                if text == "-fprintf"
                    && let Some(format) = words.next()
                {
                    splits(format, collector);
                    collector.word(format.value.clone());
                }
            }
            "-delete" => {
                collector.option(text, None);
                // Below links it may be anywhere, and without a test it takes everything.
                if listed || follows_links || !has(words::FIND_SELECTING_EXPRESSIONS) {
                    collector.effect(word, EffectKind::Unusual("deletes the files that it finds"));
                }
                let here = Word { span: word.span, value: Value::Known(".".to_owned()) };
                let here = [here];
                for start in if starts.is_empty() { &here[..] } else { &starts } {
                    collector.effect(start, EffectKind::Writes(start.clone()));
                }
            }
            "-files0-from" => {
                let file = words.next();
                collector.option(text, file.map(|word| word.value.clone()));
                if let Some(file) = file {
                    splits(file, collector);
                    collector.effect(file, EffectKind::Reads(file.clone()));
                    collector
                        .effect(file, EffectKind::Opaque(file.clone(), "a list of files that isn't known"));
                }
            }
            _ if words::FIND_EXPRESSIONS_WITH_ARGUMENT.contains(&text) || is_newer(text) => {
                let value = words.next();
                collector.option(first_name(text), value.map(|word| word.value.clone()));
                if let Some(value) = value {
                    splits(value, collector);
                    if ["-newer", "-anewer", "-cnewer", "-samefile"].contains(&text)
                        || is_newer(text) && !text.ends_with('t')
                    {
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

/// The first name of a test or option that has several.
fn first_name(text: &str) -> &str {
    let rows = words::FIND_OTHER_NAMES.iter().filter_map(|row| row.split_once(' '));
    rows.into_iter().find(|(other, _)| *other == text).map_or(text, |(_, first)| first)
}

/// Takes the words of a command up to its end, and says whether it ends in `{} +`.
fn command(words: &mut Peekable<Iter<'_, Word>>, collector: &mut Collector) -> (Vec<Word>, bool) {
    let mut command: Vec<Word> = Vec::new();
    while let Some(word) = words.next() {
        collector.word(word.value.clone());
        let end = word.value.known();
        if end == Some(";") {
            return (command, false);
        }
        // `+` ends the command only behind `{}`. For busybox it does anywhere.
        if end == Some("+") && command.last().is_some_and(|last| last.value.known() == Some("{}")) {
            return (command, true);
        }
        splits(word, collector);
        if may_end_command(word) && words.peek().is_some_and(|next| may_begin_expression(next)) {
            let what = "a command of find whose end isn't known";
            collector.effect(word, EffectKind::Opaque(word.clone(), what));
        }
        command.push(word.clone());
    }
    (command, false)
}

/// Whether a word may be the end of a command, or become words of which one is.
fn may_end_command(word: &Word) -> bool {
    let unknown = match &word.value {
        Value::Known(text) => return text == "+",
        Value::Unknown(unknown) => unknown,
    };
    let may_be_end = |part: &str| ["", ";", "+"].contains(&part);
    match &unknown.why {
        why if super::is_number(why) && !unknown.splits => false,
        Why::Arithmetic | Why::Process | Why::Tilde { .. } if !unknown.splits => false,
        Why::Glob | Why::Brace => may_be_end(&unknown.lead),
        _ if unknown.splits => true,
        _ => may_be_end(&unknown.lead) && unknown.tail.as_deref().is_none_or(may_be_end),
    }
}

/// Whether an expression may go on with this word. If not, find refuses the call.
fn may_begin_expression(word: &Word) -> bool {
    let begins = |text: &str| text.starts_with(['-', '(', ')', '!', ',']);
    match &word.value {
        Value::Known(text) => begins(text),
        Value::Unknown(unknown) => unknown.lead.is_empty() || begins(&unknown.lead),
    }
}

/// Whether this is `-newerXY`.
fn is_newer(text: &str) -> bool {
    let letters = text.strip_prefix("-newer").map(str::as_bytes);
    matches!(letters, Some([b'a' | b'B' | b'c' | b'm', b'a' | b'B' | b'c' | b'm' | b't']))
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

/// The word with a name that is found in place of `{}` at its beginning. What stands behind `{}` is kept if the name leads
/// through no link.
fn filled(word: &Word, lead: &str, several: bool, follows_links: bool) -> Word {
    let Some(rest) = word.value.known().and_then(|text| text.strip_prefix("{}")) else {
        return with_placeholders(word, &["{}"]);
    };
    let unknown = Unknown {
        lead: lead.to_owned(),
        splits: several && rest.is_empty(),
        // Names of files that exist.
        why: Why::Glob,
        tail: (!follows_links).then(|| rest.to_owned()),
    };
    Word { span: word.span, value: Value::Unknown(unknown) }
}

/// Notes a value that may become several words: those may be parts of the expression.
fn splits(word: &Word, collector: &mut Collector) {
    if matches!(&word.value, Value::Unknown(unknown) if unknown.splits) {
        collector.effect(word, EffectKind::MaybeOption(word.clone()));
    }
}
