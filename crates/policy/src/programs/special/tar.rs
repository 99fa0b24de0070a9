//! `tar`: options without a dash in the first word, archives that are read or written, and `--checkpoint-action`.

use super::super::collector::{Collector, after, with_text};
use super::super::form::{Entry, ValueForm};
use super::super::words;
use super::super::{Canonical, EffectKind, read};
use shellgate_syntax::{Value, Word};

/// Reads a call of tar: `tar xf FILE`, `tar -xf FILE`, `tar --extract --file FILE`.
pub(crate) fn tar(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let from = collector.meaning.canonical.len();
    match words.split_first() {
        Some((first, rest)) if !first.value.lead().is_empty() && !first.value.lead().starts_with('-') => {
            read::by_table(entry, &with_dashes(entry, first, rest, collector), collector);
        }
        _ => read::by_table(entry, words, collector),
    }
    let said = collector.meaning.canonical.get(from..).unwrap_or_default();
    let given = |wanted: &[&str]| {
        said.iter().any(|part| matches!(part, Canonical::Option(name, _) if wanted.contains(&name.as_str())))
    };
    let writes = given(words::TAR_WRITING_OPTIONS);
    let local = given(&["--force-local"]);
    let renames = given(&["-x"]) && given(&["--transform"]);
    let archives: Vec<Value> = said
        .iter()
        .filter_map(|part| match part {
            Canonical::Option(name, Some(value)) if name == "-f" => Some(value.clone()),
            _ => None,
        })
        .collect();
    for effect in &mut collector.meaning.effects {
        if let EffectKind::Reads(word) = &effect.kind
            && archives.contains(&word.value)
        {
            let lead = word.value.lead();
            let remote = lead.split('/').next().is_some_and(|host| host.contains(':'));
            if remote && !local {
                effect.kind =
                    EffectKind::Unusual("has an archive on another machine, which starts a remote shell");
            } else if writes {
                effect.kind = EffectKind::Writes(word.clone());
            }
        }
    }
    if renames {
        collector.call_effect(EffectKind::Unusual("unpacks files under names that aren't known"));
    }
}

/// The first word's letters as options of their own. Their values follow in the order of the letters.
fn with_dashes(entry: &'static Entry, first: &Word, rest: &[Word], collector: &mut Collector) -> Vec<Word> {
    if first.value.known().is_none() {
        collector.effect(first, EffectKind::MaybeOption(first.clone()));
    }
    let mut words = Vec::new();
    let mut rest = rest.iter();
    for letter in first.value.lead().chars() {
        let name = format!("-{letter}");
        words.push(with_text(first, &name));
        let option = entry.option(&name);
        if option.is_some_and(|option| option.value_form == ValueForm::Required) {
            words.extend(rest.next().cloned());
        }
    }
    words.extend(rest.cloned());
    words
}

/// Reads an action. `exec=COMMAND` runs a command; the others only show something.
pub(crate) fn tar_action(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    if lead.starts_with("exec=") {
        if let Some(command) = after(word, 5) {
            collector.effect(word, EffectKind::Shell(command));
        }
    } else if word.value.known().is_none() {
        collector.effect(word, EffectKind::Opaque(word.clone(), "an action that isn't known"));
    }
}
