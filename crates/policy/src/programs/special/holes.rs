//! Commands with holes that are filled when they run: `xargs -I{}`, `parallel`; and `flock FILE -c TEXT`.

use super::super::entry::Entry;
use super::super::sink::{Sink, across, joined};
use super::super::{Canonical, What, read};
use shellgate_syntax::{Unknown, Value, Why, Word};

/// The word, unknown from the first hole on. `marks` are what holes look like.
pub(super) fn with_holes(word: &Word, marks: &[&str]) -> Word {
    let Some(at) = marks.iter().filter_map(|mark| word.value.lead().find(mark)).min() else {
        return word.clone();
    };
    let lead = word.value.lead().get(..at).unwrap_or_default().to_owned();
    let why = Why::Parameter(marks.first().copied().unwrap_or_default().to_owned());
    Word { span: word.span, value: Value::Unknown(Unknown { lead, splits: false, why, tail: None }) }
}

/// Words of a command with holes.
fn all_with_holes(words: &[Word], marks: &[&str]) -> Vec<Word> {
    words.iter().map(|word| with_holes(word, marks)).collect()
}

/// `xargs`: with `-I MARK` the words have holes, without it more words come at the end.
pub(crate) fn xargs(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    read::plainly(entry, words, sink);
    let mark = sink.understood.canonical.iter().rev().find_map(|part| match part {
        Canonical::Option(name, value) if name == "-I" || name == "-i" => Some(value.clone()),
        _ => None,
    });
    let Some(mark) = mark else {
        return;
    };
    let mark = mark.unwrap_or(Value::Known("{}".to_owned()));
    // One of these behind it takes the mark back, and words are added at the end again.
    let counts = |part: &Canonical| matches!(part, Canonical::Option(name, _) if ["-L", "-l", "-n"].contains(&name.as_str()));
    let counted = sink.understood.canonical.iter().any(counts);
    for effect in &mut sink.understood.effects {
        if let What::Argv { words, more } = &mut effect.what {
            // A mark that isn't known may be anywhere: an empty one is found at once.
            *words = all_with_holes(words, &[mark.known().unwrap_or_default()]);
            *more = counted || mark.known().is_none();
        }
    }
}

/// GNU `parallel`: the command before `:::` is shell text with holes; without one, the input is commands.
pub(crate) fn parallel(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let starts = |word: &Word| matches!(word.value.known(), Some(":::" | "::::" | ":::+" | "::::+"));
    let end = words.iter().position(starts).unwrap_or(words.len());
    let (template, inputs) = words.split_at_checked(end).unwrap_or((words, &[]));
    read::plainly(entry, template, sink);
    let shell = sink.understood.effects.iter().position(|effect| matches!(effect.what, What::Argv { .. }));
    let Some(effect) = shell.and_then(|at| sink.understood.effects.get_mut(at)) else {
        // The arguments are the commands.
        if !sink.prints {
            let known: Vec<Word> = inputs.iter().filter(|word| !starts(word)).cloned().collect();
            match across(&known) {
                Some(_) => known.iter().for_each(|word| sink.effect(word, What::Shell(word.clone()))),
                None => sink.whole(What::ShellInput(None)),
            }
        }
        return;
    };
    if let What::Argv { words, .. } = &effect.what
        && let Some(text) = joined(&all_with_holes(words, &["{"]))
    {
        // Without a hole the arguments are added at the end.
        let value = match text.value {
            Value::Known(lead) => {
                let why = Why::Parameter("arguments".to_owned());
                Value::Unknown(Unknown { lead: lead + " ", splits: false, why, tail: None })
            }
            unknown @ Value::Unknown(_) => unknown,
        };
        let more = What::Argv { words: all_with_holes(words, &["{"]), more: true };
        effect.what = What::Shell(Word { span: text.span, value });
        let span = text.span;
        sink.understood.effects.push(super::super::Effect { span, what: more });
    }
}

/// `flock FILE -c TEXT`: an option behind an operand, where all else is a command.
pub(crate) fn flock(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    read::plainly(entry, words, sink);
    for effect in &mut sink.understood.effects {
        if let What::Argv { words, .. } = &effect.what
            && let [option, text, ..] = words.as_slice()
            && matches!(option.value.known(), Some("-c" | "--command"))
        {
            effect.what = What::Shell(text.clone());
        }
    }
}
