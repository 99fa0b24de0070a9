//! Turns the tree into [`Findings`]: every command in it, every assignment, every expression that bash evaluates.
//!
//! A [`Walker`] goes through the tree and knows the constructs around it and where standard input comes from. No node is
//! passed over: each kind is named in a `match` without a default.

mod arithmetic;
mod assignments;
mod braces;
mod commands;
mod pieces;
mod redirects;
mod value;

use std::cell::Cell;
use std::sync::Arc;

use crate::parse::{Reading, Warnings};
use crate::tree::Text;
use crate::{Assignment, Construct, Doubt, Findings, Input, Span};

/// How many commands a text may have.
const MAX_COMMANDS: usize = 20_000;

/// How many constructs may be around the commands of a text in all: each command that is deeper than the one before keeps its
/// own list, and so does each stage of a pipeline of the commands in the stage before.
const MAX_SURROUNDINGS: usize = 500_000;

/// Walks through a tree and collects findings.
pub(crate) struct Walker<'a> {
    /// The text that was read.
    text: &'a str,
    findings: Findings,
    /// The constructs around the current command, from the outside in.
    constructs: Arc<[Construct]>,
    /// Whether the current command is in a loop.
    repeated: bool,
    /// The standard input of the current command.
    input: Input,
    /// Variables that expansions of the current command set.
    set: Vec<Assignment>,
    /// How much the brace expansions may still have. `None`: they had too much, or there are too many commands.
    budget: Cell<Option<usize>>,
    /// See [`MAX_SURROUNDINGS`].
    surroundings: usize,
}

/// Lists what was read from `text`. `None`: it has too many words or commands.
pub(crate) fn findings(text: &str, reading: &Reading) -> Option<Findings> {
    let mut walker = Walker::new(text);
    walker.list(&reading.script.list);
    walker.budget.get()?;
    Some(walker.finish(&reading.warnings))
}

/// Lists what is in an arithmetic expression. `None`: it has too many words or commands.
pub(crate) fn expression(text: &str, expression: &Text, warnings: &Warnings) -> Option<Findings> {
    let mut walker = Walker::new(text);
    walker.arithmetic(expression);
    walker.budget.get()?;
    Some(walker.finish(warnings))
}

impl<'a> Walker<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            findings: Findings::default(),
            constructs: Arc::new([]),
            repeated: false,
            input: Input::Inherited,
            set: Vec::new(),
            budget: Cell::new(Some(braces::MAX_EXPANDED_ATOMS)),
            surroundings: 0,
        }
    }

    fn finish(mut self, warnings: &Warnings) -> Findings {
        self.findings.doubts.extend(warnings.doubts.iter().cloned());
        self.findings.hazards.extend(warnings.hazards.iter().cloned());
        self.findings.hazards.sort_by_key(|hazard| hazard.span);
        self.findings.hazards.dedup();
        self.findings.doubts.dedup();
        self.findings
    }

    fn doubt(&mut self, span: Span, message: &str) {
        self.findings.doubts.push(Doubt { span, message: message.into() });
    }

    /// Walks something inside `construct`.
    fn inside(&mut self, construct: Construct, walk: impl FnOnce(&mut Self)) {
        if !self.afford(self.constructs.len() + 1) {
            return;
        }
        let inner = self.constructs.iter().cloned().chain([construct]).collect();
        let outer = std::mem::replace(&mut self.constructs, inner);
        walk(self);
        self.constructs = outer;
    }

    /// Counts surroundings that are kept. Behind too many nothing is walked, and the text is refused as a whole.
    fn afford(&mut self, count: usize) -> bool {
        self.surroundings += count;
        if self.surroundings > MAX_SURROUNDINGS {
            self.budget.set(None);
        }
        self.budget.get().is_some()
    }

    /// Walks something whose standard input is `input`.
    fn with_input(&mut self, input: Input, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.input, input);
        walk(self);
        self.input = outer;
    }
}
