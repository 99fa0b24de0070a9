//! Arithmetic expressions. The values of the variables in them are expressions too, and a subscript in one can run
//! commands: `a='x[$(id)]'; echo $((a))` runs `id`.
//!
//! Every value that the text gives such a variable is followed. A value that the text doesn't give is a hazard.

use std::collections::HashSet;
use std::rc::Rc;

use shellgate_syntax::{self as syntax, Assigned, Assignment, Findings, Span, Unknown, Value, Why};

use super::context::{InnerText, TextContext};
use super::{ANY_VARIABLE, FoundCalls, MAX_DEPTH, Problem, Stdin, When};
use crate::programs::{variable, words};

const UNKNOWN: &str =
    "a value that can't be known is evaluated as an expression, and an expression can run commands";

const NOT_PLAIN: &str = "a value that isn't a plain sum of numbers and names is evaluated as an expression, and that can run commands";

const NOT_SET_HERE: &str = "its value may be the name of another variable of this text";

const COMPOSED: &str = "a name is put together in an expression, which may read and set any variable";

/// How many expressions of one command are looked at.
const MAX_EVALUATIONS: usize = 20_000;

/// A value counts as one more expression for each so many bytes.
const BYTES_PER_EVALUATION: usize = 16;

/// How many variables one expression may lead to.
const MAX_NAMES_PER_EXPRESSION: usize = 24;

/// Whether the shell itself sets a variable of this name.
pub(super) fn is_set_by_shell(name: &str) -> bool {
    words::VARIABLES_SET_BY_SHELL.contains(&name) || name.parse::<u32>().is_ok()
}

impl FoundCalls {
    /// Follows an expression in a text.
    pub(super) fn follow_arithmetic(&mut self, arithmetic: &syntax::Arithmetic, context: &TextContext) {
        let span = context.place(arithmetic.span);
        let is_set =
            |name: &String| context.known_values.is_replaced_before(name, arithmetic.span, &context.source);
        self.note_inherited(arithmetic.names.iter().filter(|name| !is_set(name)), span, context);
        self.follow_expression(arithmetic, span, context, &mut HashSet::new());
    }

    /// Follows the values of an expression's variables. `seen` are the variables that it led to before.
    fn follow_expression(
        &mut self,
        arithmetic: &syntax::Arithmetic,
        span: Span,
        context: &TextContext,
        seen: &mut HashSet<String>,
    ) {
        self.evaluates_variables |= !arithmetic.names.is_empty();
        self.evaluations += 1;
        if self.evaluations > MAX_EVALUATIONS || seen.len() > MAX_NAMES_PER_EXPRESSION {
            return self.too_many_values(span);
        }
        if arithmetic.expands {
            return self.add_hazard(span, UNKNOWN.to_owned());
        }
        if arithmetic.composes {
            // It may be any variable, and the expression may set it.
            return self.add_hazard(span, COMPOSED.to_owned());
        }
        if arithmetic.names.iter().any(|name| context.attributes.is_composed(name)) {
            self.follow_all_variables(span, context, seen);
        }
        for name in &arithmetic.names {
            if is_set_by_shell(name) {
                self.add_hazard(span, format!("`{name}`: {UNKNOWN}"));
            }
            // An expression can set a variable as well as read it.
            if let Some(row) = variable(name) {
                self.add_hazard(span, format!("`{name}` in an expression: {}", row.about));
            }
            if !seen.insert(name.clone()) {
                continue;
            }
            if !context.values.contains_key(name) && context.may_hold_code() {
                self.unfollowed.push(Problem::new(span, format!("`{name}`: {NOT_SET_HERE}")));
            }
            let assigned =
                [name.as_str(), ANY_VARIABLE].into_iter().filter_map(|name| context.values.get(name));
            for value in assigned.flatten().flat_map(values) {
                if self.evaluations > MAX_EVALUATIONS {
                    return self.too_many_values(span);
                }
                self.follow_value(value, span, context, seen);
            }
        }
    }

    /// Notes variables that a text inside another one may have from that one.
    fn note_inherited<'n>(
        &mut self,
        names: impl Iterator<Item = &'n String>,
        span: Span,
        context: &TextContext,
    ) {
        for name in names.filter(|name| context.depth > 0 && !is_number(name)) {
            self.add_hazard(span, format!("`{name}`: {UNKNOWN}"));
        }
    }

    /// Follows the values of all variables: a name that is put together in an expression may be any of them.
    fn follow_all_variables(&mut self, span: Span, context: &TextContext, seen: &mut HashSet<String>) {
        if context.depth > 0 {
            return self.add_hazard(span, UNKNOWN.to_owned());
        }
        let mut names: Vec<&String> = context.values.keys().collect();
        names.sort();
        for name in names {
            let first_time = seen.insert(name.clone());
            let assigned = context.values.get(name).filter(|_| first_time);
            for value in assigned.into_iter().flatten().flat_map(values) {
                if self.evaluations > MAX_EVALUATIONS {
                    return self.too_many_values(span);
                }
                self.follow_value(value, span, context, seen);
            }
        }
    }

    fn too_many_values(&mut self, span: Span) {
        // Once is enough to refuse the command.
        if self.unreadable.is_empty() {
            self.unreadable.push(Problem::new(span, "it evaluates too many values of values"));
        }
    }

    /// Adds a hazard, unless it is the same as the last one.
    fn add_hazard(&mut self, span: Span, message: String) {
        if !self.hazards.last().is_some_and(|last| last.span == span && last.message == message) {
            self.hazards.push(Problem::new(span, message));
        }
    }

    /// Follows a value that is evaluated.
    fn follow_value(&mut self, value: &Value, span: Span, context: &TextContext, seen: &mut HashSet<String>) {
        self.evaluations += 1 + value.lead().len() / BYTES_PER_EVALUATION;
        if self.evaluations > MAX_EVALUATIONS {
            return self.too_many_values(span);
        }
        match value {
            Value::Known(text) if text.bytes().all(is_plain_number) => {}
            Value::Known(text) => {
                if !text.bytes().all(is_plain_expression) {
                    self.unfollowed.push(Problem::new(span, NOT_PLAIN));
                }
                self.follow_value_text(text, span, context, seen);
            }
            Value::Unknown(Unknown { why: Why::Arithmetic, tail: Some(tail), lead, .. })
                if [lead, tail].into_iter().all(|text| text.bytes().all(is_plain_number)) => {}
            Value::Unknown(Unknown { why: Why::Parameter(name), tail: Some(tail), lead, .. })
                if is_number(name) && tail.is_empty() && lead.is_empty() => {}
            // `b=$a` gives `b` the values of `a`, and the shell's own integers are numbers. Another text may have given `a` to
            // this one.
            Value::Unknown(Unknown { why: Why::Parameter(name), tail: Some(tail), lead, .. })
                if tail.is_empty()
                    && lead.is_empty()
                    && (context.values.contains_key(name)
                        || words::INTEGER_VARIABLES.contains(&name.as_str())) =>
            {
                let names = vec![name.clone()];
                self.note_inherited(names.iter(), span, context);
                let arithmetic = syntax::Arithmetic { span, names, expands: false, composes: false };
                self.follow_expression(&arithmetic, span, context, seen);
            }
            Value::Unknown(_) => self.add_hazard(span, UNKNOWN.to_owned()),
        }
    }

    /// Follows a text that a builtin evaluates.
    pub(super) fn follow_expression_text(&mut self, text: &str, span: Span, context: &TextContext) {
        self.follow_value_text(text, span, context, &mut HashSet::new());
    }

    fn follow_value_text(
        &mut self,
        text: &str,
        span: Span,
        context: &TextContext,
        seen: &mut HashSet<String>,
    ) {
        if context.depth >= MAX_DEPTH {
            return self.too_deep(span);
        }
        match syntax::read_arithmetic(text) {
            Ok(mut findings) => {
                // Its variables are those of the text around it.
                for arithmetic in std::mem::take(&mut findings.arithmetic) {
                    self.note_inherited(arithmetic.names.iter(), span, context);
                    self.follow_expression(&arithmetic, span, context, seen);
                }
                let rest = Findings { arithmetic: Vec::new(), ..findings };
                let inner = InnerText {
                    span,
                    stdin: Stdin::Unknown,
                    is_input: false,
                    when: When::Anytime,
                    folders: Rc::clone(&context.folders),
                };
                self.follow_inner_findings(rest, text, inner, context);
            }
            Err(error) => self.unreadable.push(Problem::new(span, error.to_string())),
        }
    }

    /// Follows what a builtin sets an integer variable to.
    pub(super) fn follow_integer_value(&mut self, value: &Value, span: Span, context: &TextContext) {
        self.follow_value(value, span, context, &mut HashSet::new());
    }

    /// Follows what an assignment sets a variable to, if that is an integer variable.
    pub(super) fn follow_assignment(&mut self, assignment: &Assignment, context: &TextContext) {
        if context.attributes.is_integer(&assignment.name) {
            for value in values(&assignment.value) {
                self.follow_value(value, context.place(assignment.span), context, &mut HashSet::new());
            }
        }
    }
}

/// `$?`, `$#`, `$$`, `$!`: their values are always numbers.
fn is_number(name: &str) -> bool {
    matches!(name, "?" | "#" | "$" | "!")
}

const fn is_plain_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b' ' | b'+' | b'-')
}

/// Numbers, names and signs between them: no subscripts, and nothing that is expanded.
const fn is_plain_expression(byte: u8) -> bool {
    is_plain_number(byte)
        || byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'*' | b'/' | b'%' | b'(' | b')')
}

fn values(assigned: &Assigned) -> &[Value] {
    match assigned {
        Assigned::Scalar(value) => std::slice::from_ref(value),
        Assigned::Array(values) | Assigned::ByShell(values) => values,
    }
}
