//! Follows calls: from a text to its calls, and from each call to what it runs.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use shellgate_syntax::{
    Construct, Doubt, Findings, Invocation, RedirectTarget, Span, Unknown, Value, Why, Word,
};

use super::attributes::Declaration;
use super::context::{InnerText, TextContext};
use super::downloads::{Fetched, is_fetched};
use super::forks::forking;
use super::forwarders::{forwarded_words, forwarding_function};
use super::hazards::{describe, moving_word, unfollowed};
use super::resolve::resolve_words;
use super::shadowing::{Shadowed, shadowed};
use super::stdin::{Stdin, replaces_input, stdin_of};
use super::supposed::{Place, suppositions};
use super::{
    Call, Derived, FoundCalls, MAX_CALLS, MAX_DEPTH, MAX_LINKING_WORDS, MAX_WORDS, PendingCall, Problem,
    Surroundings, When, unknown_value,
};
use crate::programs::{Effect, EffectKind, ProgramKind, Property, has, variable};

impl FoundCalls {
    /// Follows everything that was found in a text.
    pub(super) fn follow_findings(&mut self, findings: Findings, context: &TextContext) {
        let mut supposed = suppositions(&findings, context, &self.fuel.0).into_iter().peekable();
        let forking = forking(&findings, &context.source);
        self.defines_functions |= !findings.functions.is_empty();
        self.hazards.extend(findings.hazards.iter().map(|hazard| describe(hazard, context)));
        self.unfollowed.extend(unfollowed(&findings, context));
        let doubts = findings.doubts.into_iter();
        self.doubts.extend(doubts.map(|doubt| Doubt { span: context.place(doubt.span), ..doubt }));
        for arithmetic in findings.arithmetic {
            self.follow_arithmetic(&arithmetic, context);
        }
        let fetched = Fetched::find(&findings.invocations, &context.source);
        for (at, invocation) in findings.invocations.into_iter().enumerate() {
            if self.substitution.is_none() && invocation.constructs.iter().any(is_substitution) {
                self.substitution = Some(context.place(invocation.span));
            }
            let (span, when) = (invocation.span, when_of(&invocation));
            let constructs = Arc::clone(&invocation.constructs);
            let around = Surroundings {
                fetched: fetched.is_input_of(at),
                runs_fetched: fetched.is_run_by(at),
                forks: forking.contains(&at),
            };
            self.follow_invocation(invocation, around, context);
            while let Some((_, one)) = supposed.next_if(|(place, _)| *place == at) {
                let constructs = Arc::clone(&constructs);
                self.follow_supposed(&one, Place { span, when, constructs }, context);
            }
        }
    }

    /// Follows what was found in a text inside another one.
    pub(super) fn follow_inner_findings(
        &mut self,
        findings: Findings,
        text: &str,
        inner: InnerText,
        outer: &TextContext,
    ) {
        self.input.replaced |= findings.invocations.iter().any(replaces_input);
        let context = outer.inner(text, inner, &findings);
        self.follow_findings(findings, &context);
    }

    pub(super) fn too_deep(&mut self, span: Span) {
        let message = format!("commands are inside each other more than {MAX_DEPTH} deep");
        self.unreadable.push(Problem::new(span, message));
    }

    /// Refuses a command that takes too much work.
    pub(super) fn too_much(&mut self, span: Span) {
        // Once is enough to refuse the command.
        if self.unreadable.is_empty() {
            self.unreadable.push(Problem::new(span, "it has too many commands and words to judge"));
        }
    }

    /// Follows one invocation.
    pub(super) fn follow_invocation(
        &mut self,
        invocation: Invocation,
        around: Surroundings,
        context: &TextContext,
    ) {
        for assignment in &invocation.assignments {
            self.follow_assignment(assignment, context);
        }
        if let Some(declaration) = Declaration::of(&invocation.words) {
            let span = context.place(invocation.span);
            self.evaluates_variables |= declaration.makes_integers();
            let emptied = declaration.emptied().filter_map(|name| Some((name, variable(name)?)));
            let emptied = emptied.map(|(name, row)| format!("`{name}` is empty from here on: {}", row.about));
            let hazard = declaration.hazard(&context.attributes).map(str::to_owned);
            self.hazards.extend(emptied.chain(hazard).map(|message| Problem::new(span, message)));
        }
        let stdin = match stdin_of(&invocation.redirects, &invocation.input, &context.stdin) {
            Stdin::Unknown if around.fetched || is_fetched(&invocation.redirects, &context.source) => {
                Stdin::Fetched
            }
            stdin => stdin,
        };
        let text = invocation.span.of(&context.source).to_owned();
        let folders = Rc::clone(&context.folders);
        // What is in its substitutions comes behind it in the list, and runs before it.
        let when = if has_commands_inside(&invocation, &context.source) { When::Beside } else { When::Once };
        let (in_wrapper, more_words) = (false, false);
        let pending = PendingCall { invocation, text, stdin, in_wrapper, more_words, when, folders, around };
        self.follow_call(pending, context);
    }

    fn follow_call(&mut self, mut pending: PendingCall, context: &TextContext) {
        // What `"$@"` of such a function runs is followed where the function is called.
        let function = forwarding_function(&pending.invocation, &context.source);
        if function.is_some_and(|name| context.forwarders.contains(name)) {
            return;
        }
        let invocation_span = pending.invocation.span;
        let span = context.place(invocation_span);
        if context.depth >= MAX_DEPTH {
            return self.too_deep(span);
        }
        self.words += pending.invocation.words.len();
        if self.calls.len() >= MAX_CALLS || self.words > MAX_WORDS {
            return self.too_much(span);
        }
        if context.is_whole_command() {
            resolve_words(&mut pending, context, self.programs.directory());
        }
        let invocation = &pending.invocation;
        let mut meaning = self.programs.understand(&invocation.words, pending.more_words);
        if meaning.entry.is_some_and(|name| has(name, Property::MakesLinks)) {
            self.linking_words += invocation.words.len();
            if self.linking_words > MAX_LINKING_WORDS {
                return self.too_much(span);
            }
        }
        let runs_words = matches!(
            meaning.kind,
            Some(ProgramKind::Wrapper | ProgramKind::Shell | ProgramKind::Interpreter | ProgramKind::Builtin)
        ) || meaning.has_subcommands;
        meaning.effects.retain(|effect| match &effect.kind {
            // A word that may vanish moves the words behind it, which matters where one of them is run.
            EffectKind::MaybeOption(word) => {
                let is_path = is_made_path(word, &self.made_temporary);
                !context.known_values.is_no_option(word) && !is_path || splits(word) && runs_words
            }
            _ => true,
        });
        if let Some(word) = moving_word(invocation, &meaning) {
            let message = "how many words a value becomes decides which word is the program";
            self.unfollowed.push(Problem::new(context.place(word.span), message));
        }
        let shadowed = shadowed(&pending, context);
        let forwarded = forwarded_words(&pending, context);
        let effects: Vec<Effect> =
            meaning.effects.iter().filter(|effect| is_followed(effect)).cloned().collect();
        // All calls are kept until the end, and most have one effect.
        meaning.effects.shrink_to_fit();
        meaning.canonical.shrink_to_fit();
        pending.invocation.words.shrink_to_fit();
        let index = self.calls.len();
        self.calls.push(Call {
            words: std::mem::take(&mut pending.invocation.words),
            text: std::mem::take(&mut pending.text),
            span,
            meaning,
            assignments: std::mem::take(&mut pending.invocation.assignments),
            redirects: pending.invocation.redirects.clone(),
            constructs: match context.around.as_ref() {
                [] => Arc::clone(&pending.invocation.constructs),
                around => around.iter().chain(pending.invocation.constructs.iter()).cloned().collect(),
            },
            shadowed,
            problems: Vec::new(),
            in_wrapper: pending.in_wrapper,
            places: OnceCell::new(),
            derived: Derived::default(),
            more_words: pending.more_words,
            stdin: pending.stdin.clone(),
            when: context.when.max(pending.when).max(when_of(&pending.invocation)),
            folders: Rc::clone(&pending.folders),
            origin: context.origin,
            around: pending.around,
        });
        if let Some(kind) = forwarded {
            self.follow_effect(Effect { span: invocation_span, kind }, index, &pending, context);
        }
        if shadowed == Shadowed::Certainly {
            return;
        }
        for effect in effects {
            self.follow_effect(effect, index, &pending, context);
        }
    }

    /// Follows an effect of the call at `index`.
    fn follow_effect(&mut self, effect: Effect, index: usize, pending: &PendingCall, context: &TextContext) {
        let span = context.place(effect.span);
        match effect.kind {
            EffectKind::Argv { words, more_words } => {
                let text = as_typed(&words, &context.source);
                let constructs = Arc::clone(&pending.invocation.constructs);
                let repeated = pending.invocation.repeated;
                let invocation =
                    Invocation { span: effect.span, words, constructs, repeated, ..Invocation::default() };
                let stdin = pending.stdin.clone();
                let folders = self.folders_inside(index);
                let when = pending.when.max(self.when_inside(index));
                let in_wrapper = true;
                let around = Surroundings::default();
                let inner =
                    PendingCall { invocation, text, stdin, in_wrapper, more_words, when, folders, around };
                self.follow_call(inner, &context.deeper());
            }
            EffectKind::Shell(word) => match &word.value {
                Value::Known(text) => {
                    self.check_shell(text, index, span);
                    let inner = self.inner_text(index, span, pending.stdin.clone());
                    self.follow_inner_text(text, inner, index, context);
                }
                Value::Unknown(_) => {
                    self.add_problem(index, span, "the text that it has a shell run can't be known")
                }
            },
            EffectKind::ShellInput(file) => {
                self.follow_shell_input(file.as_ref(), (index, span), pending, context)
            }
            EffectKind::Arithmetic(word) => match &word.value {
                Value::Known(text) => self.follow_expression_text(text, span, context),
                Value::Unknown(_) => {
                    self.add_problem(index, span, "the expression that it evaluates can't be known")
                }
            },
            EffectKind::Assigns { name, value }
                if name.known().is_some_and(|name| context.attributes.is_integer(name)) =>
            {
                self.follow_integer_value(&value.unwrap_or_else(unknown_value), span, context);
            }
            EffectKind::OpaqueInput(_) if matches!(pending.stdin, Stdin::Empty) => self.input.trusted = true,
            EffectKind::OpaqueInput(language) => {
                if let Some(call) = self.calls.get_mut(index) {
                    let message = format!("it runs {language} code from its standard input");
                    call.problems.push(Problem { span, message, is_code: true });
                }
            }
            _ => {}
        }
    }

    /// Adds a problem to the call at `index`.
    pub(super) fn add_problem(&mut self, index: usize, span: Span, message: &str) {
        if let Some(call) = self.calls.get_mut(index) {
            call.problems.push(Problem::new(span, message));
        }
    }
}

/// Whether a word begins with a path that `mktemp` made, or is nothing: `"$tmp"`, `$tmp/x`.
fn is_made_path(word: &Word, made: &HashMap<String, usize>) -> bool {
    let Value::Unknown(Unknown { why: Why::Parameter(name), lead, tail: Some(tail), .. }) = &word.value
    else {
        return false;
    };
    let is_path = lead.is_empty() && (tail.is_empty() || tail.starts_with('/'));
    is_path && made.get(name).is_some_and(|made| *made <= word.span.start)
}

fn splits(word: &Word) -> bool {
    matches!(&word.value, Value::Unknown(unknown) if unknown.splits)
}

/// Whether a command has commands inside its words, its redirects or its assignments.
fn has_commands_inside(invocation: &Invocation, source: &str) -> bool {
    let bodies = invocation.redirects.iter().filter_map(|redirect| match &redirect.target {
        RedirectTarget::Body(word) => Some(word.span),
        RedirectTarget::Word(_) => None,
    });
    let mut texts = bodies.chain([invocation.span]).map(|span| span.of(source));
    texts.any(|text| ["$(", "`", "<(", ">("].iter().any(|sign| text.contains(sign)))
}

/// When an invocation of a text runs.
fn when_of(invocation: &Invocation) -> When {
    let of_construct = |construct: &Construct| match construct {
        Construct::Function(_) => When::Anytime,
        Construct::Background | Construct::Coprocess | Construct::Process => When::Beside,
        // A pipeline has ended when what is behind it begins.
        Construct::Pipeline
        | Construct::Subshell
        | Construct::Group
        | Construct::Substitution
        | Construct::Conditional => When::Once,
    };
    let of_loop = if invocation.repeated { When::Anytime } else { When::Once };
    invocation.constructs.iter().map(of_construct).fold(of_loop, When::max)
}

fn is_substitution(construct: &Construct) -> bool {
    matches!(construct, Construct::Substitution | Construct::Process)
}

/// Whether an effect leads to further calls or evaluations. The judge looks at the others by itself.
fn is_followed(effect: &Effect) -> bool {
    matches!(
        effect.kind,
        EffectKind::Argv { .. }
            | EffectKind::Shell(_)
            | EffectKind::ShellInput(_)
            | EffectKind::Arithmetic(_)
            | EffectKind::Assigns { .. }
            | EffectKind::OpaqueInput(_)
    )
}

/// The words as a person would type them: as they are written in `source`, where they are.
fn as_typed(words: &[Word], source: &str) -> String {
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
