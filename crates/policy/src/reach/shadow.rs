//! Functions that take the place of programs: when that is certain, and when it only may be.

use shellgate_syntax::{Function, Invocation, Place, Span, Word};

use super::{Met, Scope};
use crate::programs::{Property, has};

/// Whether a function takes the place of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shadowed {
    No,
    /// The function is certainly defined before.
    Certainly,
    /// It may be defined before.
    Maybe,
}

/// Whether a function runs in place of what a call names.
pub(super) fn shadowed(met: &Met, scope: &Scope) -> Shadowed {
    // What runs another program passes functions by.
    let name = met.invocation.words.first().and_then(|word| word.value.known()).filter(|_| !met.inner);
    let Some(name) = name else { return Shadowed::No };
    let inside = met.invocation.places.iter().any(|place| matches!(place, Place::Function(_)));
    let mut shadowed = Shadowed::No;
    for function in scope.functions.iter().filter(|function| function.name == name) {
        // A text inside another has its functions, too, and they can take these away.
        let certain = function.places.is_empty() && !inside && !scope.unsets && scope.depth == 0;
        let before = function.span.end <= met.invocation.span.start;
        // In posix mode these come before functions.
        let special = has(name, Property::SpecialBuiltin);
        if certain && before && !special && is_defined(function, met.invocation.span, &scope.source) {
            return Shadowed::Certainly;
        }
        shadowed = Shadowed::Maybe;
    }
    shadowed
}

/// Whether a definition has happened when a call does: an error before it passes over the rest of its line, and over a call
/// on that line with it.
fn is_defined(function: &Function, call: Span, source: &str) -> bool {
    let before = source.get(..function.span.start).unwrap_or_default();
    let first = before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
    let between = source.get(function.span.end..call.start).unwrap_or("\n");
    first || !between.contains('\n')
}

/// Whether a call may take functions away: by its name, or because nobody knows it.
pub(super) fn unsets(invocation: &Invocation) -> bool {
    let takes = |word: &Word| word.value.known().is_none_or(|name| has(name, Property::MayUnsetFunctions));
    let first = invocation.words.first().is_some_and(takes);
    let wraps = invocation
        .words
        .first()
        .and_then(|word| word.value.known())
        .is_some_and(|name| has(name, Property::RunsBuiltins));
    first || wraps && invocation.words.iter().any(takes)
}
