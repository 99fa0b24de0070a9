//! What `declare` and its like make of variables: integers, whose values are expressions; lists, whose values are expanded
//! once more; other names for variables.

use std::collections::HashSet;

use shellgate_syntax::{Assigned, Findings, Value, Why, Word};

use crate::programs::{Property, has, words};

/// The attributes that a text gives, whenever it does.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    integers: HashSet<String>,
    lists: HashSet<String>,
    /// A name that can't be known became an integer.
    any_integer: bool,
}

/// A call of `declare` or its like.
#[derive(Debug)]
pub(super) struct Declaration<'a> {
    builtin: &'a str,
    letters: String,
    operands: &'a [Word],
}

impl Attributes {
    pub(super) fn find(findings: &Findings) -> Self {
        let mut found = Self::default();
        for invocation in &findings.invocations {
            for assignment in &invocation.assignments {
                if matches!(assignment.value, Assigned::Array(_)) || assignment.subscript.is_some() {
                    found.lists.insert(assignment.name.clone());
                }
            }
            let Some(declaration) = Declaration::of(&invocation.words) else { continue };
            let names = declaration.operands.iter().map(|word| name(word.value.lead()).to_owned());
            if declaration.letters.contains('i') {
                found.any_integer |= declaration
                    .operands
                    .iter()
                    .any(|word| !word.value.lead().contains('=') && word.value.known().is_none());
                found.integers.extend(names);
            } else if declaration.letters.contains(['a', 'A']) {
                found.lists.extend(names);
            }
        }
        found
    }

    /// Whether what this variable is set to is evaluated.
    pub(super) fn is_integer(&self, name: &str) -> bool {
        self.any_integer || words::INTEGER_VARIABLES.contains(&name) || self.integers.contains(name)
    }
}

impl<'a> Declaration<'a> {
    /// The declaration that these words are, also behind `command` and `builtin`.
    pub(super) fn of(words: &'a [Word]) -> Option<Self> {
        let known = |word: &'a Word| word.value.known();
        let wraps = |word: &'a Word| known(word).is_some_and(|name| has(name, Property::RunsBuiltins));
        let wrapped = words.first().is_some_and(wraps);
        let skipped = |word: &&'a Word| wrapped && (wraps(word) || word.value.lead().starts_with('-'));
        let words = words.get(words.iter().take_while(skipped).count()..)?;
        let builtin = words.first().and_then(known).filter(|name| has(name, Property::DeclaresVariables))?;
        let rest = words.get(1..)?;
        let options = rest.iter().take_while(|word| word.value.lead().starts_with(['-', '+'])).count();
        let letters = rest.iter().take(options).filter_map(known).collect();
        Some(Self { builtin, letters, operands: rest.get(options..)? })
    }

    /// Whether values of what it names are evaluated.
    pub(super) fn makes_integers(&self) -> bool {
        self.letters.contains('i')
    }

    /// Why it isn't plain, if it isn't.
    pub(super) fn trouble(&self, attributes: &Attributes) -> Option<&'static str> {
        let names = has(self.builtin, Property::MakesVariables) && self.letters.contains('n');
        if names {
            return Some("it makes another name for a variable, which sets and evaluates what nobody sees");
        }
        let listed = |word: &&Word| {
            let lead = word.value.lead();
            self.letters.contains(['a', 'A']) || attributes.lists.contains(name(lead))
        };
        // A list that stands there as such is expanded once, and was looked at.
        let again =
            |word: &&Word| matches!(&word.value, Value::Unknown(unknown) if unknown.why != Why::Array);
        self.operands
            .iter()
            .filter(listed)
            .any(|word| again(&word))
            .then_some("a list that can't be known is expanded once more")
    }

    /// The variables that are there anew and empty: `local PATH`.
    pub(super) fn emptied(&self) -> impl Iterator<Item = &'a str> {
        let shows = self.letters.contains(['p', 'f', 'F']);
        let anew = !shows && has(self.builtin, Property::MakesVariables);
        let names = self.operands.iter().filter(move |_| anew).filter_map(|word| word.value.known());
        names.filter(|name| !name.contains('='))
    }
}

/// The name before `=`, `+=` or `[`.
fn name(text: &str) -> &str {
    text.split(['=', '+', '[']).next().unwrap_or(text)
}
