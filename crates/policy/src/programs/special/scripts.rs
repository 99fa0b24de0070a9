//! `bun run NAME`: a script of the package, a file, or else a program that is found as a shell would find it.

use super::super::entry;
use super::super::role::Role;
use super::super::sink::Sink;
use super::super::{Kind, What};
use shellgate_syntax::Word;

/// The name behind `run`. Whether the package has such a script isn't known; a name that programs have may be meant.
pub(crate) fn package_script(word: &Word, sink: &mut Sink, language: &'static str) {
    sink.role(Role::Script, word, language);
    let program = word.value.known().and_then(entry::find).map(|entry| entry.kind);
    // Packages call their scripts as build tools are called, and `test`.
    if program.is_some_and(|kind| !matches!(kind, Kind::Builder | Kind::Builtin)) {
        sink.effect(word, What::Unusual("runs a program of that name, if the package has no such script"));
    }
}
