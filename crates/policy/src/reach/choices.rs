//! Variables that can only have values from the text: a loop over known words, a constant.
//!
//! What value one has at some place is not followed: too much in a shell can change it. Only this is said: a word that is
//! such a variable and nothing else is none of a program's options, whatever it is by then, and also if it is empty.

use std::collections::HashMap;

use shellgate_syntax::{Assigned, Findings, Value, Why, Word};

use super::arithmetic::is_set_by_shell;
use crate::programs::{Kind, Property, Understood, What, has};

/// The values of variables that are all known.
#[derive(Debug, Default)]
pub(super) struct Choices {
    values: HashMap<String, Vec<String>>,
}

impl Choices {
    /// Looks through a text. `builtins` are what it calls of them.
    pub(super) fn find(findings: &Findings, builtins: &[Understood]) -> Self {
        if builtins.iter().any(sets_anything) {
            return Self::default();
        }
        let mut open: Vec<&str> =
            findings.arithmetic.iter().flat_map(|one| &one.names).map(String::as_str).collect();
        for effect in builtins.iter().flat_map(|one| &one.effects) {
            match &effect.what {
                What::Assigns { name: Value::Known(name), .. } => open.push(name),
                // Whichever it is.
                What::Assigns { .. } => return Self::default(),
                _ => {}
            }
        }
        let mut all: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
        for assignment in findings.invocations.iter().flat_map(|invocation| &invocation.assignments) {
            let plain = !assignment.append && assignment.subscript.is_none();
            let values = all.entry(&assignment.name).or_default();
            match &assignment.value {
                Assigned::Scalar(value) if plain => values.push(value.known()),
                Assigned::ByShell(items) if plain && !items.is_empty() => {
                    values.extend(items.iter().map(Value::known))
                }
                _ => values.push(None),
            }
        }
        let known = all.into_iter().filter_map(|(name, values)| {
            let values =
                values.into_iter().map(|value| value.map(str::to_owned)).collect::<Option<Vec<String>>>()?;
            (!open.contains(&name) && !is_set_by_shell(name)).then(|| (name.to_owned(), values))
        });
        Self { values: known.collect() }
    }

    /// Whether a word is one of some known texts, of which none is or becomes an option.
    pub(super) fn is_no_option(&self, word: &Word) -> bool {
        let Value::Unknown(unknown) = &word.value else { return false };
        let Why::Parameter(name) = &unknown.why else { return false };
        // With something behind it, that would begin the word when the variable is empty.
        let alone = unknown.lead.is_empty() && unknown.tail.as_deref() == Some("");
        let plain = |value: &String| !value.starts_with('-') && is_one_word(value);
        alone && self.values.get(name).is_some_and(|values| values.iter().all(plain))
    }
}

/// Whether an unquoted expansion of `value` stays one word, as it is.
fn is_one_word(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "_./:@%+-".contains(c))
}

/// Whether a call can set variables that nobody sees: text that the shell runs again, other names for a variable.
fn sets_anything(understood: &Understood) -> bool {
    let runs_text = |what: &What| matches!(what, What::Shell(_) | What::ShellInput(_) | What::Unusual(_));
    understood.kind == Some(Kind::Builtin)
        && (understood.entry.is_some_and(|name| has(name, Property::UnsetsVariables))
            || understood.effects.iter().any(|effect| runs_text(&effect.what)))
}
