//! Arithmetic: bash expands the text, then evaluates it, and evaluates the values of the variables in it again.

use super::Walker;
use crate::parse;
use crate::tree::{Operation, Piece, PieceKind, Text};
use crate::{Arithmetic, Span};

/// How deep quoted expressions inside quoted expressions are followed.
const MAX_REEVALUATIONS: usize = 8;

#[derive(Default)]
struct Seen {
    names: Vec<String>,
    expands: bool,
    /// The text that bash evaluates, as far as it is written out, with [`EXPANSION`] for each expansion.
    text: String,
}

/// Stands for an expansion in an expression's text. No text of a command has this character.
const EXPANSION: char = '\0';

impl Walker<'_> {
    pub(super) fn arithmetic(&mut self, text: &Text) {
        self.evaluated(text, text.span, MAX_REEVALUATIONS);
    }

    fn evaluated(&mut self, text: &Text, span: Span, again: usize) {
        let mut seen = Seen::default();
        collect(&text.pieces, &mut seen);
        names_in(&seen.text, &mut seen.names);
        let mut names = seen.names;
        // Quotes that are characters of the expression are removed: `f"o"o` is `foo`.
        let unquoted = seen.text.replace(['"', '\'', '\\'], "");
        if unquoted != seen.text {
            names_in(&unquoted, &mut names);
        }
        let mut known = std::collections::HashSet::new();
        names.retain(|name| known.insert(name.clone()));
        let composes = composes_name(&unquoted);
        self.findings.arithmetic.push(Arithmetic { span, names, expands: seen.expands, composes });
        self.pieces(&text.pieces);
        if seen.text.contains(['$', '`']) {
            self.expanded_again(&seen.text.replace(EXPANSION, " "), span, again);
        }
    }

    /// Reads an expression again whose quotes protected an expansion: evaluating expands it after all, and `(( a[\$(c)] ))`
    /// runs `c`.
    fn expanded_again(&mut self, text: &str, span: Span, again: usize) {
        self.doubt(span, "this expression holds a quoted expansion, which bash may still expand");
        if again == 0 {
            return;
        }
        if let Ok((inner, _)) = parse::expression(text, parse::SMALL_STACK_MAX_DEPTH) {
            let before = self.findings.invocations.len();
            self.evaluated(&inner, span, again - 1);
            // Spans in the unquoted text mean nothing in the original.
            for invocation in self.findings.invocations.iter_mut().skip(before) {
                invocation.span = span;
                invocation.words.iter_mut().for_each(|word| word.span = span);
            }
        }
    }
}

fn collect(pieces: &[Piece], seen: &mut Seen) {
    for piece in pieces {
        match &piece.kind {
            PieceKind::Literal(text) | PieceKind::Quoted(text, _) => seen.text.push_str(text),
            PieceKind::Double(inner) => collect(inner, seen),
            PieceKind::Parameter(parameter) => {
                seen.names.push(parameter.name.clone());
                seen.expands |= !matches!(parameter.operation, Operation::Value | Operation::Length);
                // The elements of a list are joined.
                let joins = parameter.subscript.as_ref().is_some_and(parse::is_all);
                if joins && parameter.operation == Operation::Value {
                    seen.text.push(EXPANSION);
                }
                seen.text.push(EXPANSION);
            }
            PieceKind::Subscript(text) => {
                seen.text.push('[');
                collect(&text.pieces, seen);
                seen.text.push(']');
            }
            PieceKind::Substitution(_)
            | PieceKind::Process(..)
            | PieceKind::Arithmetic(_)
            | PieceKind::Array(_) => {
                seen.expands |= !matches!(piece.kind, PieceKind::Arithmetic(_));
                seen.text.push(EXPANSION);
            }
        }
    }
}

/// Whether an expansion is a part of a name: `x$i`, `$a$b`. What begins with a digit is no name: `10#$n`.
fn composes_name(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | '@' | EXPANSION);
    text.split(|c: char| !part(c)).any(|token| {
        token.len() > 1 && token.contains(EXPANSION) && !token.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// The variables in an expression. Numbers such as `0x1f` and `16#ff` are none.
fn names_in(text: &str, names: &mut Vec<String>) {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '#' || c == '@';
    for token in text.split(|c: char| !part(c)) {
        let name: &str = token.split(['#', '@']).next().unwrap_or_default();
        if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            names.push(name.to_owned());
        }
    }
}
