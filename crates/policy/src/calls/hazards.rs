//! What can run text that is nowhere in the tree, and what makes it unclear which program a text runs.

use shellgate_syntax::{Construct, Findings, Function, Hazard, HazardKind, Invocation, Unknown, Value, Word};

use super::Problem;
use super::context::TextContext;
use crate::programs::{CallMeaning, EffectKind, ProgramKind, is_listed};

/// What of a text isn't followed.
pub(super) fn unfollowed(findings: &Findings, context: &TextContext) -> Vec<Problem> {
    let functions = findings.functions.iter().filter_map(|function| describe_hiding(function, context));
    let in_coprocess = |one: &&Invocation| one.constructs.contains(&Construct::Coprocess);
    let coprocess = findings.invocations.iter().find(in_coprocess).map(|one| {
        Problem::new(context.place(one.span), "it starts a coprocess, whose descriptors aren't followed")
    });
    functions.chain(coprocess).collect()
}

/// A construct that can run what isn't in the tree.
pub(super) fn describe(hazard: &Hazard, context: &TextContext) -> Problem {
    let message = match hazard.kind {
        HazardKind::PromptExpansion => "`@P` expands a value like a prompt, with the commands in it",
        HazardKind::Indirection => "`${!…}` expands what a value names, and that can run commands",
        HazardKind::ExtendedGlob => "it reads differently with extended patterns (`extglob`)",
        HazardKind::Transformation => "it transforms a value in a way that isn't plain",
    };
    Problem::new(context.place(hazard.span), message)
}

/// A function that has the name of a program or a builtin: which of them a call means depends on much.
fn describe_hiding(function: &Function, context: &TextContext) -> Option<Problem> {
    let name = function.name.as_str();
    let message = format!("a function has the name of a program: `{name}`");
    is_listed(name).then(|| Problem::new(context.place(function.span), message))
}

/// A word between a wrapper and its command that may become no word or several, or an option without its value.
pub(super) fn moving_word<'w>(invocation: &'w Invocation, meaning: &CallMeaning) -> Option<&'w Word> {
    if meaning.kind != Some(ProgramKind::Wrapper) {
        return None;
    }
    let command = meaning.effects.iter().find_map(|effect| match &effect.kind {
        EffectKind::Argv { words, .. } => words.first(),
        _ => None,
    })?;
    let before = invocation.words.iter().take_while(|word| word.span != command.span);
    let is_moving = |word: &&Word| match &word.value {
        Value::Known(_) => false,
        // A number that a program prints is missing if that program is killed.
        Value::Unknown(Unknown { splits, lead, .. }) => *splits || lead.starts_with('-'),
    };
    before.into_iter().find(is_moving)
}
