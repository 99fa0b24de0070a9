//! Commands with placeholders that are filled when they run: `xargs -I{}`, `parallel`. And `flock FILE -c TEXT`.

use super::super::collector::{Collector, joined, span_of};
use super::super::form::Entry;
use super::super::{Canonical, EffectKind, read};
use shellgate_syntax::{Unknown, Value, Why, Word};

/// The word, unknown from the first placeholder on. `marks` are what placeholders look like.
pub(super) fn with_placeholders(word: &Word, marks: &[&str]) -> Word {
    let Some(at) = marks.iter().filter_map(|mark| word.value.lead().find(mark)).min() else {
        return word.clone();
    };
    let lead = word.value.lead().get(..at).unwrap_or_default().to_owned();
    let why = Why::Parameter(marks.first().copied().unwrap_or_default().to_owned());
    Word { span: word.span, value: Value::Unknown(Unknown { lead, splits: false, why, tail: None }) }
}

/// The words of a command, each unknown from its first placeholder on.
fn all_with_placeholders(words: &[Word], marks: &[&str]) -> Vec<Word> {
    words.iter().map(|word| with_placeholders(word, marks)).collect()
}

/// Reads a call of xargs. With `-I MARK` the command has placeholders, without it words are added at its end.
pub(crate) fn xargs(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    let mark = collector.meaning.canonical.iter().rev().find_map(|part| match part {
        Canonical::Option(name, value) if name == "-I" || name == "-i" => Some(value.clone()),
        _ => None,
    });
    let Some(mark) = mark else {
        return;
    };
    let mark = mark.unwrap_or(Value::Known("{}".to_owned()));
    // With one of these options behind it, `-I` doesn't count, and words are added at the end.
    let counts = |part: &Canonical| matches!(part, Canonical::Option(name, _) if ["-L", "-l", "-n"].contains(&name.as_str()));
    let counted = collector.meaning.canonical.iter().any(counts);
    for effect in &mut collector.meaning.effects {
        if let EffectKind::Argv { words, more_words } = &mut effect.kind {
            // A mark that isn't known may be anywhere in a word. An empty mark is found at its beginning.
            *words = all_with_placeholders(words, &[mark.known().unwrap_or_default()]);
            *more_words = counted || mark.known().is_none();
        }
    }
}

/// Reads a call of GNU parallel. The command before `:::` is text for a shell, with placeholders. Without a command, the
/// arguments or the lines of standard input are commands.
pub(crate) fn parallel(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let starts = |word: &Word| matches!(word.value.known(), Some(":::" | "::::" | ":::+" | "::::+"));
    let end = words.iter().position(starts).unwrap_or(words.len());
    let (template, inputs) = words.split_at_checked(end).unwrap_or((words, &[]));
    read::by_table(entry, template, collector);
    let shell =
        collector.meaning.effects.iter().position(|effect| matches!(effect.kind, EffectKind::Argv { .. }));
    let Some(effect) = shell.and_then(|at| collector.meaning.effects.get_mut(at)) else {
        // The arguments are the commands.
        if !collector.prints {
            let known: Vec<Word> = inputs.iter().filter(|word| !starts(word)).cloned().collect();
            match span_of(&known) {
                Some(_) => {
                    known.iter().for_each(|word| collector.effect(word, EffectKind::Shell(word.clone())))
                }
                // The lines of a file, or of standard input, are the commands.
                None => {
                    let file = collector.meaning.canonical.iter().find_map(|part| match part {
                        Canonical::Option(name, Some(value)) if name == "-a" => Some(value.clone()),
                        _ => None,
                    });
                    let span = collector.span;
                    let file = file.map(|value| Word { span, value });
                    collector.call_effect(EffectKind::ShellInput(file));
                }
            }
        }
        return;
    };
    if let EffectKind::Argv { words, .. } = &effect.kind
        && let Some(text) = joined(&all_with_placeholders(words, &["{"]))
    {
        // Without a placeholder the arguments are added at the end.
        let value = match text.value {
            Value::Known(lead) => {
                let why = Why::Parameter("arguments".to_owned());
                Value::Unknown(Unknown { lead: lead + " ", splits: false, why, tail: None })
            }
            unknown @ Value::Unknown(_) => unknown,
        };
        let kind = EffectKind::Argv { words: all_with_placeholders(words, &["{"]), more_words: true };
        effect.kind = EffectKind::Shell(Word { span: text.span, value });
        let span = text.span;
        collector.meaning.effects.push(super::super::Effect { span, kind });
    }
}

/// Reads a call of flock. In `flock FILE -c TEXT` an option follows the operand; any other word there begins a command.
pub(crate) fn flock(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    for effect in &mut collector.meaning.effects {
        if let EffectKind::Argv { words, .. } = &effect.kind
            && let [option, text, ..] = words.as_slice()
            && matches!(option.value.known(), Some("-c" | "--command"))
        {
            effect.kind = EffectKind::Shell(text.clone());
        }
    }
}
