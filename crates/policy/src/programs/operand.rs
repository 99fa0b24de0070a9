//! Gives operands their roles.

use super::EffectKind;
use super::collector::Collector;
use super::entry::{Entry, Operand};
use super::role::Role;
use shellgate_syntax::Word;

/// The operands that an entry has when these options are given.
fn roles(entry: &'static Entry, given: &[&str]) -> Vec<&'static Operand> {
    let any = |names: &[&str]| names.iter().any(|name| given.contains(name));
    let counts = |role: &&Operand| !any(role.unless) && (role.only_if.is_empty() || any(role.only_if));
    entry.operands.unwrap_or_default().iter().filter(counts).collect()
}

/// Whether an operand takes all further words, also those that look like options.
fn takes_rest(operand: &Operand) -> bool {
    matches!(operand.role, Role::Command | Role::CommandMore | Role::Remote | Role::Args)
        || (operand.role == Role::Shell && operand.repeated)
}

/// The role of `word` and all words behind it, if they have one role together. `before` are the operands before it.
pub(crate) fn rest_role(entry: &'static Entry, before: &[Word], given: &[&str], word: &Word) -> Option<Role> {
    let roles = roles(entry, given);
    roles.iter().find(|role| takes_rest(role))?;
    let mut roles = roles.into_iter().peekable();
    for word in before {
        skip_assignments(&mut roles, word);
        roles.next_if(|role| !role.repeated && !takes_rest(role));
    }
    skip_assignments(&mut roles, word);
    roles.next().filter(|role| takes_rest(role)).map(|role| role.role)
}

/// Passes over the operands for assignments, unless `word` is an assignment.
fn skip_assignments<'r>(roles: &mut std::iter::Peekable<impl Iterator<Item = &'r Operand>>, word: &Word) {
    if !word.value.lead().contains('=') {
        while roles.next_if(|role| role.role == Role::Assign && role.repeated).is_some() {}
    }
}

/// Gives each operand its role. Required roles get their words first, then optional ones, then the one that repeats. So
/// `cp a b` reads `a` and writes `b`, with `["<path>...", "<write>"]`.
pub(crate) fn assign(entry: &'static Entry, operands: &[Word], given: &[&str], collector: &mut Collector) {
    let roles: Vec<_> = roles(entry, given).into_iter().filter(|role| !takes_rest(role)).collect();
    let required = roles.iter().filter(|role| role.required).count();
    let mut spare = operands.len().saturating_sub(required);
    let mut counts: Vec<usize> = roles.iter().map(|role| usize::from(role.required)).collect();
    for (role, count) in roles.iter().zip(&mut counts) {
        if spare > 0 && !role.required && !role.repeated {
            *count = 1;
            spare -= 1;
        }
    }
    for (role, count) in roles.iter().zip(&mut counts) {
        if role.repeated {
            *count += spare;
            spare = 0;
        }
    }
    let mut words = operands.iter();
    for (role, count) in roles.iter().zip(counts) {
        for word in words.by_ref().take(count) {
            if let Some(why) = role.unusual {
                collector.effect(word, EffectKind::Unusual(why));
            }
            collector.role(role.role, word, entry.language);
        }
    }
    if let Some(word) = words.next()
        && !(entry.open && entry.operands.is_none())
    {
        collector.effect(word, EffectKind::Unusual("has more operands than this program takes"));
    }
}

/// The number of the first operand from which on all are paths whose order doesn't matter.
pub(crate) fn unordered_from(entry: &'static Entry) -> Option<usize> {
    let (last, before) = entry.operands?.split_last()?;
    let is_path = last.repeated && matches!(last.role, Role::Path | Role::Write);
    let fixed = before.iter().all(|operand| operand.required && !operand.repeated);
    (is_path && fixed).then_some(before.len())
}
