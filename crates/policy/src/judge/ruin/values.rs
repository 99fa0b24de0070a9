//! What a text sets its variables to, wherever in it.

use std::collections::HashMap;

use shellgate_syntax::{Assigned, Unknown, Value, Why};

use crate::calls::FoundCalls;
use crate::programs::EffectKind;

/// If a variable is set to more values, the rest isn't looked at.
const MAX_VALUES: usize = 16;

/// The values of variables, by name.
#[derive(Debug, Default)]
pub(in crate::judge) struct TextValues {
    by_name: HashMap<String, Values>,
}

#[derive(Debug, Default)]
struct Values {
    known: Vec<String>,
    may_be_empty: bool,
}

impl TextValues {
    pub(in crate::judge) fn of(found: &FoundCalls) -> Self {
        let mut all = Self::default();
        for call in &found.calls {
            for assignment in &call.assignments {
                let by_shell = matches!(assignment.value, Assigned::ByShell(_));
                match &assignment.value {
                    Assigned::Scalar(value) => all.add(&assignment.name, Some(value), by_shell),
                    Assigned::Array(values) | Assigned::ByShell(values) => {
                        values.iter().for_each(|value| all.add(&assignment.name, Some(value), by_shell));
                    }
                }
            }
            for effect in &call.meaning.effects {
                if let EffectKind::Assigns { name: Value::Known(name), value } = &effect.kind {
                    all.add(name, value.as_ref(), false);
                }
            }
        }
        all
    }

    fn add(&mut self, name: &str, value: Option<&Value>, by_shell: bool) {
        let values = self.by_name.entry(name.to_owned()).or_default();
        match value {
            Some(Value::Known(text)) if values.known.len() < MAX_VALUES => values.known.push(text.clone()),
            Some(Value::Known(text)) => values.may_be_empty |= text.is_empty(),
            Some(Value::Unknown(unknown)) => values.may_be_empty |= may_be_empty(unknown, by_shell),
            None => values.may_be_empty = true,
        }
    }

    /// The known values of a variable, and whether it may be empty.
    pub(super) fn get(&self, name: &str) -> (&[String], bool) {
        match self.by_name.get(name) {
            Some(values) => (&values.known, values.may_be_empty),
            None => (&[], true),
        }
    }
}

/// Whether a value that isn't known may be empty. A loop takes no empty word out of an expansion that is split.
fn may_be_empty(unknown: &Unknown, by_shell: bool) -> bool {
    let has_text = !unknown.lead.is_empty() || unknown.tail.as_ref().is_some_and(|tail| !tail.is_empty());
    let is_something =
        matches!(unknown.why, Why::Tilde { .. } | Why::Glob | Why::Arithmetic | Why::Process | Why::Brace);
    !(has_text || is_something || by_shell && unknown.splits)
}
