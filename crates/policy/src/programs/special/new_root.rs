//! Programs that give a command another root folder, or other folders in it: `chroot`, `unshare -R`, `proot`, `bwrap`. There the
//! name of a program may stand for any file, so only what leaves the programs of this machine in their places is known.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{EffectKind, read, words as lists};
use super::first_operand;
use shellgate_syntax::{Value, Why, Word};

const OTHER_PROGRAMS: &str = "makes other files the programs that names stand for";

/// Reads a folder that becomes the root.
pub(crate) fn new_root(word: &Word, collector: &mut Collector) {
    collector.effect(word, EffectKind::Reads(word.clone()));
    if word.value.known() != Some("/") {
        collector.effect(word, EffectKind::Unusual(OTHER_PROGRAMS));
    }
}

/// Reads `PATH` or `SOURCE:TARGET`: what is found at another place.
pub(crate) fn bind(word: &Word, collector: &mut Collector) {
    let text = word.value.lead();
    let is_harmless = match text.split_once(':') {
        Some((source, target)) => {
            word.value.known().is_some() && (source == target || has_no_programs(target))
        }
        None => true,
    };
    if !is_harmless {
        collector.effect(word, EffectKind::Unusual(OTHER_PROGRAMS));
    }
}

/// Reads a call of bwrap, whose options build a root folder.
pub(crate) fn bwrap(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    let options = words.get(..first_operand(entry, words)).unwrap_or_default();
    let mut at = 0;
    while let Some(option) = options.get(at) {
        let name = option.value.known().unwrap_or_default();
        let count = entry.option(name).map_or(0, |option| option.values.len());
        let values = options.get(at + 1..).unwrap_or_default();
        let values = values.get(..count).unwrap_or(values);
        if !keeps_programs(name, values) {
            collector.effect(option, EffectKind::Unusual(OTHER_PROGRAMS));
        }
        at += 1 + count;
    }
}

/// Whether an option of bwrap leaves the programs of this machine in their places.
fn keeps_programs(name: &str, values: &[Word]) -> bool {
    let target = values.last().and_then(|word| word.value.known());
    let is_plain_place = target.is_some_and(has_no_programs);
    if lists::BWRAP_BINDS.contains(&name) {
        return is_plain_place
            || matches!(values, [source, target] if is_same_place(&source.value, &target.value));
    }
    if name == "--symlink" {
        let texts: Option<Vec<&str>> = values.iter().map(|word| word.value.known()).collect();
        return texts.is_some_and(|texts| lists::BWRAP_USUAL_LINKS.contains(&texts.join(" ").as_str()));
    }
    !lists::BWRAP_FILLING_OPTIONS.contains(&name) || is_plain_place
}

/// Whether both words are the same absolute place.
fn is_same_place(source: &Value, target: &Value) -> bool {
    match (source, target) {
        (Value::Known(source), Value::Known(target)) => {
            let bare = |path: &str| path.trim_end_matches('/').to_owned();
            source.starts_with('/') && bare(source) == bare(target)
        }
        (Value::Unknown(one), Value::Unknown(other)) => {
            let is_fixed = match &one.why {
                Why::Parameter(name) => lists::BWRAP_FIXED_VARIABLES.contains(&name.as_str()),
                Why::Tilde { .. } => true,
                _ => false,
            };
            is_fixed && one == other
        }
        _ => false,
    }
}

/// Whether a place in the new root is none that programs and their libraries are taken from.
fn has_no_programs(target: &str) -> bool {
    let target = target.trim_end_matches('/');
    lists::PLACES_WITHOUT_PROGRAMS.contains(&target)
}
