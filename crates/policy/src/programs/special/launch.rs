//! Launchers whose command begins somewhere behind other words: `mise x TOOL -- CMD`, `nix run PACKAGE`.

use super::super::entry::Entry;
use super::super::sink::Sink;
use super::super::{What, read};
use shellgate_syntax::Word;

/// `mise x TOOL… -- CMD`.
pub(crate) fn mise_exec(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    let dashes = words.iter().position(|word| word.value.known() == Some("--")).unwrap_or(words.len());
    let (before, command) = words.split_at_checked(dashes).unwrap_or((words, &[]));
    read::plainly(entry, before, sink);
    let command = command.get(1..).unwrap_or_default();
    command.iter().for_each(|word| sink.word(word.value.clone()));
    sink.runs(command, false);
}

/// `nix run PACKAGE -- ARGS`, `nix shell PACKAGE… -c CMD`: packages are code from elsewhere.
pub(crate) fn nix_run(entry: &'static Entry, words: &[Word], sink: &mut Sink) {
    read::plainly(entry, words, sink);
    if let Some(package) = words.first().filter(|word| !word.value.lead().starts_with('-')) {
        sink.effect(package, What::Opaque(package.clone(), "a package that it runs"));
    }
}
