//! From what stands in a text to everything that it can start: through wrappers, shells and builtins, to any depth.
//!
//! Nothing is decided here. A call that runs another one is followed by it in the list; what can't be followed is a note
//! on the call, and the judge decides what that means.

mod arithmetic;
mod attributes;
mod choices;
mod feed;
mod readers;
mod shadow;

use std::collections::HashMap;
use std::rc::Rc;

use shellgate_syntax::{
    self as syntax, Assigned, Assignment, Doubt, Findings, Function, Hazard, HazardKind, Invocation, Place,
    Redirect, Span, Unknown, Unreadable, Value, Why, Word,
};

use attributes::{Attributes, Declaration};
use choices::Choices;
pub(crate) use feed::Feed;
use feed::{descriptor, feed, redirected};
pub(crate) use shadow::Shadowed;
use shadow::{shadowed, unsets};

use crate::matching::Candidate;
use crate::programs::{Effect, Understood, What, is_builtin, understand, understand_with_more, variable};
use crate::world::World;

/// How deep texts and wrappers may be inside each other.
const DEEPEST: usize = 40;
/// How many calls one command may have.
const MOST_CALLS: usize = 100_000;

/// Stands for the name of a variable that can't be known.
const ANY: &str = "";

/// One program call, or assignments and redirects without one.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) words: Vec<Word>,
    /// Its own text.
    pub(crate) text: String,
    /// Where it is in the command; a call inside a quoted text is where that text is.
    pub(crate) span: Span,
    pub(crate) understood: Understood,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) places: Vec<Place>,
    /// Whether a function of this name is what runs.
    pub(crate) shadowed: Shadowed,
    pub(crate) notes: Vec<Note>,
    /// Whether a wrapper runs it, so that redirects and assignments were judged there.
    pub(crate) inner: bool,
    /// Whether words are added when it runs.
    pub(crate) more: bool,
}

impl Call {
    pub(crate) fn candidate<'a>(&'a self, world: &'a World) -> Candidate<'a> {
        Candidate { words: &self.words, understood: &self.understood, world, more: self.more }
    }
}

/// Something that could not be followed.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) span: Span,
    pub(crate) message: String,
    /// Whether it is code in the program's own language.
    pub(crate) code: bool,
}

impl Note {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), code: false }
    }
}

/// Everything that a command can start.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    pub(crate) calls: Vec<Call>,
    pub(crate) doubts: Vec<Doubt>,
    /// What can run text that is nowhere in the tree.
    pub(crate) hazards: Vec<Note>,
    /// A text inside that bash would not read, or that is too much.
    pub(crate) unreadable: Vec<Note>,
    /// Where the first substitution is, if there is one.
    pub(crate) substitution: Option<Span>,
    /// Whether a builtin runs a text in this shell, whose variables are then those of the texts around.
    shared: bool,
    /// Whether values are evaluated somewhere.
    evaluates: bool,
    /// How many were looked at.
    evaluated: usize,
}

/// A call that was met on the way.
struct Met {
    invocation: Invocation,
    text: String,
    feed: Feed,
    /// Whether a wrapper runs it.
    inner: bool,
    /// Whether words are added when it runs.
    more: bool,
}

/// The text that calls are found in.
#[derive(Clone)]
struct Scope {
    source: Rc<str>,
    /// Where the whole of it stands in the command. `None`: it is the command.
    at: Option<Span>,
    stdin: Feed,
    depth: usize,
    functions: Rc<[Function]>,
    values: Rc<HashMap<String, Vec<Assigned>>>,
    choices: Rc<Choices>,
    attributes: Rc<Attributes>,
    /// Whether functions may be taken away again.
    unsets: bool,
}

impl Scope {
    fn place(&self, span: Span) -> Span {
        self.at.unwrap_or(span)
    }
}

/// Follows a shell's text.
pub(crate) fn text(source: &str, stdin: Feed) -> Result<Reached, Unreadable> {
    let mut reached = Reached::default();
    let findings = syntax::read(source)?;
    let scope = scope(source, None, stdin, 0, &findings);
    reached.findings(findings, &scope);
    if reached.shared && reached.evaluates {
        let message = "a text that is run here may set what is evaluated as an expression elsewhere";
        reached.hazards.push(Note::new(Span::new(0, source.len()), message));
    }
    Ok(reached)
}

/// Follows a program and its arguments, without a shell.
pub(crate) fn argv(argv: &[String], shown: &str, stdin: Feed) -> Reached {
    let mut reached = Reached::default();
    let words =
        argv.iter().map(|word| Word { span: Span::new(0, shown.len()), value: Value::Known(word.clone()) });
    let invocation =
        Invocation { words: words.collect(), span: Span::new(0, shown.len()), ..Invocation::default() };
    let scope = scope(shown, None, stdin, 0, &Findings::default());
    reached.invocation(invocation, &scope);
    reached
}

fn scope(source: &str, at: Option<Span>, stdin: Feed, depth: usize, findings: &Findings) -> Scope {
    let mut values: HashMap<String, Vec<Assigned>> = HashMap::new();
    for assignment in findings.invocations.iter().flat_map(|invocation| &invocation.assignments) {
        values.entry(assignment.name.clone()).or_default().push(assignment.value.clone());
    }
    // Only expressions and unknown words care about what builtins set.
    let unknown = |word: &Word| matches!(&word.value, Value::Unknown(Unknown { why: Why::Parameter(_), .. }));
    let follows = findings.invocations.iter().any(|invocation| invocation.words.iter().any(unknown));
    let mut choices = Choices::default();
    if follows || !findings.arithmetic.is_empty() {
        let mut understood: Vec<Understood> = Vec::new();
        for invocation in &findings.invocations {
            builtins(&invocation.words, 0, &mut understood);
        }
        choices = Choices::find(findings, &understood);
        for effect in understood.into_iter().flat_map(|understood| understood.effects) {
            if let What::Assigns { name, value } = effect.what {
                let name = name.known().unwrap_or(ANY).to_owned();
                values.entry(name).or_default().push(Assigned::Scalar(value.unwrap_or_else(anything)));
            }
        }
    }
    Scope {
        source: source.into(),
        at,
        stdin,
        depth,
        functions: findings.functions.clone().into(),
        values: values.into(),
        choices: choices.into(),
        attributes: Attributes::find(findings).into(),
        unsets: findings.invocations.iter().any(unsets),
    }
}

impl Reached {
    fn findings(&mut self, findings: Findings, scope: &Scope) {
        let doubts = findings.doubts.into_iter();
        self.doubts.extend(doubts.map(|doubt| Doubt { span: scope.place(doubt.span), ..doubt }));
        self.hazards.extend(findings.hazards.into_iter().map(|hazard| hazard_note(hazard, scope)));
        for arithmetic in findings.arithmetic {
            self.arithmetic(&arithmetic, scope);
        }
        for invocation in findings.invocations {
            if self.substitution.is_none() && invocation.places.iter().any(is_substitution) {
                self.substitution = Some(scope.place(invocation.span));
            }
            self.invocation(invocation, scope);
        }
    }

    fn inner(&mut self, findings: Findings, text: &str, (span, stdin): (Span, Feed), outer: &Scope) {
        let scope = scope(text, Some(span), stdin, outer.depth + 1, &findings);
        self.findings(findings, &scope);
    }

    fn too_deep(&mut self, span: Span) {
        let message = format!("commands are inside each other more than {DEEPEST} deep");
        self.unreadable.push(Note::new(span, message));
    }

    fn invocation(&mut self, invocation: Invocation, scope: &Scope) {
        let at = invocation.span;
        for assignment in &invocation.assignments {
            self.integer(assignment, scope);
        }
        if let Some(declaration) = Declaration::of(&invocation.words) {
            let span = scope.place(at);
            self.evaluates |= declaration.makes_integers();
            let emptied = declaration.emptied().filter_map(|name| Some((name, variable(name)?)));
            let emptied = emptied.map(|(name, row)| format!("`{name}` is empty from here on: {}", row.about));
            let trouble = declaration.trouble(&scope.attributes).map(str::to_owned);
            self.hazards.extend(emptied.chain(trouble).map(|message| Note::new(span, message)));
        }
        let feed = feed(&invocation.redirects, &invocation.input, &scope.stdin);
        let own = invocation.span.of(&scope.source).to_owned();
        self.call(Met { invocation, text: own, feed, inner: false, more: false }, scope);
    }

    fn call(&mut self, mut met: Met, scope: &Scope) {
        let invocation = &met.invocation;
        let span = scope.place(invocation.span);
        if scope.depth >= DEEPEST {
            return self.too_deep(span);
        }
        if self.calls.len() >= MOST_CALLS {
            self.unreadable.push(Note::new(span, format!("it has more than {MOST_CALLS} commands")));
            return;
        }
        let understood =
            if met.more { understand_with_more(&invocation.words) } else { understand(&invocation.words) };
        let shadowed = shadowed(&met, scope);
        let at = self.calls.len();
        let mut understood = understood;
        understood.effects.retain(|effect| match &effect.what {
            What::MaybeOption(word) => !scope.choices.is_no_option(word),
            _ => true,
        });
        let effects: Vec<Effect> =
            understood.effects.iter().filter(|effect| leads_on(effect)).cloned().collect();
        self.calls.push(Call {
            words: std::mem::take(&mut met.invocation.words),
            text: std::mem::take(&mut met.text),
            span,
            understood,
            assignments: std::mem::take(&mut met.invocation.assignments),
            redirects: met.invocation.redirects.clone(),
            places: met.invocation.places.clone(),
            shadowed,
            notes: Vec::new(),
            inner: met.inner,
            more: met.more,
        });
        if shadowed == Shadowed::Certainly {
            return;
        }
        for effect in effects {
            self.effect(effect, at, &met, scope);
        }
    }

    fn effect(&mut self, effect: Effect, at: usize, met: &Met, scope: &Scope) {
        let span = scope.place(effect.span);
        match effect.what {
            What::Argv { words, more } => {
                let text = shown(&words, &scope.source);
                let places = met.invocation.places.clone();
                let invocation = Invocation { span: effect.span, words, places, ..Invocation::default() };
                let scope = Scope { depth: scope.depth + 1, ..scope.clone() };
                self.call(Met { invocation, text, feed: met.feed.clone(), inner: true, more }, &scope);
            }
            What::Shell(word) => match &word.value {
                Value::Known(text) => {
                    self.reader(text, at, span);
                    self.inner_text(text, span, met.feed.clone(), scope);
                }
                Value::Unknown(_) => self.note(at, span, "the text that it has a shell run can't be known"),
            },
            What::ShellInput(file) => self.shell_input(file.as_ref(), (at, span), met, scope),
            What::Arithmetic(word) => match &word.value {
                Value::Known(text) => self.inner_arithmetic(text, span, scope),
                Value::Unknown(_) => self.note(at, span, "the expression that it evaluates can't be known"),
            },
            What::Assigns { name, value }
                if name.known().is_some_and(|name| scope.attributes.is_integer(name)) =>
            {
                self.integer_value(&value.unwrap_or_else(anything), span, scope);
            }
            What::OpaqueInput(language) if !matches!(met.feed, Feed::Nothing) => {
                if let Some(call) = self.calls.get_mut(at) {
                    let message = format!("it runs {language} code from its standard input");
                    call.notes.push(Note { span, message, code: true });
                }
            }
            _ => {}
        }
    }

    fn inner_text(&mut self, text: &str, span: Span, stdin: Feed, scope: &Scope) {
        if scope.depth >= DEEPEST {
            return self.too_deep(span);
        }
        match syntax::read(text) {
            Ok(findings) => self.inner(findings, text, (span, stdin), scope),
            Err(error) => {
                self.unreadable.push(Note::new(span, format!("in a text that a shell is to run: {error}")));
            }
        }
    }

    /// A shell that reads its commands from standard input, a descriptor or a file.
    fn shell_input(&mut self, file: Option<&Word>, (at, span): (usize, Span), met: &Met, scope: &Scope) {
        let source = match file.map(|word| word.value.known()) {
            None => met.feed.clone(),
            Some(Some(path)) => match descriptor(path) {
                Some(0) => met.feed.clone(),
                Some(number) => redirected(&met.invocation.redirects, number).unwrap_or(Feed::Unknown),
                None => Feed::Unknown,
            },
            Some(None) => Feed::Unknown,
        };
        match source {
            Feed::Nothing => {}
            Feed::Text(text) => {
                self.reader(&text, at, span);
                self.inner_text(&text, span, Feed::Unknown, scope);
            }
            Feed::Unknown => self.note(at, span, "the commands that it has a shell read can't be known"),
        }
    }

    fn note(&mut self, at: usize, span: Span, message: &str) {
        if let Some(call) = self.calls.get_mut(at) {
            call.notes.push(Note::new(span, message));
        }
    }
}

pub(crate) fn anything() -> Value {
    Value::Unknown(Unknown {
        lead: String::new(),
        splits: true,
        why: Why::Parameter(ANY.to_owned()),
        tail: None,
    })
}

fn is_substitution(place: &Place) -> bool {
    matches!(place, Place::Substitution | Place::Process)
}

fn hazard_note(hazard: Hazard, scope: &Scope) -> Note {
    let message = match hazard.kind {
        HazardKind::PromptExpansion => "`@P` expands a value like a prompt, with the commands in it",
        HazardKind::Indirection => "`${!…}` expands what a value names, and that can run commands",
        HazardKind::ExtendedGlob => "it reads differently with extended patterns (`extglob`)",
        HazardKind::Transformation => "it transforms a value in a way that isn't plain",
    };
    Note::new(scope.place(hazard.span), message)
}

/// What the builtins do that a call is or runs: they alone set variables of this shell.
fn builtins(words: &[Word], depth: usize, found: &mut Vec<Understood>) {
    let name = words.first().and_then(|word| word.value.known());
    // A name that isn't known may be any builtin's, but then nothing is certain anyway.
    if !name.is_some_and(is_builtin) || depth > DEEPEST {
        return;
    }
    let understood = understand(words);
    for effect in &understood.effects {
        if let What::Argv { words, .. } = &effect.what {
            builtins(words, depth + 1, found);
        }
    }
    found.push(understood);
}

/// Whether something must be done about an effect here.
fn leads_on(effect: &Effect) -> bool {
    matches!(
        effect.what,
        What::Argv { .. }
            | What::Shell(_)
            | What::ShellInput(_)
            | What::Arithmetic(_)
            | What::Assigns { .. }
            | What::OpaqueInput(_)
    )
}

/// The words as a person would type them: as they stand, where they stand.
fn shown(words: &[Word], source: &str) -> String {
    let mut all: Vec<&str> = Vec::new();
    let mut last = Span::default();
    for word in words {
        if word.span != last {
            all.push(match &word.value {
                Value::Known(text) if !source.contains(word.span.of(source)) => text,
                _ => word.span.of(source),
            });
        }
        last = word.span;
    }
    all.join(" ")
}
