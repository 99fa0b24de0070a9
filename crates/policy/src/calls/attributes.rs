//! Attributes that `declare` and its like give variables: integers, whose values are expressions; lists, whose values are
//! expanded once more; other names for variables.

use std::collections::HashSet;

use shellgate_syntax::{Assigned, Findings, Value, Why, Word};

use super::arithmetic::is_set_by_shell;
use crate::programs::{Property, has, words};

/// The attributes that a text gives its variables, at whatever time it does.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    integers: HashSet<String>,
    lists: HashSet<String>,
    /// Variables whose values are put together from several in the text, or changed: `x+=y`, `declare -u x`.
    composed: HashSet<String>,
    /// Whether a variable whose name can't be known becomes an integer.
    any_integer: bool,
}

/// A call of `declare` or its like.
#[derive(Debug)]
pub(super) struct Declaration<'a> {
    builtin: &'a str,
    /// The letters of its options.
    letters: String,
    operands: &'a [Word],
}

impl Attributes {
    /// Looks through a text.
    pub(super) fn find(findings: &Findings) -> Self {
        let mut found = Self::default();
        for invocation in &findings.invocations {
            for assignment in &invocation.assignments {
                if matches!(assignment.value, Assigned::Array(_)) || assignment.subscript.is_some() {
                    found.lists.insert(assignment.name.clone());
                }
                if assignment.append && !matches!(assignment.value, Assigned::Array(_)) {
                    found.composed.insert(assignment.name.clone());
                }
            }
            let Some(declaration) = Declaration::of(&invocation.words) else { continue };
            let names = declaration.operands.iter().map(|word| variable_name(word.value.lead()).to_owned());
            let changes_case = declaration.letters.contains(['l', 'u', 'c']);
            let adds = |word: &&Word| changes_case || word.value.lead().contains("+=");
            let composed = declaration.operands.iter().filter(adds);
            found.composed.extend(composed.map(|word| variable_name(word.value.lead()).to_owned()));
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

    /// Whether this variable may have a value that is written nowhere.
    pub(super) fn is_composed(&self, name: &str) -> bool {
        self.composed.contains(name)
    }

    /// Whether the values of this variable are evaluated as expressions.
    pub(super) fn is_integer(&self, name: &str) -> bool {
        self.any_integer || words::INTEGER_VARIABLES.contains(&name) || self.integers.contains(name)
    }
}

impl<'a> Declaration<'a> {
    /// The declaration that these words are, also behind `command` and `builtin`.
    pub(super) fn of(words: &'a [Word]) -> Option<Self> {
        let known = |word: &'a Word| word.value.known();
        let runs_builtin = |word: &'a Word| known(word).is_some_and(|name| has(name, Property::RunsBuiltins));
        let wrapped = words.first().is_some_and(runs_builtin);
        let is_wrapper =
            |word: &&'a Word| wrapped && (runs_builtin(word) || word.value.lead().starts_with('-'));
        let words = words.get(words.iter().take_while(is_wrapper).count()..)?;
        let builtin = words.first().and_then(known).filter(|name| has(name, Property::DeclaresVariables))?;
        let rest = words.get(1..)?;
        let options = rest.iter().take_while(|word| word.value.lead().starts_with(['-', '+'])).count();
        // `+f` says nothing about functions.
        let letters = rest.iter().take(options).filter_map(known);
        let letters = letters.map(|text| {
            if text.starts_with('+') { text.replace(['f', 'F', 'p'], "") } else { text.to_owned() }
        });
        let letters = letters.collect();
        Some(Self { builtin, letters, operands: rest.get(options..)? })
    }

    /// Whether it makes integers: what they are set to is evaluated.
    pub(super) fn makes_integers(&self) -> bool {
        self.letters.contains('i')
    }

    /// Whether it makes constants, which can't be set any more.
    pub(super) fn makes_constants(&self) -> bool {
        self.letters.contains('r') || has(self.builtin, Property::MakesConstants)
    }

    /// Why what it does can't be followed, if it can't.
    pub(super) fn hazard(&self, attributes: &Attributes) -> Option<&'static str> {
        if has(self.builtin, Property::MakesVariables) && self.letters.contains('n') {
            return Some("it makes another name for a variable, and what that name sets can't be followed");
        }
        let by_shell = |word: &Word| is_set_by_shell(variable_name(word.value.lead()));
        if self.makes_integers() && self.operands.iter().any(by_shell) {
            return Some("the shell sets this variable itself, and evaluates what it sets an integer to");
        }
        let is_list = |word: &&Word| {
            self.letters.contains(['a', 'A']) || attributes.lists.contains(variable_name(word.value.lead()))
        };
        // An array that is written as one is expanded once, and its elements were read.
        let is_expanded_again =
            |word: &Word| matches!(&word.value, Value::Unknown(unknown) if unknown.why != Why::Array);
        self.operands
            .iter()
            .filter(is_list)
            .any(is_expanded_again)
            .then_some("a list that can't be known is expanded once more")
    }

    /// The variables that it makes new and empty: `local PATH`.
    pub(super) fn emptied(&self) -> impl Iterator<Item = &'a str> {
        let only_shows = self.letters.contains(['p', 'f', 'F']);
        let empties = !only_shows && has(self.builtin, Property::MakesVariables);
        let names = self.operands.iter().filter(move |_| empties).filter_map(|word| word.value.known());
        names.filter(|name| !name.contains('=')).map(variable_name)
    }

    /// The variables that it names without a value: they may be empty, or constant, from here on.
    pub(super) fn without_value(&self) -> impl Iterator<Item = &'a str> {
        let leads = self.operands.iter().map(|word| word.value.lead());
        leads.filter(|lead| !lead.contains('=')).map(variable_name)
    }
}

/// The name before `=`, `+=` or `[`.
fn variable_name(text: &str) -> &str {
    text.split(['=', '+', '[']).next().unwrap_or(text)
}
