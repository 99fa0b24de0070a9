//! Variables whose every value is written in the text: a loop over known words, a constant.
//!
//! Which of its values a variable has at some place is not followed: too much in a shell can change it. The only
//! promise is about a word that is such a variable and nothing else: whatever value it has there, also if it is empty, the
//! word is none of a program's options. A variable that is set to numbers only, and certainly is set, is like the result
//! of an expression.

use std::collections::{HashMap, HashSet};

use shellgate_syntax::{self as syntax, Assigned, Findings, Invocation, Span, Unknown, Value, Why, Word};

use super::arithmetic::is_set_by_shell;
use super::attributes::Declaration;
use super::shadowing::happens_before;
use crate::programs::{CallMeaning, EffectKind, ProgramKind, Property, has};

/// Longer values aren't looked at, and no more values of one variable: each use of it would look at all.
const MAX_VALUE_BYTES: usize = 256;
const MAX_VALUES: usize = 64;

/// How many of the places where a variable is set are looked at.
const MAX_LOOKUPS: usize = 4;

/// The values of the variables whose values are all known.
#[derive(Debug, Default)]
pub(super) struct KnownValues {
    by_name: HashMap<String, Vec<String>>,
    /// The variables that are set to numbers only.
    numbers: HashSet<String>,
    /// Where variables are set outside all constructs, for this shell.
    set_at: HashMap<String, Vec<Span>>,
}

impl KnownValues {
    /// Looks through a text. `builtins` are the builtins that it calls.
    pub(super) fn find(findings: &Findings, builtins: &[CallMeaning]) -> Self {
        if builtins.iter().any(may_set_any_variable) {
            return Self::default();
        }
        // An expression sets a variable to a number.
        let mut changed_elsewhere: HashSet<String> =
            findings.arithmetic.iter().flat_map(|one| &one.names).cloned().collect();
        let mut other_than_numbers: HashSet<&str> = HashSet::new();
        for effect in builtins.iter().flat_map(|meaning| &meaning.effects) {
            match &effect.kind {
                EffectKind::Assigns { name: Value::Known(name), value } => {
                    changed_elsewhere.insert(name.clone());
                    if !value.as_ref().is_some_and(is_number) {
                        other_than_numbers.insert(name);
                    }
                }
                // It may be any variable.
                EffectKind::Assigns { .. } => return Self::default(),
                EffectKind::Arithmetic(word) => match word.value.known().map(syntax::read_arithmetic) {
                    Some(Ok(inner)) => {
                        changed_elsewhere.extend(inner.arithmetic.into_iter().flat_map(|one| one.names));
                    }
                    _ => return Self::default(),
                },
                _ => {}
            }
        }
        let mut all: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
        for assignment in findings.invocations.iter().flat_map(|invocation| &invocation.assignments) {
            let replaces = !assignment.append && assignment.subscript.is_none();
            let is_number = matches!(&assignment.value, Assigned::Scalar(value) if is_number(value));
            if !replaces || !is_number {
                other_than_numbers.insert(&assignment.name);
            }
            let values = all.entry(&assignment.name).or_default();
            match &assignment.value {
                Assigned::Scalar(value) if replaces => values.push(value.known()),
                Assigned::ByShell(items) if replaces && !items.is_empty() => {
                    values.extend(items.iter().map(Value::known))
                }
                _ => values.push(None),
            }
        }
        let known = all.iter().filter_map(|(name, values)| {
            let name = *name;
            let values =
                values.iter().map(|value| value.map(str::to_owned)).collect::<Option<Vec<String>>>()?;
            (!changed_elsewhere.contains(name) && !is_set_by_shell(name)).then(|| (name.to_owned(), values))
        });
        let is_number = |name: &&&str| !other_than_numbers.contains(**name) && !is_set_by_shell(name);
        let numbers = all.keys().filter(is_number).map(|name| (*name).to_owned()).collect();
        let by_name = known.collect();
        let mut set_at: HashMap<String, Vec<Span>> = HashMap::new();
        let certain = |one: &&Invocation| one.words.is_empty() && one.constructs.is_empty();
        for invocation in findings.invocations.iter().filter(certain) {
            for assignment in &invocation.assignments {
                set_at.entry(assignment.name.clone()).or_default().push(invocation.span);
            }
        }
        // `local x` makes an empty one, and a constant can't be set.
        let declarations = findings.invocations.iter().filter_map(|one| Declaration::of(&one.words));
        for name in declarations.flat_map(|declaration| declaration.without_value().collect::<Vec<_>>()) {
            set_at.remove(name);
        }
        Self { by_name, numbers, set_at }
    }

    /// Whether a word is a variable alone that is certainly a number for the call at `call`, like the result of an expression.
    pub(super) fn is_number(&self, word: &Word, call: Span, source: &str) -> bool {
        let Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail, .. }) = &word.value else {
            return false;
        };
        let alone = lead.is_empty() && tail.as_deref() == Some("");
        alone && self.numbers.contains(name) && self.is_set_before(name, call, source)
    }

    /// Whether a variable is certainly set when the call at `call` happens.
    fn is_set_before(&self, name: &str, call: Span, source: &str) -> bool {
        self.set_at.get(name).is_some_and(|set| {
            // The first few are enough: most variables are set once.
            set.iter().take(MAX_LOOKUPS).any(|at| happens_before(*at, call, source))
        })
    }

    /// Whether a word is a variable alone that is certainly exactly one word for the call at `call`.
    pub(super) fn is_one_word(&self, word: &Word, call: Span, source: &str) -> bool {
        let Value::Unknown(Unknown { why: Why::Parameter(name), .. }) = &word.value else { return false };
        self.is_no_option(word) && self.is_set_before(name, call, source)
    }

    /// Whether a word is a variable alone, and none of its values is an option or becomes several words.
    pub(super) fn is_no_option(&self, word: &Word) -> bool {
        let Value::Unknown(unknown) = &word.value else { return false };
        let Why::Parameter(name) = &unknown.why else { return false };
        // With a tail, the tail would begin the word when the variable is empty.
        let alone = unknown.lead.is_empty() && unknown.tail.as_deref() == Some("");
        let harmless =
            |value: &String| value.len() <= MAX_VALUE_BYTES && !value.starts_with('-') && is_one_word(value);
        let are_harmless = |values: &Vec<String>| values.len() <= MAX_VALUES && values.iter().all(harmless);
        alone && self.by_name.get(name).is_some_and(are_harmless)
    }
}

/// Whether a value is a number: digits, or the result of an expression alone.
fn is_number(value: &Value) -> bool {
    match value {
        Value::Known(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        Value::Unknown(Unknown { why: Why::Arithmetic, lead, tail, .. }) => {
            lead.is_empty() && tail.as_deref() == Some("")
        }
        Value::Unknown(_) => false,
    }
}

/// Whether an unquoted expansion of `value` stays one word, as it is.
fn is_one_word(value: &str) -> bool {
    !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "_./:@%+-".contains(c))
}

/// Whether a builtin may set variables that the text doesn't name: it has the shell run a text, or removes variables.
fn may_set_any_variable(meaning: &CallMeaning) -> bool {
    let runs_text = |kind: &EffectKind| {
        matches!(kind, EffectKind::Shell(_) | EffectKind::ShellInput(_) | EffectKind::Unusual(_))
    };
    meaning.kind == Some(ProgramKind::Builtin)
        && (meaning.entry.is_some_and(|name| has(name, Property::UnsetsVariables))
            || meaning.effects.iter().any(|effect| runs_text(&effect.kind)))
}
