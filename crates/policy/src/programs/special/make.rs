//! Words of make: goals, variables and makefiles. make expands a variable's value and has a shell read it in recipes.

use super::super::EffectKind;
use super::super::collector::{Collector, after, with_text};
use super::super::role::Role;
use super::path_or_name;
use shellgate_syntax::{Value, Why, Word};

/// Signs in a value that are more than words to make or to the shell of a recipe.
const SIGNS: &[char] = &['$', '`', ';', '|', '&', '<', '>', '(', ')', '\n', '#'];

/// Reads an operand: `goal`, `NAME=VALUE`, `NAME:=VALUE`, `NAME!=COMMAND`.
pub(crate) fn make_word(word: &Word, collector: &mut Collector) {
    let lead = word.value.lead();
    let is_known = word.value.known().is_some();
    let Some((left, _)) = lead.split_once('=') else {
        // A word that isn't known may be an assignment. One whose every value is known to be a plain word isn't.
        match &word.value {
            Value::Known(text) if !text.contains('$') => {}
            Value::Unknown(unknown) if lead.is_empty() && matches!(unknown.why, Why::Parameter(_)) => {
                collector.effect(word, EffectKind::MaybeOption(word.clone()));
            }
            _ => collector.effect(word, EffectKind::Inline(word.clone(), "make")),
        }
        path_or_name::place(Role::Name, word, collector);
        return;
    };
    let value = after(word, left.len() + 1);
    if let (true, Some(value)) = (left.ends_with('!'), &value) {
        collector.effect(word, EffectKind::Shell(value.clone()));
    } else if !is_known && !begins_at_home(word) || lead.contains(SIGNS) || left.trim_start().starts_with('.')
    {
        // Variables with a dot are make's own: `.SHELLFLAGS` are words of every recipe's shell.
        collector.effect(word, EffectKind::Inline(word.clone(), "make"));
    }
    let name = with_text(word, left.trim_end_matches([':', '+', '?', '!', ' '])).value;
    collector
        .effect(word, EffectKind::Assigns { name, value: value.map(|word: Word| -> Value { word.value }) });
}

/// Whether all that isn't known of a value is the home folder: `PREFIX=~/x`, `PREFIX=$HOME/x`.
fn begins_at_home(word: &Word) -> bool {
    let Value::Unknown(unknown) = &word.value else { return false };
    let is_plain = |rest: &Option<String>| rest.as_ref().is_some_and(|rest| !rest.contains(SIGNS));
    match &unknown.why {
        Why::Parameter(name) => name == "HOME" && is_plain(&unknown.tail),
        Why::Tilde { user, rest } => user.is_empty() && is_plain(rest),
        _ => false,
    }
}

/// Reads the name of a makefile. Standard input and what isn't known are code of the call itself.
pub(crate) fn makefile(word: &Word, collector: &mut Collector) {
    // A path that leaves the folder may be standard input under another name: `../../dev/stdin`.
    let may_be_input = |path: &str| path.starts_with('/') || path.split('/').any(|part| part == "..");
    match word.value.known() {
        Some(path) if may_be_input(path) => collector.effect(word, EffectKind::OpaqueInput("make")),
        Some(_) => {}
        None => collector.effect(word, EffectKind::Inline(word.clone(), "make")),
    }
    collector.role(Role::Config, word, "make");
}
