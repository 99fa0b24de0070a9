//! Renders the tree as lines that people can read.

use std::fmt::Write as _;

use super::{
    AndOr, Command, CommandKind, Connector, List, Piece, PieceKind, Pipeline, Redirection, Script, Test, Text,
};
use crate::Span;

/// How much of the text a line shows at most.
const EXCERPT_MAX_CHARS: usize = 60;

impl Script {
    /// One line per node: its kind and the text it was read from, indented by depth.
    #[must_use]
    pub fn render(&self, text: &str) -> String {
        let mut printer = TreePrinter { text, out: String::new(), depth: 0 };
        printer.list(&self.list);
        printer.out
    }
}

/// Writes the lines.
struct TreePrinter<'a> {
    text: &'a str,
    out: String,
    depth: usize,
}

impl TreePrinter<'_> {
    fn line(&mut self, kind: &str, span: Span) {
        let mut excerpt: String =
            span.of(self.text).chars().take(EXCERPT_MAX_CHARS + 1).flat_map(visible).collect();
        if excerpt.chars().count() > EXCERPT_MAX_CHARS {
            excerpt = excerpt.chars().take(EXCERPT_MAX_CHARS - 1).chain(['…']).collect();
        }
        // Writing to a String can't fail.
        let _ = writeln!(self.out, "{:indent$}{kind}: {excerpt}", "", indent = self.depth * 2);
    }

    fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    fn list(&mut self, list: &List) {
        for item in &list.items {
            self.and_or(item);
        }
    }

    fn and_or(&mut self, item: &AndOr) {
        let end = item.rest.last().map_or(item.first.span.end, |(_, pipeline)| pipeline.span.end);
        let span = Span::new(item.first.span.start, end);
        if item.background {
            self.line("background", span);
            return self.indented(|printer| printer.joined(item));
        }
        self.joined(item);
    }

    fn joined(&mut self, item: &AndOr) {
        self.pipeline(&item.first);
        for (connector, pipeline) in &item.rest {
            let kind = match connector {
                Connector::And => "and",
                Connector::Or => "or",
            };
            self.line(kind, pipeline.span);
            self.indented(|printer| printer.pipeline(pipeline));
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [stage] = pipeline.stages.as_slice() {
            return self.command(&stage.command);
        }
        self.line("pipeline", pipeline.span);
        self.indented(|printer| {
            for stage in &pipeline.stages {
                printer.command(&stage.command);
            }
        });
    }

    fn command(&mut self, command: &Command) {
        let kind = match &command.kind {
            CommandKind::Simple(_) => "command",
            CommandKind::Subshell(_) => "subshell",
            CommandKind::Group(_) => "group",
            CommandKind::If { .. } => "if",
            CommandKind::While { until: false, .. } => "while",
            CommandKind::While { until: true, .. } => "until",
            CommandKind::For { .. } => "loop over words",
            CommandKind::ArithmeticFor { .. } => "arithmetic loop",
            CommandKind::Case { .. } => "case",
            CommandKind::Arithmetic(_) => "arithmetic",
            CommandKind::Test(_) => "test",
            CommandKind::Function { .. } => "function",
            CommandKind::Coprocess { .. } => "coprocess",
        };
        self.line(kind, command.span);
        self.indented(|printer| {
            printer.contents(&command.kind);
            printer.redirects(&command.redirects);
        });
    }

    fn contents(&mut self, kind: &CommandKind) {
        match kind {
            CommandKind::Simple(simple) => {
                self.texts("assignment", &simple.assignments);
                self.texts("word", &simple.words);
                self.redirects(&simple.redirects);
            }
            CommandKind::Subshell(list) | CommandKind::Group(list) => self.list(list),
            CommandKind::If { branches, otherwise } => {
                for (condition, branch) in branches {
                    self.list(condition);
                    self.indented(|printer| printer.list(branch));
                }
                if let Some(list) = otherwise {
                    self.indented(|printer| printer.list(list));
                }
            }
            CommandKind::While { condition, body, .. } => {
                self.list(condition);
                self.indented(|printer| printer.list(body));
            }
            CommandKind::For { name, words, body, .. } => {
                self.texts("variable", std::slice::from_ref(name));
                self.texts("word", words.as_deref().unwrap_or_default());
                self.list(body);
            }
            CommandKind::ArithmeticFor { expressions, body } => {
                self.texts("expression", std::slice::from_ref(expressions));
                self.list(body);
            }
            CommandKind::Case { word, clauses } => {
                self.texts("word", std::slice::from_ref(word));
                for clause in clauses {
                    self.texts("pattern", &clause.patterns);
                    self.indented(|printer| printer.list(&clause.body));
                }
            }
            CommandKind::Arithmetic(expression) => self.texts("expression", std::slice::from_ref(expression)),
            CommandKind::Test(test) => self.test(test),
            CommandKind::Function { name, body } => {
                self.texts("name", std::slice::from_ref(name));
                self.command(body);
            }
            CommandKind::Coprocess { name, body } => {
                self.texts("name", name.as_slice());
                self.command(body);
            }
        }
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::Both(left, right) => {
                self.test(left);
                self.test(right);
            }
            Test::Inner(test) => self.test(test),
            Test::Unary(_, word) => self.texts("word", std::slice::from_ref(word)),
            Test::Binary(left, _, right) => {
                self.texts("word", std::slice::from_ref(left));
                self.texts("word", std::slice::from_ref(right));
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirection]) {
        for redirect in redirects {
            self.line("redirect", redirect.span);
            self.indented(|printer| {
                printer.pieces(&redirect.target.pieces);
                if let Some(document) = redirect.here.as_ref().and_then(|here| here.get()) {
                    printer.line("here-document", document.span);
                    printer.indented(|printer| printer.pieces(&document.body));
                }
            });
        }
    }

    fn texts(&mut self, kind: &str, texts: &[Text]) {
        for text in texts {
            self.line(kind, text.span);
            self.indented(|printer| printer.pieces(&text.pieces));
        }
    }

    /// Writes the pieces that are expanded. Literals are in the line above.
    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            let kind = match &piece.kind {
                PieceKind::Literal(_) | PieceKind::Quoted(..) => continue,
                PieceKind::Double(inner) => {
                    self.pieces(inner);
                    continue;
                }
                PieceKind::Parameter(_) => "parameter",
                PieceKind::Substitution(_) => "substitution",
                PieceKind::Process(..) => "process substitution",
                PieceKind::Arithmetic(_) => "arithmetic",
                PieceKind::Subscript(_) => "subscript",
                PieceKind::Array(_) => "array",
            };
            self.line(kind, piece.span);
            self.indented(|printer| printer.inner(&piece.kind));
        }
    }

    fn inner(&mut self, kind: &PieceKind) {
        match kind {
            PieceKind::Literal(_) | PieceKind::Quoted(..) => {}
            PieceKind::Double(inner) => self.pieces(inner),
            PieceKind::Parameter(parameter) => {
                self.texts("subscript", parameter.subscript.as_slice());
                self.texts("operand", parameter.operation.text());
            }
            PieceKind::Substitution(commands) | PieceKind::Process(_, commands) => self.list(&commands.list),
            PieceKind::Arithmetic(text) | PieceKind::Subscript(text) => self.pieces(&text.pieces),
            PieceKind::Array(elements) => self.texts("element", elements),
        }
    }
}

/// The character, escaped if it could hide or fake a part of the tree: a control character, or one that changes the direction
/// of writing.
fn visible(character: char) -> Vec<char> {
    match character {
        '"' | '\'' | '\\' => vec![character],
        _ => character.escape_debug().collect(),
    }
}
