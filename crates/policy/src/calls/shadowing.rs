//! Functions that run in place of a program of the same name: when that is certain, and when it only may be.

use shellgate_syntax::{Construct, Function, Invocation, Span, Word};

use super::PendingCall;
use super::context::TextContext;
use crate::programs::{Property, has};

/// Whether a function runs in place of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shadowed {
    /// No function has this name.
    No,
    /// A function of this name is certainly defined before the call.
    Certainly,
    /// A function of this name may be defined before the call.
    Maybe,
}

/// Whether a function runs in place of what a call names.
pub(super) fn shadowed(call: &PendingCall, context: &TextContext) -> Shadowed {
    // A wrapper runs programs, never functions.
    let name = call.invocation.words.first().and_then(|word| word.value.known());
    let Some(name) = name.filter(|_| !call.in_wrapper) else { return Shadowed::No };
    let in_function =
        call.invocation.constructs.iter().any(|construct| matches!(construct, Construct::Function(_)));
    let mut shadowed = Shadowed::No;
    for function in context.functions.iter().filter(|function| function.name == name) {
        // A text inside another one runs among the functions of that one, and those may remove these.
        let certain =
            function.constructs.is_empty() && !in_function && !context.unsets_functions && context.depth == 0;
        let before = function.span.end <= call.invocation.span.start;
        // In posix mode these come before functions.
        let special = has(name, Property::SpecialBuiltin);
        if certain && before && !special && is_defined(function, call.invocation.span, &context.source) {
            return Shadowed::Certainly;
        }
        shadowed = Shadowed::Maybe;
    }
    shadowed
}

/// Whether a definition has happened when a call does. After an error bash skips the rest of the line: a definition further
/// right on that line doesn't happen, and neither does a call on it.
fn is_defined(function: &Function, call: Span, source: &str) -> bool {
    let before = source.get(..function.span.start).unwrap_or_default();
    let first_on_line = before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
    let between = source.get(function.span.end..call.start).unwrap_or("\n");
    first_on_line || !between.contains('\n')
}

/// Whether a call may remove functions: by its name, or because its name can't be known.
pub(super) fn may_unset_functions(invocation: &Invocation) -> bool {
    let may_unset =
        |word: &Word| word.value.known().is_none_or(|name| has(name, Property::MayUnsetFunctions));
    let program = invocation.words.first();
    let runs_builtin =
        program.and_then(|word| word.value.known()).is_some_and(|name| has(name, Property::RunsBuiltins));
    program.is_some_and(may_unset) || runs_builtin && invocation.words.iter().any(may_unset)
}
