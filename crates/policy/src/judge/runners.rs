//! Programs that another one runs by name, without a shell: `npx prettier --write x`, `python3 -m pip install x`. What the inner
//! program changes outside, sends or publishes is an effect of the call.

use std::rc::Rc;
use std::sync::Arc;

use shellgate_syntax::{Value, Word};

use super::Judge;
use crate::calls::{Call, Shadowed};
use crate::effect::{CallEffect, EffectName};
use crate::programs::{understand, words};

impl Judge<'_> {
    /// The effects of the program that a runner starts, as far as they are worse than running code.
    pub(super) fn foretell_inner(&self, call: &Call) -> Vec<CallEffect> {
        let Some(inner) = inner_call(call) else { return Vec::new() };
        let mut effects = Vec::new();
        self.foretell_program(&inner, &mut effects);
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
    let program = call.name()?;
    let rows = words::RUNNERS.iter().filter_map(|row| row.split_once(' ').or(Some((*row, ""))));
    let of_program: Vec<&str> = rows.filter(|(name, _)| *name == program).map(|(_, rest)| rest).collect();
    let mut behind = None;
    for rest in of_program {
        let wanted: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
        let own = call.words.get(1..1 + wanted.len())?;
        if own.iter().zip(&wanted).all(|(own, wanted)| own.value.known() == Some(wanted)) {
            behind = call.words.get(1 + wanted.len()..);
        }
    }
    let mut behind = behind?.iter();
    let mut name = None;
    while let Some(word) = behind.next() {
        let text = word.value.known()?;
        if words::RUNNER_VALUE_OPTIONS.contains(&text) {
            behind.next();
        } else if !text.starts_with('-') {
            name = Some(Word { span: word.span, value: Value::Known(tool_name(text).to_owned()) });
            break;
        }
    }
    let all: Vec<Word> = name.into_iter().chain(behind.cloned()).collect();
    if all.is_empty() {
        return None;
    }
    let meaning = understand(&all);
    Some(Call {
        words: all,
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
    })
}

/// The name of a tool in a package: `@scope/tool@1.2` is `tool`.
fn tool_name(package: &str) -> &str {
    let name = package.rsplit('/').next().unwrap_or(package);
    let name = name.split('@').find(|part| !part.is_empty()).unwrap_or(name);
    words::TOOL_PACKAGES
        .iter()
        .filter_map(|row| row.split_once(' '))
        .find(|(own, _)| *own == name)
        .map_or(name, |(_, tool)| tool)
}
