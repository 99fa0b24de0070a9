//! `bun run NAME`: a script of the package, a file, or else a program on PATH.

use super::super::collector::Collector;
use super::super::entry;
use super::super::form::Role;
use super::super::{EffectKind, ProgramKind};
use shellgate_syntax::Word;

/// Reads the name behind `run`. The tables don't know whether the package has such a script, so the name of a program may
/// mean that program.
pub(crate) fn package_script(word: &Word, collector: &mut Collector, language: &'static str) {
    collector.role(Role::Script, word, language);
    let program = word.value.known().and_then(entry::find).map(|entry| entry.kind);
    // Scripts of packages often have the name of a build tool, or `test`.
    if program.is_some_and(|kind| !matches!(kind, ProgramKind::Builder | ProgramKind::Builtin)) {
        collector.effect(
            word,
            EffectKind::Unusual("runs a program of that name, if the package has no such script"),
        );
    }
}
