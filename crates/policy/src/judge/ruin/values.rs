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
    all: Vec<Value>,
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
            Some(Value::Known(text)) => values.may_be_empty |= text.is_empty(),
            Some(Value::Unknown(unknown)) => values.may_be_empty |= may_be_empty(unknown, by_shell),
            None => values.may_be_empty = true,
        }
        values.all.extend(value.filter(|_| values.all.len() < MAX_VALUES).cloned());
    }

    /// The variables that the text sets.
    pub(in crate::judge) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The values of a variable, and whether it may be empty. `None`: the text doesn't set it.
    pub(in crate::judge) fn get(&self, name: &str) -> Option<(&[Value], bool)> {
        self.by_name.get(name).map(|values| (values.all.as_slice(), values.may_be_empty))
    }
}

/// Whether a value that isn't known may be empty. A loop takes no empty word out of an expansion that is split.
fn may_be_empty(unknown: &Unknown, by_shell: bool) -> bool {
    let has_text = !unknown.lead.is_empty() || unknown.tail.as_ref().is_some_and(|tail| !tail.is_empty());
    let is_something =
        matches!(unknown.why, Why::Tilde { .. } | Why::Glob | Why::Arithmetic | Why::Process | Why::Brace);
    !(has_text || is_something || by_shell && unknown.splits)
}
