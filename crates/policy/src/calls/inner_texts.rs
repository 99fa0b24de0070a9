//! What a call runs inside itself: the texts that it has a shell read, when it runs them, and in which folders.

use std::rc::Rc;

use shellgate_syntax::{self as syntax, Invocation, Span, Word};

use super::context::{InnerText, TextContext};
use super::shadowing::Shadowed;
use super::stdin::{Stdin, descriptor_of_path, may_read_input, redirected};
use super::{FoundCalls, MAX_DEPTH, MAX_INNER_BYTES, PendingCall, Problem, When};
use crate::programs::{EffectKind, ProgramKind, Property, has, words};

/// What is said of a shell that reads a script, or another input that isn't in the text.
pub(crate) const UNREAD_COMMANDS: &str = "the commands that it has a shell read can't be known";

impl FoundCalls {
    /// Follows a text that a shell is to run.
    pub(super) fn follow_inner_text(
        &mut self,
        text: &str,
        inner: InnerText,
        index: usize,
        context: &TextContext,
    ) {
        let span = inner.span;
        if context.depth >= MAX_DEPTH {
            return self.too_deep(span);
        }
        // Substitutions in substitutions are read level by level.
        self.inner_bytes += text.len() * (1 + deepest_parens(text) / 2);
        if self.inner_bytes > MAX_INNER_BYTES {
            return self.too_much(span);
        }
        match syntax::read(text) {
            Ok(findings) => {
                let functions = context.functions_around();
                let reads_on = |one: &Invocation| may_read_input(one, &findings, &functions);
                if inner.is_input
                    && text.trim_end().contains('\n')
                    && findings.invocations.iter().any(reads_on)
                {
                    let message =
                        "a command in the text may read the lines behind it, so what runs can't be known";
                    self.add_problem(index, span, message);
                }
                self.follow_inner_findings(findings, text, inner, context);
            }
            Err(error) => {
                let message = format!("in a text that a shell is to run: {error}");
                self.unreadable.push(Problem::new(span, message));
            }
        }
    }

    /// Follows a shell that reads its commands from standard input, a descriptor or a file.
    pub(super) fn follow_shell_input(
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
        self.input.trusted |= !matches!(commands, Stdin::Unknown | Stdin::Fetched);
        match commands {
            Stdin::Empty => {}
            Stdin::Text(text) => {
                self.check_shell(&text, index, span);
                let inner = InnerText { is_input: true, ..self.inner_text(index, span, Stdin::Unknown) };
                self.follow_inner_text(&text, inner, index, context);
            }
            Stdin::Unknown | Stdin::Fetched => self.add_problem(index, span, UNREAD_COMMANDS),
        }
    }

    /// How a text is run that the call at `index` has a shell read.
    pub(super) fn inner_text(&self, index: usize, span: Span, stdin: Stdin) -> InnerText {
        let when = self.calls.get(index).map_or(When::Anytime, |call| call.when).max(self.when_inside(index));
        InnerText { span, stdin, is_input: false, when, folders: self.folders_inside(index) }
    }

    /// When what the call at `index` runs is run, compared with that call: most programs that run others may do so often, or
    /// later, or in the background.
    pub(super) fn when_inside(&self, index: usize) -> When {
        let Some(call) = self.calls.get(index) else { return When::Anytime };
        let at_once = call.meaning.kind == Some(ProgramKind::Shell)
            || call.meaning.entry.is_some_and(|name| has(name, Property::RunsOnce));
        if at_once || call.shadowed != Shadowed::No { When::Once } else { When::Anytime }
    }

    /// The folders that what the call at `index` runs is in.
    pub(super) fn folders_inside(&self, index: usize) -> Rc<[Option<Word>]> {
        let Some(call) = self.calls.get(index) else { return Rc::new([None]) };
        if call.meaning.kind == Some(ProgramKind::Builtin) {
            return Rc::clone(&call.folders);
        }
        let changes = call.meaning.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Directory(to) => Some(to.clone()),
            _ => None,
        });
        let goes_below =
            |word: &Word| word.value.known().is_some_and(|text| words::RUNS_IN_FOUND_FOLDERS.contains(&text));
        let below = call.words.iter().any(goes_below).then_some(None);
        let changes: Vec<Option<Word>> = changes.chain(below).collect();
        if changes.is_empty() {
            return Rc::clone(&call.folders);
        }
        call.folders.iter().cloned().chain(changes).collect()
    }
}

/// How deep parentheses are inside each other, whatever they mean.
fn deepest_parens(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
