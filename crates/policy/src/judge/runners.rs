//! Programs that another one runs by name, without a shell: `npx prettier --write x`, `python3 -m pip install x`. What the inner
//! program changes outside, sends or publishes is an effect of the call.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use shellgate_syntax::{Value, Word};

use super::Judge;
use crate::calls::{Call, Derived, Shadowed, behind_runner};
use crate::effect::{CallEffect, EffectName};
use crate::programs::understand;

impl Judge<'_> {
    /// The effects of the program that a runner starts, as far as they are worse than running code.
    pub(super) fn foretell_inner(&self, call: &Call) -> Vec<CallEffect> {
        let inner = call.derived.inner.get_or_init(|| inner_call(call).map(Box::new));
        let Some(inner) = inner else { return Vec::new() };
        let mut effects = Vec::new();
        self.foretell_program(inner, &mut effects);
        effects.retain(|effect| match effect.effect {
            EffectName::Publish | EffectName::Machine | EffectName::Secret => true,
            EffectName::Write | EffectName::Delete => effect.target.is_some(),
            EffectName::Network => effect.sends && effect.known,
            EffectName::Unknown | EffectName::Code | EffectName::Read => false,
        });
        effects
    }
}

/// The call of the inner program.
fn inner_call(call: &Call) -> Option<Call> {
    let known: Vec<Option<&str>> = call.words.iter().map(|word| word.value.known()).collect();
    let (program, at) = behind_runner(&known)?;
    let name = Word { span: call.words.first()?.span, value: Value::Known(program) };
    let words: Vec<Word> = std::iter::once(name).chain(call.words.iter().skip(at).cloned()).collect();
    let meaning = understand(&words);
    Some(Call {
        words,
        text: call.text.clone(),
        span: call.span,
        meaning,
        assignments: Vec::new(),
        redirects: Vec::new(),
        constructs: Arc::clone(&call.constructs),
        shadowed: Shadowed::No,
        problems: Vec::new(),
        in_wrapper: true,
        more_words: call.more_words,
        stdin: call.stdin.clone(),
        when: call.when,
        folders: Rc::clone(&call.folders),
        origin: call.origin,
        around: call.around,
        places: OnceCell::default(),
        derived: Derived::default(),
    })
}
