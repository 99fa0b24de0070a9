//! What is known of a text as a whole, before its calls are followed: its variables, functions and standard input.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use shellgate_syntax::{
    Assigned, Assignment, Construct, Findings, Function, Span, Unknown, Value, Why, Word,
};

use super::attributes::Attributes;
use super::forwarders::forwarders;
use super::known_values::KnownValues;
use super::numbers::Numbers;
use super::shadowing::may_unset_functions;
use super::stdin::inherited_in;
use super::{ANY_VARIABLE, MAX_DEPTH, Origin, Stdin, When, unknown_value};
use crate::programs::{CallMeaning, EffectKind, is_builtin, understand, words};

/// A text that calls are found in.
#[derive(Clone)]
pub(super) struct TextContext {
    pub(super) source: Rc<str>,
    /// Where the whole text is in the command. `None`: it is the command.
    place: Option<Span>,
    pub(super) stdin: Stdin,
    pub(super) depth: usize,
    /// The functions that the text defines, by name.
    pub(super) functions: Rc<HashMap<String, Vec<Function>>>,
    /// The functions that the texts around it define. It may run among them: `export -f`.
    pub(super) outer_functions: Rc<HashSet<String>>,
    /// Those and its own, once a text inside it has asked.
    all_functions: Rc<OnceCell<Rc<HashSet<String>>>>,
    /// What each variable is set to, wherever in the text.
    pub(super) values: Rc<HashMap<String, Vec<Assigned>>>,
    /// Once it was asked: see [`Self::may_hold_code`].
    holds_code: Rc<OnceCell<bool>>,
    pub(super) known_values: Rc<KnownValues>,
    pub(super) numbers: Rc<Numbers>,
    /// Functions that run their arguments as a command, all of whose calls are in this text.
    pub(super) forwarders: Rc<HashSet<String>>,
    pub(super) attributes: Rc<Attributes>,
    /// Whether functions may be removed again.
    pub(super) unsets_functions: bool,
    /// Whether the shell stays in the folder that it starts in.
    pub(super) keeps_folder: bool,
    /// When the text runs.
    pub(super) when: When,
    /// The folders that programs around it change to, one from the other. `None`: an unknown one.
    pub(super) folders: Rc<[Option<Word>]>,
    /// How its calls were found.
    pub(super) origin: Origin,
    /// How many suppositions it is in.
    pub(super) supposed_depth: usize,
    /// The constructs around a supposed text.
    pub(super) around: Arc<[Construct]>,
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

/// What is around a text.
struct Surroundings {
    place: Option<Span>,
    depth: usize,
    functions: Rc<HashSet<String>>,
}

impl TextContext {
    /// The text of the command itself.
    pub(super) fn of_command(source: &str, stdin: Stdin, findings: &Findings) -> Self {
        Self::new(source, stdin, findings, Surroundings { place: None, depth: 0, functions: Rc::default() })
    }

    fn new(source: &str, stdin: Stdin, findings: &Findings, around: Surroundings) -> Self {
        let Surroundings { place, depth, functions: outer_functions } = around;
        let mut values: HashMap<String, Vec<Assigned>> = HashMap::new();
        let mut builtins: Vec<CallMeaning> = Vec::new();
        for invocation in &findings.invocations {
            collect_builtins(&invocation.words, 0, &mut builtins);
        }
        let is_plain = builtins.iter().all(is_plain_builtin);
        let numbers = Numbers::find(findings, is_plain);
        for assignment in findings.invocations.iter().flat_map(|invocation| &invocation.assignments) {
            let value =
                if is_number(assignment, source, &numbers) { number() } else { assignment.value.clone() };
            values.entry(assignment.name.clone()).or_default().push(value);
        }
        let forwarders = if place.is_none() { forwarders(findings, source) } else { HashSet::new() };
        let unsets_functions = builtins.iter().any(may_unset_functions);
        let known_values =
            if is_plain { KnownValues::find(source, findings, &builtins) } else { KnownValues::default() };
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
            stdin: inherited_in(findings, &outer_functions, stdin),
            depth,
            outer_functions,
            all_functions: Rc::default(),
            functions: functions_by_name(findings).into(),
            values: values.into(),
            holds_code: Rc::default(),
            known_values: known_values.into(),
            numbers: numbers.into(),
            forwarders: forwarders.into(),
            attributes: Attributes::find(findings).into(),
            unsets_functions,
            keeps_folder: keeps_folder(source),
            when: When::Once,
            folders: Rc::new([]),
            origin: Origin::Written,
            supposed_depth: 0,
            around: Arc::new([]),
        }
    }

    /// A text inside this one.
    pub(super) fn inner(&self, source: &str, inner: InnerText, findings: &Findings) -> Self {
        let around = Surroundings {
            place: Some(inner.span),
            depth: self.depth + 1,
            functions: self.functions_around(),
        };
        Self {
            when: self.when.max(inner.when),
            folders: inner.folders,
            origin: if self.origin == Origin::Written { Origin::Written } else { Origin::Supposed },
            supposed_depth: self.supposed_depth,
            around: Arc::clone(&self.around),
            ..Self::new(source, inner.stdin, findings, around)
        }
    }

    /// Whether a variable of this text may have a value that runs something when it is evaluated.
    pub(super) fn may_hold_code(&self) -> bool {
        *self.holds_code.get_or_init(|| {
            // How code is written, or hidden, in the elements of a list.
            let has_signs = ["$(", "`", "$'", "\\"].iter().any(|sign| self.source.contains(sign));
            let may_be_code = |value: &Value| match value {
                Value::Known(text) => text.contains('['),
                Value::Unknown(Unknown { why: Why::Array, .. }) => has_signs,
                Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail: Some(tail), .. }) => {
                    !(lead.is_empty() && tail.is_empty() && words::INTEGER_VARIABLES.contains(&name.as_str()))
                }
                Value::Unknown(unknown) => unknown.why != Why::Arithmetic,
            };
            let values = self.values.values().flatten();
            values.into_iter().any(|assigned| match assigned {
                Assigned::Scalar(value) => may_be_code(value),
                Assigned::Array(values) | Assigned::ByShell(values) => values.iter().any(may_be_code),
            })
        })
    }

    /// The functions that a text inside this one may run among.
    pub(super) fn functions_around(&self) -> Rc<HashSet<String>> {
        if self.functions.is_empty() {
            return Rc::clone(&self.outer_functions);
        }
        let all = || Rc::new(self.outer_functions.iter().chain(self.functions.keys()).cloned().collect());
        Rc::clone(self.all_functions.get_or_init(all))
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

/// Whether nothing in a text may change the folder of the shell, or the variable that names it.
fn keeps_folder(source: &str) -> bool {
    let mut names = source.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    let is_read =
        |(at, _): (usize, &str)| source.get(..at).is_some_and(|before| before.ends_with(['$', '{']));
    !names.any(|name| words::FOLDER_CHANGERS.contains(&name))
        && source.match_indices("PWD").all(is_read)
        && !source.contains("{PWD:=")
        && !source.contains("{PWD=")
}

fn functions_by_name(findings: &Findings) -> HashMap<String, Vec<Function>> {
    let mut functions: HashMap<String, Vec<Function>> = HashMap::new();
    for function in &findings.functions {
        functions.entry(function.name.clone()).or_default().push(function.clone());
    }
    functions
}

/// Whether a variable is set to the output of a command that prints a number.
fn is_number(assignment: &Assignment, source: &str, numbers: &Numbers) -> bool {
    let is_substitution =
        matches!(&assignment.value, Assigned::Scalar(Value::Unknown(Unknown { why: Why::Substitution, .. })));
    let written = || assignment.span.of(source).split_once('=');
    is_substitution
        && !assignment.append
        && assignment.subscript.is_none()
        && written().is_some_and(|(name, value)| name == assignment.name && numbers.is_number(value))
}

/// The value of an expression.
fn number() -> Assigned {
    let tail = Some(String::new());
    Assigned::Scalar(Value::Unknown(Unknown {
        lead: String::new(),
        splits: false,
        why: Why::Arithmetic,
        tail,
    }))
}

/// Whether what a text says about its variables and programs holds beside a builtin.
fn is_plain_builtin(meaning: &CallMeaning) -> bool {
    meaning.entry.is_some_and(|name| words::PLAIN_BUILTINS.contains(&name))
}

/// The meanings of the builtins that a call is or runs. Only builtins set variables of this shell.
fn collect_builtins(words: &[Word], depth: usize, found: &mut Vec<CallMeaning>) {
    let name = words.first().and_then(|word| word.value.known());
    // A name that isn't known may be any builtin's, but a call of that name is a question anyway.
    if !name.is_some_and(is_builtin) || depth > MAX_DEPTH {
        return;
    }
    let mut meaning = understand(words);
    // All of them are kept at once, and only the effects are asked for.
    meaning.canonical = Vec::new();
    meaning.effects.shrink_to_fit();
    for effect in &meaning.effects {
        if let EffectKind::Argv { words, .. } = &effect.kind {
            collect_builtins(words, depth + 1, found);
        }
    }
    found.push(meaning);
}
