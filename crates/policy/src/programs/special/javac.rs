//! Compilers of Java and its like: without `-d`, each class file is written beside its source, also of classes that the class path
//! has as sources.

use super::super::collector::Collector;
use super::super::form::Entry;
use super::super::{Canonical, Effect, EffectKind, read};
use shellgate_syntax::Word;

/// Endings of files that aren't sources or folders of them.
const ARCHIVE_ENDINGS: [&str; 3] = [".jar", ".zip", "*"];

/// Reads a call. What it reads it may write beside, unless an option says where class files go.
pub(crate) fn javac(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    read::by_table(entry, words, collector);
    let has_folder = |part: &Canonical| matches!(part, Canonical::Option(name, _) if name == "-d");
    if collector.meaning.canonical.iter().any(has_folder) {
        return;
    }
    for Effect { kind, .. } in &mut collector.meaning.effects {
        if let EffectKind::Reads(word) = kind
            && !ARCHIVE_ENDINGS.iter().any(|ending| word.value.lead().ends_with(ending))
        {
            *kind = EffectKind::Writes(word.clone());
        }
    }
}
