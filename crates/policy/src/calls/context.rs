//! What is known of a text as a whole, before its calls are followed: its variables, functions and standard input.

use std::collections::HashMap;
use std::rc::Rc;

use shellgate_syntax::{Assigned, Findings, Function, Span, Word};

use super::attributes::Attributes;
use super::known_values::KnownValues;
use super::shadowing::may_unset_functions;
use super::stdin::inherited_in;
use super::{ANY_VARIABLE, MAX_DEPTH, Stdin, When, unknown_value};
use crate::programs::{CallMeaning, EffectKind, is_builtin, understand};

/// A text that calls are found in.
#[derive(Clone)]
pub(super) struct TextContext {
    pub(super) source: Rc<str>,
    /// Where the whole text is in the command. `None`: it is the command.
    place: Option<Span>,
    pub(super) stdin: Stdin,
    pub(super) depth: usize,
    pub(super) functions: Rc<[Function]>,
    /// What each variable is set to, wherever in the text.
    pub(super) values: Rc<HashMap<String, Vec<Assigned>>>,
    pub(super) known_values: Rc<KnownValues>,
    pub(super) attributes: Rc<Attributes>,
    /// Whether functions may be removed again.
    pub(super) unsets_functions: bool,
    /// When the text runs.
    pub(super) when: When,
    /// The folders that programs around it change to, one from the other. `None`: an unknown one.
    pub(super) folders: Rc<[Option<Word>]>,
}

/// How a text inside another one is run.
#[derive(Clone)]
pub(super) struct InnerText {
    /// Its place in the command.
    pub(super) span: Span,
    pub(super) stdin: Stdin,
    /// Whether its shell reads it from standard input, where its own commands may read it too.
    pub(super) is_input: bool,
    /// When it runs.
    pub(super) when: When,
    /// The folders that programs around it change to, one from the other. `None`: an unknown one.
    pub(super) folders: Rc<[Option<Word>]>,
}

impl TextContext {
    pub(super) fn new(
        source: &str,
        place: Option<Span>,
        stdin: Stdin,
        depth: usize,
        findings: &Findings,
    ) -> Self {
        let mut values: HashMap<String, Vec<Assigned>> = HashMap::new();
        for assignment in findings.invocations.iter().flat_map(|invocation| &invocation.assignments) {
            values.entry(assignment.name.clone()).or_default().push(assignment.value.clone());
        }
        let mut builtins: Vec<CallMeaning> = Vec::new();
        for invocation in &findings.invocations {
            collect_builtins(&invocation.words, 0, &mut builtins);
        }
        let unsets_functions = builtins.iter().any(may_unset_functions);
        let known_values = KnownValues::find(findings, &builtins);
        for effect in builtins.into_iter().flat_map(|meaning| meaning.effects) {
            if let EffectKind::Assigns { name, value } = effect.kind {
                let name = name.known().unwrap_or(ANY_VARIABLE).to_owned();
                let value = Assigned::Scalar(value.unwrap_or_else(unknown_value));
                values.entry(name).or_default().push(value);
            }
        }
        Self {
            source: source.into(),
            place,
            stdin: inherited_in(findings, stdin),
            depth,
            functions: findings.functions.clone().into(),
            values: values.into(),
            known_values: known_values.into(),
            attributes: Attributes::find(findings).into(),
            unsets_functions,
            when: When::Once,
            folders: Rc::new([]),
        }
    }

    /// A text inside this one.
    pub(super) fn inner(&self, source: &str, inner: InnerText, findings: &Findings) -> Self {
        Self {
            when: self.when.max(inner.when),
            folders: inner.folders,
            ..Self::new(source, Some(inner.span), inner.stdin, self.depth + 1, findings)
        }
    }

    /// Where a part of this text is in the command: a text inside another has one place for all of its parts.
    pub(super) fn place(&self, span: Span) -> Span {
        self.place.unwrap_or(span)
    }

    /// Whether it is the text of the command itself, and none inside it.
    pub(super) fn is_whole_command(&self) -> bool {
        self.place.is_none()
    }

    /// The same text, one level deeper: for a command that a wrapper in it runs.
    pub(super) fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..self.clone() }
    }
}

/// The meanings of the builtins that a call is or runs. Only builtins set variables of this shell.
fn collect_builtins(words: &[Word], depth: usize, found: &mut Vec<CallMeaning>) {
    let name = words.first().and_then(|word| word.value.known());
    // A name that isn't known may be any builtin's, but a call of that name is a question anyway.
    if !name.is_some_and(is_builtin) || depth > MAX_DEPTH {
        return;
    }
    let meaning = understand(words);
    for effect in &meaning.effects {
        if let EffectKind::Argv { words, .. } = &effect.kind {
            collect_builtins(words, depth + 1, found);
        }
    }
    found.push(meaning);
}
