//! Commands that a text comes to run though they stand nowhere in it as commands: `echo 'rm -rf ~' | sh`,
//! `x='rm -rf ~'; eval "$x"`, `echo ~ | xargs rm -rf`, `rm -rf $(pwd)`.
//!
//! What the text itself says about its values, outputs and files is put in where it is used ([`values`], [`printed`],
//! [`found_files`]), and the result is written as a text for a shell again, which is read and followed like any other
//! ([`respelled`], [`code_texts`], [`runners`]). This only adds calls: what isn't known stays unknown, and what can't be put
//! together or read is left out. Work is bounded by [`FUEL`]; where that is spent, a person is asked.

mod changes;
mod code_deeds;
mod code_texts;
mod code_values;
mod composed;
mod copied_programs;
mod decoded;
mod find_expression;
mod found_files;
mod git_aliases;
mod git_content;
mod given;
mod globs;
mod inner_code;
mod item_lists;
mod listings;
mod printed;
mod respelled;
mod runners;
mod shell_inputs;
mod shell_texts;
mod spelling;
mod values;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use shellgate_syntax::{self as syntax, Construct, Findings, Span};

pub(crate) use code_deeds::runs_its_input;
pub(crate) use runners::behind_runner;
pub(super) use values::{function_of, plain_path};

use super::context::{InnerText, TextContext};
use super::{FoundCalls, MAX_DEPTH, Problem, Stdin, When};
use respelled::Supposition;
use spelling::quoted_word;
use values::KnownText;

/// How many steps may be done for the suppositions about one command.
pub(super) const FUEL: usize = 5_000;

/// How many suppositions may be inside each other.
const MAX_SUPPOSED_DEPTH: usize = 5;

/// A longer text isn't read.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// How a call was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is in the text, or in a text inside it.
    #[default]
    Written,
    /// It is a call of the text with what its words may be. Only ruin counts: the call itself is judged by what is written.
    Respelled,
    /// It is in a text that a shell may come to read. It is judged like any other.
    Supposed,
}

/// The suppositions about each invocation of a text, by its place.
pub(super) fn suppositions(
    findings: &Findings,
    context: &TextContext,
    fuel: &Cell<usize>,
) -> Vec<(usize, Supposition)> {
    if context.supposed_depth >= MAX_SUPPOSED_DEPTH || fuel.get() == 0 {
        return Vec::new();
    }
    let text = KnownText::new(findings, &context.source, fuel);
    (0..findings.invocations.len())
        .flat_map(|at| text.suppositions(at).into_iter().map(move |one| (at, one)))
        .collect()
}

/// Where a supposition was made.
pub(super) struct Place {
    pub(super) span: Span,
    pub(super) when: When,
    pub(super) constructs: Arc<[Construct]>,
}

impl FoundCalls {
    /// Follows a supposed text. What can't be read of it is left out, and only its calls are kept.
    pub(super) fn follow_supposed(&mut self, one: &Supposition, place: Place, context: &TextContext) {
        let steps = 1 + one.text.len() / 16;
        let Some(left) = self.fuel.0.get().checked_sub(steps) else {
            self.fuel.0.set(0);
            return;
        };
        self.fuel.0.set(left);
        if context.depth >= MAX_DEPTH || one.text.len() > MAX_TEXT_BYTES {
            return;
        }
        let Ok(findings) = syntax::read_alone(&one.text) else { return };
        let kept = (self.hazards.len(), self.unfollowed.len(), self.doubts.len(), self.unreadable.len());
        let flags =
            (self.substitution, self.defines_functions, self.shares_variables, self.evaluates_variables);
        let input = std::mem::take(&mut self.input);
        let inner = InnerText {
            span: context.place(place.span),
            stdin: Stdin::Unknown,
            is_input: false,
            when: place.when,
            folders: Rc::clone(&context.folders),
        };
        let mut inner = context.inner(&one.text, inner, &findings);
        inner.origin = one.origin;
        inner.supposed_depth = context.supposed_depth + 1;
        inner.around = context.around.iter().chain(place.constructs.iter()).cloned().collect();
        self.follow_findings(findings, &inner);
        self.hazards.truncate(kept.0);
        self.unfollowed.truncate(kept.1);
        self.doubts.truncate(kept.2);
        self.unreadable.truncate(kept.3);
        (self.substitution, self.defines_functions, self.shares_variables, self.evaluates_variables) = flags;
        self.input = input;
    }

    /// Supposes what a program and its arguments may come to run: as if they were typed.
    pub(super) fn suppose_for_argv(&mut self, argv: &[String], span: Span, context: &TextContext) {
        let typed = argv.iter().map(|word| quoted_word(word)).collect::<Vec<_>>().join(" ");
        let Ok(findings) = syntax::read_alone(&typed) else { return };
        let as_text = TextContext::of_command(&typed, Stdin::Unknown, &findings);
        for (_, one) in suppositions(&findings, &as_text, &self.fuel.0) {
            let place = Place { span, when: When::Once, constructs: Arc::new([]) };
            self.follow_supposed(&one, place, context);
        }
        self.note_spent_fuel(span);
    }

    /// Asks where there was too much to suppose.
    pub(super) fn note_spent_fuel(&mut self, whole: Span) {
        if self.fuel.0.get() == 0 {
            let message = "it puts more commands together from parts than can be followed";
            self.hazards.push(Problem::new(whole, message));
        }
    }
}
