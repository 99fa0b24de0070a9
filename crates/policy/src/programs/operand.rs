//! Gives operands their roles.

use super::EffectKind;
use super::collector::Collector;
use super::form::Role;
use super::form::{Entry, Operand};
use super::special;
use shellgate_syntax::{Value, Word};

/// The operands that an entry has when these options are given.
fn roles(entry: &'static Entry, given: &[&str]) -> Vec<&'static Operand> {
    let any = |names: &[&str]| names.iter().any(|name| given.contains(name));
    let counts = |role: &&Operand| !any(&role.unless) && (role.only_if.is_empty() || any(&role.only_if));
    entry.operands.iter().flatten().filter(counts).collect()
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
///
/// A word that may become none or several (`uniq *`) leaves open how many words there are. It and its neighbours then have
/// every role that some number of words gives them.
pub(crate) fn assign(entry: &'static Entry, operands: &[Word], given: &[&str], collector: &mut Collector) {
    let roles: Vec<_> = roles(entry, given).into_iter().filter(|role| !takes_rest(role)).collect();
    let splitting = operands.iter().filter(|word| splits(word)).count();
    // More words than there are roles add no new reading.
    let most = roles.len() + 1;
    let mut before = (0, 0);
    for word in operands {
        let own = usize::from(splits(word));
        let after = (operands.len() - splitting - before.0 - (1 - own), splitting - before.1 - own);
        let possible = |(fixed, splitting): (usize, usize)| {
            let more = if splitting + own > 0 { most } else { 0 };
            fixed..=fixed + more
        };
        let mut found: Vec<&Operand> = Vec::new();
        for index in possible(before) {
            for rest in possible(after) {
                let role = role_at(&roles, index, index + 1 + rest);
                found.extend(role.filter(|role| !found.iter().any(|other| std::ptr::eq(*other, *role))));
            }
        }
        if found.is_empty() {
            if !(entry.open && entry.operands.is_none()) {
                collector.effect(word, EffectKind::Unusual("has more operands than this program takes"));
            }
            return;
        }
        for role in found {
            if let Some(why) = role.unusual {
                collector.effect(word, EffectKind::Unusual(why));
            }
            collector.role(role.role, word, entry.language);
        }
        before = (before.0 + 1 - own, before.1 + own);
    }
}

/// The number of the first operand from which on all are paths or goals whose order doesn't matter.
pub(crate) fn unordered_from(entry: &'static Entry) -> Option<usize> {
    let (last, before) = entry.operands.as_ref()?.split_last()?;
    let is_path =
        last.repeated && matches!(last.role, Role::Path | Role::Write | Role::Name | Role::MakeWord);
    let fixed = before.iter().all(|operand| operand.required && !operand.repeated);
    (is_path && fixed).then_some(before.len())
}

/// The role of the operand at `index` if there are `total` operands.
fn role_at<'r>(roles: &[&'r Operand], index: usize, total: usize) -> Option<&'r Operand> {
    let required = roles.iter().filter(|role| role.required).count();
    let optional = roles.iter().filter(|role| !role.required && !role.repeated).count();
    let mut spare = total.saturating_sub(required);
    let repeated = spare.saturating_sub(optional);
    let mut repeats = true;
    let mut end = 0;
    roles.iter().copied().find(|role| {
        end += usize::from(role.required);
        if !role.required && !role.repeated && spare > 0 {
            spare -= 1;
            end += 1;
        }
        // Only the first role that repeats takes the words that are left over.
        if role.repeated && std::mem::take(&mut repeats) {
            end += repeated;
        }
        index < end
    })
}

/// Whether a word may become none or several.
pub(crate) fn splits(word: &Word) -> bool {
    matches!(&word.value, Value::Unknown(unknown) if unknown.splits && !special::is_number(&unknown.why))
}

/// Whether it matters how many operands there are before a word: a command or a text for a shell is among them.
pub(crate) fn has_command(entry: &'static Entry, given: &[&str]) -> bool {
    roles(entry, given).into_iter().any(|operand| takes_rest(operand) && operand.role != Role::Args)
}
