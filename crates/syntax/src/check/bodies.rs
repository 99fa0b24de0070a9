//! The texts of the substitutions in a text, without those inside them.

use crate::Span;
use crate::tree::{Command, CommandKind, List, Piece, PieceKind, Pipeline, Redirection, Test, Text};

/// The texts, each with its place.
pub(super) fn bodies(list: &List) -> Vec<(&str, Span)> {
    let mut found = Bodies(Vec::new());
    found.list(list);
    found.0
}

/// The number of substitutions in a word itself, quoted or not, but not inside `${ }`, `$(( ))` or an array.
pub(super) fn direct(pieces: &[Piece]) -> usize {
    pieces
        .iter()
        .map(|piece| match &piece.kind {
            PieceKind::Substitution(_) | PieceKind::Process(..) => 1,
            PieceKind::Double(inner) => direct(inner),
            _ => 0,
        })
        .sum()
}

struct Bodies<'a>(Vec<(&'a str, Span)>);

impl<'a> Bodies<'a> {
    fn list(&mut self, list: &'a List) {
        for item in &list.items {
            self.pipeline(&item.first);
            for (_, pipeline) in &item.rest {
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline) {
        for stage in &pipeline.stages {
            self.command(&stage.command);
        }
    }

    fn command(&mut self, command: &'a Command) {
        self.redirects(&command.redirects);
        match &command.kind {
            CommandKind::Simple(simple) => {
                self.texts(&simple.assignments);
                self.texts(&simple.words);
                self.redirects(&simple.redirects);
            }
            CommandKind::Subshell(list) | CommandKind::Group(list) => self.list(list),
            CommandKind::If { branches, otherwise } => {
                for (condition, branch) in branches {
                    self.list(condition);
                    self.list(branch);
                }
                otherwise.iter().for_each(|list| self.list(list));
            }
            CommandKind::While { condition, body, .. } => {
                self.list(condition);
                self.list(body);
            }
            CommandKind::For { name, words, body, .. } => {
                self.pieces(&name.pieces);
                self.texts(words.as_deref().unwrap_or_default());
                self.list(body);
            }
            CommandKind::ArithmeticFor { expressions, body } => {
                self.pieces(&expressions.pieces);
                self.list(body);
            }
            CommandKind::Case { word, clauses } => {
                self.pieces(&word.pieces);
                for clause in clauses {
                    self.texts(&clause.patterns);
                    self.list(&clause.body);
                }
            }
            CommandKind::Arithmetic(expression) => self.pieces(&expression.pieces),
            CommandKind::Test(test) => self.test(test),
            CommandKind::Function { name, body } => {
                self.pieces(&name.pieces);
                self.command(body);
            }
            CommandKind::Coprocess { name, body } => {
                self.texts(name.as_slice());
                self.command(body);
            }
        }
    }

    fn test(&mut self, test: &'a Test) {
        match test {
            Test::Both(left, right) => {
                self.test(left);
                self.test(right);
            }
            Test::Inner(test) => self.test(test),
            Test::Unary(_, word) => self.pieces(&word.pieces),
            Test::Binary(left, _, right) => {
                self.pieces(&left.pieces);
                self.pieces(&right.pieces);
            }
        }
    }

    fn redirects(&mut self, redirects: &'a [Redirection]) {
        for redirect in redirects {
            match &redirect.here {
                Some(here) => {
                    if let Some(document) = here.get() {
                        self.pieces(&document.body);
                    }
                }
                None => self.pieces(&redirect.target.pieces),
            }
        }
    }

    fn texts(&mut self, texts: &'a [Text]) {
        texts.iter().for_each(|text| self.pieces(&text.pieces));
    }

    fn pieces(&mut self, pieces: &'a [Piece]) {
        for piece in pieces {
            match &piece.kind {
                PieceKind::Literal(_) | PieceKind::Quoted(..) => {}
                PieceKind::Double(inner) => self.pieces(inner),
                PieceKind::Parameter(parameter) => {
                    self.texts(parameter.subscript.as_slice());
                    self.texts(parameter.operation.text());
                }
                PieceKind::Substitution(commands) | PieceKind::Process(_, commands) => {
                    self.0.push((&commands.text, piece.span));
                }
                PieceKind::Arithmetic(text) | PieceKind::Subscript(text) => self.pieces(&text.pieces),
                PieceKind::Array(elements) => self.texts(elements),
            }
        }
    }
}
