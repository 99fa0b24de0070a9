//! Follows calls: from a text to its calls, and from each call to what it runs.

use shellgate_syntax::{
    self as syntax, Construct, Doubt, Findings, Hazard, HazardKind, Invocation, Span, Value, Word,
};

use super::attributes::Declaration;
use super::context::TextContext;
use super::shadowing::{Shadowed, shadowed};
use super::stdin::{Stdin, descriptor_of_path, redirected, stdin_of};
use super::{Call, FoundCalls, MAX_CALLS, MAX_DEPTH, PendingCall, Problem, unknown_value};
use crate::programs::{Effect, EffectKind, variable};

impl FoundCalls {
    /// Follows everything that was found in a text.
    pub(super) fn follow_findings(&mut self, findings: Findings, context: &TextContext) {
        let doubts = findings.doubts.into_iter();
        self.doubts.extend(doubts.map(|doubt| Doubt { span: context.place(doubt.span), ..doubt }));
        self.hazards.extend(findings.hazards.into_iter().map(|hazard| describe_hazard(hazard, context)));
        for arithmetic in findings.arithmetic {
            self.follow_arithmetic(&arithmetic, context);
        }
        for invocation in findings.invocations {
            if self.substitution.is_none() && invocation.constructs.iter().any(is_substitution) {
                self.substitution = Some(context.place(invocation.span));
            }
            self.follow_invocation(invocation, context);
        }
    }

    /// Follows what was found in a text inside another one. `span` is its place in the command.
    pub(super) fn follow_inner_findings(
        &mut self,
        findings: Findings,
        text: &str,
        (span, stdin): (Span, Stdin),
        outer: &TextContext,
    ) {
        let context = TextContext::new(text, Some(span), stdin, outer.depth + 1, &findings);
        self.follow_findings(findings, &context);
    }

    pub(super) fn too_deep(&mut self, span: Span) {
        let message = format!("commands are inside each other more than {MAX_DEPTH} deep");
        self.unreadable.push(Problem::new(span, message));
    }

    pub(super) fn follow_invocation(&mut self, invocation: Invocation, context: &TextContext) {
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
        let stdin = stdin_of(&invocation.redirects, &invocation.input, &context.stdin);
        let text = invocation.span.of(&context.source).to_owned();
        let pending = PendingCall { invocation, text, stdin, in_wrapper: false, more_words: false };
        self.follow_call(pending, context);
    }

    fn follow_call(&mut self, mut pending: PendingCall, context: &TextContext) {
        let invocation = &pending.invocation;
        let span = context.place(invocation.span);
        if context.depth >= MAX_DEPTH {
            return self.too_deep(span);
        }
        if self.calls.len() >= MAX_CALLS {
            self.unreadable.push(Problem::new(span, format!("it has more than {MAX_CALLS} commands")));
            return;
        }
        let mut meaning = self.programs.understand(&invocation.words, pending.more_words);
        meaning.effects.retain(|effect| match &effect.kind {
            EffectKind::MaybeOption(word) => !context.known_values.is_no_option(word),
            _ => true,
        });
        let shadowed = shadowed(&pending, context);
        let effects: Vec<Effect> =
            meaning.effects.iter().filter(|effect| is_followed(effect)).cloned().collect();
        let index = self.calls.len();
        self.calls.push(Call {
            words: std::mem::take(&mut pending.invocation.words),
            text: std::mem::take(&mut pending.text),
            span,
            meaning,
            assignments: std::mem::take(&mut pending.invocation.assignments),
            redirects: pending.invocation.redirects.clone(),
            constructs: pending.invocation.constructs.clone(),
            shadowed,
            problems: Vec::new(),
            in_wrapper: pending.in_wrapper,
            more_words: pending.more_words,
            stdin: pending.stdin.clone(),
        });
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
                let constructs = pending.invocation.constructs.clone();
                let invocation = Invocation { span: effect.span, words, constructs, ..Invocation::default() };
                let stdin = pending.stdin.clone();
                let inner = PendingCall { invocation, text, stdin, in_wrapper: true, more_words };
                self.follow_call(inner, &context.deeper());
            }
            EffectKind::Shell(word) => match &word.value {
                Value::Known(text) => {
                    self.check_shell(text, index, span);
                    self.follow_inner_text(text, span, pending.stdin.clone(), context);
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
            EffectKind::OpaqueInput(language) if !matches!(pending.stdin, Stdin::Empty) => {
                if let Some(call) = self.calls.get_mut(index) {
                    let message = format!("it runs {language} code from its standard input");
                    call.problems.push(Problem { span, message, is_code: true });
                }
            }
            _ => {}
        }
    }

    /// Follows a text that a shell is to run.
    fn follow_inner_text(&mut self, text: &str, span: Span, stdin: Stdin, context: &TextContext) {
        if context.depth >= MAX_DEPTH {
            return self.too_deep(span);
        }
        match syntax::read(text) {
            Ok(findings) => self.follow_inner_findings(findings, text, (span, stdin), context),
            Err(error) => {
                let message = format!("in a text that a shell is to run: {error}");
                self.unreadable.push(Problem::new(span, message));
            }
        }
    }

    /// Follows a shell that reads its commands from standard input, a descriptor or a file.
    fn follow_shell_input(
        &mut self,
        file: Option<&Word>,
        (index, span): (usize, Span),
        pending: &PendingCall,
        context: &TextContext,
    ) {
        let commands = match file.map(|word| word.value.known()) {
            None => pending.stdin.clone(),
            Some(Some(path)) => match descriptor_of_path(path) {
                Some(0) => pending.stdin.clone(),
                Some(number) => redirected(&pending.invocation.redirects, number).unwrap_or(Stdin::Unknown),
                None => Stdin::Unknown,
            },
            Some(None) => Stdin::Unknown,
        };
        match commands {
            Stdin::Empty => {}
            Stdin::Text(text) => {
                self.check_shell(&text, index, span);
                self.follow_inner_text(&text, span, Stdin::Unknown, context);
            }
            Stdin::Unknown => {
                self.add_problem(index, span, "the commands that it has a shell read can't be known")
            }
        }
    }

    /// Adds a problem to the call at `index`.
    fn add_problem(&mut self, index: usize, span: Span, message: &str) {
        if let Some(call) = self.calls.get_mut(index) {
            call.problems.push(Problem::new(span, message));
        }
    }
}

fn is_substitution(construct: &Construct) -> bool {
    matches!(construct, Construct::Substitution | Construct::Process)
}

fn describe_hazard(hazard: Hazard, context: &TextContext) -> Problem {
    let message = match hazard.kind {
        HazardKind::PromptExpansion => "`@P` expands a value like a prompt, with the commands in it",
        HazardKind::Indirection => "`${!…}` expands what a value names, and that can run commands",
        HazardKind::ExtendedGlob => "it reads differently with extended patterns (`extglob`)",
        HazardKind::Transformation => "it transforms a value in a way that isn't plain",
    };
    Problem::new(context.place(hazard.span), message)
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
