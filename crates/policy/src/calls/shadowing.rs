//! Functions that run in place of a program of the same name: when that is certain, and when it only may be.

use shellgate_syntax::{Construct, Function, Span};

use super::PendingCall;
use super::context::TextContext;
use crate::programs::{CallMeaning, EffectKind, Property, has};

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
    let Some(functions) = context.functions.get(name) else { return Shadowed::No };
    // A text inside another one runs among the functions of that one, and those may remove these. In posix mode special
    // builtins come before functions.
    let can_be_certain = !in_function
        && !context.unsets_functions
        && context.depth == 0
        && !has(name, Property::SpecialBuiltin);
    let mut certain = functions.iter().filter(|function| function.constructs.is_empty()).take(MAX_LOOKUPS);
    let is_before =
        |function: &Function| happens_before(function.span, call.invocation.span, &context.source);
    if can_be_certain && certain.any(is_before) { Shadowed::Certainly } else { Shadowed::Maybe }
}

/// How many definitions of a function are looked at. Most functions are defined once.
const MAX_LOOKUPS: usize = 4;

/// Whether what is at `earlier`, outside all constructs, has happened when a call does. After an error bash skips the rest
/// of the line: what is further right on that line doesn't happen, and neither does a call on it.
pub(super) fn happens_before(earlier: Span, call: Span, source: &str) -> bool {
    let Span { start, end } = earlier;
    if end > call.start {
        return false;
    }
    let before = source.get(..start).unwrap_or_default();
    let first_on_line = match before.trim_end_matches([' ', '\t']).strip_suffix('\n') {
        // A line that is continued is one line with the next.
        Some(lines) => !lines.ends_with('\\'),
        None => before.trim_matches([' ', '\t']).is_empty(),
    };
    let between = source.get(end..call.start).unwrap_or("\n");
    first_on_line || !between.contains('\n')
}

/// Whether a builtin may remove functions: that is what it does, it has the shell run a text, or what it does isn't plain.
pub(super) fn may_unset_functions(builtin: &CallMeaning) -> bool {
    let is_plain = |kind: &EffectKind| {
        !matches!(
            kind,
            EffectKind::Shell(_)
                | EffectKind::ShellInput(_)
                | EffectKind::Opaque(..)
                | EffectKind::Unusual(_)
                | EffectKind::MaybeOption(_)
        )
    };
    builtin.entry.is_some_and(|name| has(name, Property::MayUnsetFunctions))
        || !builtin.effects.iter().all(|effect| is_plain(&effect.kind))
}
