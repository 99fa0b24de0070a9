//! The marks of our own tree.

use super::bodies::direct;
use super::mark::Mark;
use crate::tree::{
    Command, CommandKind, Connector, List, LoopKind, PieceKind, Pipeline, Redirection, SimpleCommand, Test,
    Text,
};
use crate::{Descriptor, RedirectOperator, Span};

/// The marks, and where each was found.
pub(super) fn marks(text: &str, list: &List) -> (Vec<Mark>, Vec<Span>) {
    let mut marks = Marks { text, marks: Vec::new(), spans: Vec::new(), at: Span::default() };
    marks.list(list);
    (marks.marks, marks.spans)
}

struct Marks<'a> {
    text: &'a str,
    marks: Vec<Mark>,
    spans: Vec<Span>,
    at: Span,
}

/// How each operator is written.
fn sign(operator: RedirectOperator) -> &'static str {
    match operator {
        RedirectOperator::Read => "<",
        RedirectOperator::Write => ">",
        RedirectOperator::Append => ">>",
        RedirectOperator::Clobber => ">|",
        RedirectOperator::ReadWrite => "<>",
        RedirectOperator::DuplicateIn => "<&",
        RedirectOperator::DuplicateOut => ">&",
        RedirectOperator::WriteBoth => "&>",
        RedirectOperator::AppendBoth => "&>>",
        RedirectOperator::HereDocument => "<<",
        RedirectOperator::HereString => "<<<",
    }
}

impl Marks<'_> {
    fn push(&mut self, mark: Mark) {
        self.marks.push(mark);
        self.spans.push(self.at);
    }

    fn word(&mut self, word: &Text) {
        self.at = word.span;
        self.push(Mark::word(word.span.of(self.text), Some(direct(&word.pieces))));
    }

    fn list(&mut self, list: &List) {
        for item in &list.items {
            if item.background {
                self.push(Mark::Begin("background"));
            }
            self.pipeline(&item.first);
            for (connector, pipeline) in &item.rest {
                self.push(Mark::Begin(match connector {
                    Connector::And => "&&",
                    Connector::Or => "||",
                }));
                self.pipeline(pipeline);
            }
            if item.background {
                self.push(Mark::End);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let several = pipeline.stages.len() > 1;
        if several {
            self.push(Mark::Begin("pipeline"));
        }
        for stage in &pipeline.stages {
            self.command(&stage.command);
            if stage.both.is_some() {
                Mark::both().into_iter().for_each(|mark| self.push(mark));
            }
        }
        if several {
            self.push(Mark::End);
        }
    }

    fn command(&mut self, command: &Command) {
        self.at = command.span;
        match &command.kind {
            CommandKind::Simple(simple) => return self.simple(simple),
            CommandKind::Subshell(list) => self.block("subshell", list),
            CommandKind::Group(list) => self.block("group", list),
            CommandKind::If { branches, otherwise } => self.conditional(branches, otherwise.as_ref()),
            CommandKind::While { condition, body, until } => {
                self.push(Mark::Begin(if *until { "until" } else { "while" }));
                self.list(condition);
                self.push(Mark::Begin("do"));
                self.list(body);
            }
            CommandKind::For { kind, name, words, body } => {
                self.push(Mark::Begin(match kind {
                    LoopKind::For => "for",
                    LoopKind::Select => "select",
                }));
                self.push(Mark::name(name.span.of(self.text)));
                match words {
                    Some(words) => words.iter().for_each(|word| self.word(word)),
                    None => self.push(Mark::implied_words()),
                }
                self.push(Mark::Begin("do"));
                self.list(body);
            }
            CommandKind::ArithmeticFor { body, .. } => self.block("for ((", body),
            CommandKind::Case { word, clauses } => {
                self.push(Mark::Begin("case"));
                self.word(word);
                for clause in clauses {
                    self.push(Mark::Begin("clause"));
                    clause.patterns.iter().for_each(|pattern| self.word(pattern));
                    self.block("body", &clause.body);
                }
            }
            CommandKind::Arithmetic(expression) => {
                self.push(Mark::Begin("(("));
                self.push(Mark::name(expression.span.of(self.text).trim()));
            }
            CommandKind::Test(test) => {
                self.push(Mark::Begin("[["));
                self.test(test);
            }
            CommandKind::Function { name, body } => {
                self.push(Mark::Begin("function"));
                self.push(Mark::name(name.span.of(self.text)));
                self.command(body);
            }
            CommandKind::Coprocess { name, body } => {
                self.push(Mark::Begin("coproc"));
                name.iter().for_each(|name| self.push(Mark::name(name.span.of(self.text))));
                self.command(body);
            }
        }
        self.push(Mark::End);
        self.redirects(&command.redirects);
    }

    fn block(&mut self, kind: &'static str, list: &List) {
        self.push(Mark::Begin(kind));
        self.list(list);
    }

    /// `elif` is an `if` inside `else`.
    fn conditional(&mut self, branches: &[(List, List)], otherwise: Option<&List>) {
        for (index, (condition, branch)) in branches.iter().enumerate() {
            if index > 0 {
                self.push(Mark::Begin("else"));
            }
            self.block("if", condition);
            self.block("then", branch);
        }
        if let Some(list) = otherwise {
            self.block("else", list);
        }
        (1..branches.len()).for_each(|_| self.push(Mark::End));
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        self.push(Mark::Begin("command"));
        simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
        for word in &simple.words {
            if word.pieces.iter().any(|piece| matches!(piece.kind, PieceKind::Array(_))) {
                self.assignment(word);
            } else {
                self.word(word);
            }
        }
        self.redirects(&simple.redirects);
    }

    /// Adds an assignment as it is written, without the blanks between an array's elements.
    fn assignment(&mut self, word: &Text) {
        self.at = word.span;
        let mut text = String::new();
        for piece in &word.pieces {
            match &piece.kind {
                PieceKind::Array(elements) => {
                    text.push('(');
                    elements.iter().for_each(|element| text.push_str(element.span.of(self.text)));
                    text.push(')');
                }
                PieceKind::Subscript(subscript) => {
                    text.extend(["[", subscript.span.of(self.text), "]"]);
                }
                _ => text.push_str(piece.span.of(self.text)),
            }
        }
        self.push(Mark::assignment(&text));
    }

    fn redirects(&mut self, redirects: &[Redirection]) {
        for redirect in redirects {
            self.at = redirect.span;
            let descriptor = match &redirect.descriptor {
                Descriptor::Default => String::new(),
                Descriptor::Number(number) => number.to_string(),
                Descriptor::Variable(name) => format!("{{{name}}}"),
            };
            let duplicates =
                matches!(redirect.operator, RedirectOperator::DuplicateIn | RedirectOperator::DuplicateOut);
            if duplicates && redirect.target.plain() == Some("-") {
                self.push(Mark::close(&descriptor));
                continue;
            }
            self.push(Mark::Redirect(descriptor + sign(redirect.operator)));
            match &redirect.here {
                Some(here) => {
                    let lines = here.get().map_or("", |document| document.span.of(self.text));
                    self.push(Mark::document(lines));
                }
                None => self.word(&redirect.target),
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
            Test::Unary(_, word) => self.push(Mark::name(word.span.of(self.text))),
            Test::Binary(left, _, right) => {
                self.push(Mark::name(left.span.of(self.text)));
                self.push(Mark::name(right.span.of(self.text)));
            }
        }
    }
}
