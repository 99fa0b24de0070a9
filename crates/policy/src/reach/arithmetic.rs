//! Expressions: the values of the variables in them are expressions too, and a subscript in one can run commands.

use std::collections::HashSet;

use shellgate_syntax::{self as syntax, Assigned, Assignment, Findings, Span, Unknown, Value, Why};

use super::{ANY, DEEPEST, Feed, Note, Reached, Scope};
use crate::programs::{variable, words};

const UNKNOWN: &str =
    "a value that can't be known is evaluated as an expression, and an expression can run commands";

/// How many expressions are looked at, and how many variables one may lead to.
const MOST_EVALUATED: usize = 20_000;
const MOST_NAMES: usize = 24;

/// Whether the shell itself sets a variable of this name.
pub(super) fn is_set_by_shell(name: &str) -> bool {
    words::VARIABLES_SET_BY_SHELL.contains(&name) || name.parse::<u32>().is_ok()
}

impl Reached {
    pub(super) fn arithmetic(&mut self, arithmetic: &syntax::Arithmetic, scope: &Scope) {
        let span = scope.place(arithmetic.span);
        self.expression(arithmetic, span, scope, &mut HashSet::new());
    }

    fn expression(
        &mut self,
        arithmetic: &syntax::Arithmetic,
        span: Span,
        scope: &Scope,
        seen: &mut HashSet<String>,
    ) {
        self.evaluates |= !arithmetic.names.is_empty();
        self.evaluated += 1;
        if self.evaluated > MOST_EVALUATED || seen.len() > MOST_NAMES {
            return self.unreadable.push(Note::new(span, "it evaluates too many values of values"));
        }
        if arithmetic.expands {
            return self.hazards.push(Note::new(span, UNKNOWN));
        }
        for name in &arithmetic.names {
            if is_set_by_shell(name) {
                self.hazards.push(Note::new(span, format!("`{name}`: {UNKNOWN}")));
            }
            // An expression can set it as well as read it.
            if let Some(row) = variable(name) {
                self.hazards.push(Note::new(span, format!("`{name}` in an expression: {}", row.about)));
            }
            if !seen.insert(name.clone()) {
                continue;
            }
            let mut assigned =
                [name.as_str(), ANY].into_iter().filter_map(|name| scope.values.get(name)).peekable();
            // A text inside another has variables of that one, too.
            if scope.depth > 0 && assigned.peek().is_none() && !is_number(name) {
                self.hazards.push(Note::new(span, format!("`{name}`: {UNKNOWN}")));
            }
            for value in assigned.flatten().flat_map(values) {
                self.evaluated(value, span, scope, seen);
            }
        }
    }

    /// A value that is evaluated.
    fn evaluated(&mut self, value: &Value, span: Span, scope: &Scope, seen: &mut HashSet<String>) {
        match value {
            Value::Known(text) if text.bytes().all(is_plain_number) => {}
            Value::Known(text) => self.text_of_expression(text, span, scope, seen),
            Value::Unknown(Unknown { why: Why::Arithmetic, .. }) => {}
            Value::Unknown(Unknown { why: Why::Parameter(name), tail: Some(tail), lead, .. })
                if is_number(name) && tail.is_empty() && lead.is_empty() => {}
            Value::Unknown(_) => self.hazards.push(Note::new(span, UNKNOWN)),
        }
    }

    /// A text that a builtin evaluates.
    pub(super) fn inner_arithmetic(&mut self, text: &str, span: Span, scope: &Scope) {
        self.text_of_expression(text, span, scope, &mut HashSet::new());
    }

    fn text_of_expression(&mut self, text: &str, span: Span, scope: &Scope, seen: &mut HashSet<String>) {
        if scope.depth >= DEEPEST {
            return self.too_deep(span);
        }
        match syntax::read_arithmetic(text) {
            Ok(mut findings) => {
                // Its variables are those of the text around it.
                for arithmetic in std::mem::take(&mut findings.arithmetic) {
                    self.expression(&arithmetic, span, scope, seen);
                }
                self.inner(
                    Findings { arithmetic: Vec::new(), ..findings },
                    text,
                    (span, Feed::Unknown),
                    scope,
                );
            }
            Err(error) => self.unreadable.push(Note::new(span, error.to_string())),
        }
    }

    /// What an integer variable is set to by a builtin.
    pub(super) fn integer_value(&mut self, value: &Value, span: Span, scope: &Scope) {
        self.evaluated(value, span, scope, &mut HashSet::new());
    }

    /// What an integer variable is set to.
    pub(super) fn integer(&mut self, assignment: &Assignment, scope: &Scope) {
        if scope.attributes.is_integer(&assignment.name) {
            for value in values(&assignment.value) {
                self.evaluated(value, scope.place(assignment.span), scope, &mut HashSet::new());
            }
        }
    }
}

/// `$?`, `$#`, `$$`, `$!`: numbers, whatever happens.
fn is_number(name: &str) -> bool {
    matches!(name, "?" | "#" | "$" | "!")
}

const fn is_plain_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b' ' | b'+' | b'-')
}

fn values(assigned: &Assigned) -> &[Value] {
    match assigned {
        Assigned::Scalar(value) => std::slice::from_ref(value),
        Assigned::Array(values) | Assigned::ByShell(values) => values,
    }
}
