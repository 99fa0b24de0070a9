//! `cd`, `pushd`, `popd`: where the shell goes.

use super::super::entry::Entry;
use super::super::sink::Sink;
use super::super::{Canonical, What, read};
use shellgate_syntax::Word;

/// One operand is the folder. None, `-` and `+1` lead to somewhere that isn't in the text.
pub(crate) fn directory(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let from = sink.understood.canonical.len();
    read::plainly(entry, words, sink);
    let said = sink.understood.canonical.get(from..).unwrap_or_default();
    if said.iter().any(|part| matches!(part, Canonical::Option(name, _) if name == "-n")) {
        return;
    }
    let target = words.last().filter(|last| said.contains(&Canonical::Word(last.value.clone())));
    let elsewhere = target.is_none_or(|word| {
        let lead = word.value.lead();
        lead == "-" || lead.starts_with('+') || word.value.known().is_none() && lead.is_empty()
    });
    match target {
        Some(word) if !elsewhere => sink.effect(word, What::Directory(Some(word.clone()))),
        _ => sink.whole(What::Directory(None)),
    }
}
