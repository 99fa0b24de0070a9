//! Statements given to a database's shell. Plain SQL is data; commands of the shell itself can run programs.

use super::super::EffectKind;
use super::super::collector::Collector;
use super::sqlite_files;
use crate::languages::sql::is_plain;
use shellgate_syntax::Word;

/// Reads a statement, or a command such as `.tables` and `\dt`.
pub(crate) fn sql(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    if !word.value.known().is_some_and(is_plain) {
        collector.effect(word, EffectKind::Opaque(word.clone(), "commands of a database's shell"));
        sqlite_files::add(word, collector);
    }
}

/// Reads the name of a database of sqlite. `file:` begins an address, whose path may lead elsewhere than it looks.
pub(crate) fn sqlite_file(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead().to_ascii_lowercase();
    if lead.starts_with("file:") {
        collector.effect(word, EffectKind::Unusual("names its database by an address"));
    }
    if word.value.known() != Some(":memory:") {
        collector.effect(word, EffectKind::Writes(word.clone()));
    }
}
