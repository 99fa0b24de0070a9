//! From the tree to [`Findings`]: every command in it, every assignment, every place where bash evaluates text.
//!
//! The walk ends nowhere in silence: each kind of node is named in a `match` without a default.

mod arithmetic;
mod assignments;
mod braces;
mod commands;
mod pieces;
mod redirects;
mod value;

use crate::parse::{Notes, Reading};
use crate::tree::Text;
use crate::{Assignment, Doubt, Findings, Input, Place, Span};

/// What is known on the way down.
pub(crate) struct Walker<'a> {
    /// The text that was read.
    text: &'a str,
    findings: Findings,
    places: Vec<Place>,
    input: Input,
    /// Variables that expansions of the command at hand set.
    set: Vec<Assignment>,
}

/// Lists what was read from `text`.
pub(crate) fn findings(text: &str, reading: &Reading) -> Findings {
    let mut walker = Walker::new(text);
    walker.list(&reading.script.list);
    walker.finish(&reading.notes)
}

/// Lists what is in an arithmetic expression.
pub(crate) fn expression(text: &str, expression: &Text, notes: &Notes) -> Findings {
    let mut walker = Walker::new(text);
    walker.arithmetic(expression);
    walker.finish(notes)
}

impl<'a> Walker<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            findings: Findings::default(),
            places: Vec::new(),
            input: Input::Inherited,
            set: Vec::new(),
        }
    }

    fn finish(mut self, notes: &Notes) -> Findings {
        self.findings.doubts.extend(notes.doubts.iter().cloned());
        self.findings.hazards.extend(notes.hazards.iter().cloned());
        self.findings.hazards.sort_by_key(|hazard| hazard.span);
        self.findings.hazards.dedup();
        self.findings.doubts.dedup();
        self.findings
    }

    fn doubt(&mut self, span: Span, message: &str) {
        self.findings.doubts.push(Doubt { span, message: message.into() });
    }

    /// Walks something that is reached through `place`.
    fn through(&mut self, place: Place, walk: impl FnOnce(&mut Self)) {
        self.places.push(place);
        walk(self);
        self.places.pop();
    }

    /// Walks something whose standard input is `input`.
    fn fed(&mut self, input: Input, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.input, input);
        walk(self);
        self.input = outer;
    }
}
