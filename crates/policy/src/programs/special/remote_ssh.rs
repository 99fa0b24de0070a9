//! Clients of clouds and virtual machines that start `ssh`: `gcloud compute ssh HOST -- ARGUMENTS`, `vagrant ssh`.

use super::super::collector::{Collector, with_text};
use super::super::form::Entry;
use super::super::{EffectKind, read};
use shellgate_syntax::Word;

/// Reads a call that starts `ssh` if one of its words says so.
pub(crate) fn remote_ssh(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let is_dashes = |word: &&Word| word.value.known() == Some("--");
    let is_ssh = |word: &Word| word.value.known().is_some_and(|text| text.eq_ignore_ascii_case("ssh"));
    if words.iter().take_while(|word| !is_dashes(word)).any(is_ssh) {
        vagrant_ssh(entry, words, collector);
    } else {
        read::by_table(entry, words, collector);
    }
}

/// Reads a call that starts `ssh`. What follows `--` are arguments of `ssh`, the command among them. Without a command, the
/// shell of the other machine reads standard input.
pub(crate) fn vagrant_ssh(entry: &'static Entry, words: &[Word], collector: &mut Collector) {
    let dashes = words.iter().position(|word| word.value.known() == Some("--")).unwrap_or(words.len());
    let (before, behind) = words.split_at_checked(dashes).unwrap_or((words, &[]));
    read::by_table(entry, before, collector);
    match behind.split_first() {
        Some((dashes, arguments)) if !arguments.is_empty() => {
            arguments.iter().for_each(|word| collector.word(word.value.clone()));
            let program = [with_text(dashes, "ssh"), with_text(dashes, "host")];
            let command: Vec<Word> = program.into_iter().chain(arguments.iter().cloned()).collect();
            collector.runs(&command, false);
        }
        _ if !collector.names_code && !collector.prints => {
            collector.call_effect(EffectKind::ShellInput(None));
        }
        _ => {}
    }
}
