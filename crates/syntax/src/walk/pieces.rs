//! What is inside words: substitutions, expressions, variables that expansions set.

use super::Walker;
use crate::parse::is_all;
use crate::tree::{Direction, Operation, Parameter, Piece, PieceKind, Text};
use crate::{Assigned, Assignment, Construct, Input, Span, Unknown, Value, Why};

use super::value::Context;

impl Walker<'_> {
    pub(super) fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.piece(piece);
        }
    }

    fn piece(&mut self, piece: &Piece) {
        match &piece.kind {
            PieceKind::Literal(text) => {
                // The parser leaves none of these in a literal. If it ever does, a person is asked.
                if text.contains("$(") || text.contains("${") || text.contains('`') {
                    self.doubt(piece.span, "an expansion was left unread");
                }
            }
            PieceKind::Quoted(..) => {}
            PieceKind::Double(inner) => self.pieces(inner),
            PieceKind::Parameter(parameter) => self.parameter(parameter, piece.span),
            PieceKind::Substitution(commands) => {
                self.apart(Construct::Substitution, piece.span, |walker| walker.list(&commands.list));
            }
            PieceKind::Process(Direction::Read, commands) => {
                self.apart(Construct::Process, piece.span, |walker| walker.list(&commands.list));
            }
            PieceKind::Process(Direction::Write, commands) => {
                self.with_input(Input::Other, |walker| {
                    walker.apart(Construct::Process, piece.span, |walker| walker.list(&commands.list));
                });
            }
            PieceKind::Arithmetic(text) => self.arithmetic(text),
            PieceKind::Subscript(text) => self.subscript(text),
            PieceKind::Array(elements) => {
                for element in elements {
                    self.pieces(&element.pieces);
                }
            }
        }
    }

    /// Walks commands inside a word. Variables that they set aren't set by the command around the word. A substitution
    /// without a command is a finding too: bash runs a shell for it.
    fn apart(&mut self, construct: Construct, span: Span, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.set);
        self.inside(construct, |walker| {
            let before = walker.findings.invocations.len();
            walk(walker);
            if walker.findings.invocations.len() == before {
                walker.reserve(span);
            }
        });
        self.set = outer;
    }

    fn subscript(&mut self, text: &Text) {
        if !is_all(text) {
            self.arithmetic(text);
        }
    }

    fn parameter(&mut self, parameter: &Parameter, span: Span) {
        if let Some(subscript) = &parameter.subscript {
            self.subscript(subscript);
        }
        match &parameter.operation {
            Operation::Value | Operation::Length | Operation::Names | Operation::Transform(_) => {}
            Operation::Default(operator, text) => {
                self.pieces(&text.pieces);
                if matches!(*operator, ":=" | "=") {
                    // The variable gets this, or keeps the value that it has.
                    let given = self.value(&text.pieces, Context::Assignment);
                    let own = Unknown {
                        lead: String::new(),
                        splits: false,
                        why: Why::Parameter(parameter.name.clone()),
                        tail: Some(String::new()),
                    };
                    let value = Assigned::ByShell(vec![given, Value::Unknown(own)]);
                    let subscript = parameter.subscript.as_ref();
                    let subscript = subscript.map(|text| self.value(&text.pieces, Context::Quiet));
                    let name = parameter.name.clone();
                    self.set.push(Assignment { span, name, subscript, append: false, value });
                }
            }
            Operation::Substring(text) => self.arithmetic(text),
            Operation::Pattern(text) | Operation::Bad(text) => self.pieces(&text.pieces),
        }
    }
}
