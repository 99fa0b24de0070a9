//! `cd`, `pushd`, `popd`: the working directory of the shell.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{Canonical, EffectKind, read};
use shellgate_syntax::{Unknown, Value, Why, Word};

/// Reads a change of directory. One operand is the folder. Without one, and with `-` or `+1`, the text doesn't say which
/// folder it is.
pub(crate) fn directory(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let from = collector.meaning.canonical.len();
    read::by_table(entry, words, collector);
    let said = collector.meaning.canonical.get(from..).unwrap_or_default();
    if said.iter().any(|part| matches!(part, Canonical::Option(name, _) if name == "-n")) {
        return;
    }
    let target = words.last().filter(|last| said.contains(&Canonical::Word(last.value.clone())));
    // Without an operand it goes home; `pushd` exchanges two folders that aren't known.
    let program = collector.meaning.canonical.first().and_then(|part| match part {
        Canonical::Word(value) => value.known(),
        Canonical::Option(..) => None,
    });
    if target.is_none()
        && words.iter().all(|word| word.value.lead().starts_with('-'))
        && program == Some("cd")
    {
        let home = Why::Tilde { user: String::new(), rest: Some(String::new()) };
        let value = Value::Unknown(Unknown { lead: String::new(), splits: false, why: home, tail: None });
        let span = words.last().map_or_else(Default::default, |word| word.span);
        let word = Word { span, value };
        collector.call_effect(EffectKind::Directory(Some(word)));
        return;
    }
    let elsewhere = target.is_none_or(|word| {
        let lead = word.value.lead();
        let is_home = matches!(&word.value, Value::Unknown(Unknown { why: Why::Tilde { .. }, .. }));
        let is_home = is_home || matches!(&word.value, Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail: Some(_), .. }) if name == "HOME" && lead.is_empty());
        lead == "-" || lead.starts_with('+') || word.value.known().is_none() && lead.is_empty() && !is_home
    });
    match target {
        Some(word) if !elsewhere => collector.effect(word, EffectKind::Directory(Some(word.clone()))),
        _ => collector.call_effect(EffectKind::Directory(None)),
    }
}
