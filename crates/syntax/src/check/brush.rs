//! The marks of what `brush-parser` reads.

use brush_parser::ast::{
    AndOr, Assignment, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item,
    CompoundCommand, CompoundList, ExtendedTestExpr, IfClauseCommand, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, Pipeline, RedirectList, SeparatorOperator, SimpleCommand, Word,
};
use brush_parser::{Parser, ParserOptions};

use super::mark::Mark;

/// The marks. `None` if it refuses the text, or finds something that has no mark. It isn't asked about here-documents: some
/// of them inside an expansion make it panic.
pub(super) fn marks(text: &str) -> Option<Vec<Mark>> {
    if text.contains("<<") {
        return None;
    }
    let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
    let program = Parser::new(text.as_bytes(), &options).parse_program().ok()?;
    let mut marks = Marks { marks: Vec::new() };
    program.complete_commands.iter().try_for_each(|list| marks.list(list))?;
    Some(marks.marks)
}

struct Marks {
    marks: Vec<Mark>,
}

impl Marks {
    fn begin(&mut self, kind: &'static str) {
        self.marks.push(Mark::Begin(kind));
    }

    fn end(&mut self) {
        self.marks.push(Mark::End);
    }

    fn name(&mut self, name: &str) {
        self.marks.push(Mark::name(name));
    }

    fn list(&mut self, list: &CompoundList) -> Option<()> {
        for item in &list.0 {
            let background = matches!(item.1, SeparatorOperator::Async);
            if background {
                self.begin("background");
            }
            self.pipeline(&item.0.first)?;
            for next in &item.0.additional {
                let (kind, pipeline) = match next {
                    AndOr::And(pipeline) => ("&&", pipeline),
                    AndOr::Or(pipeline) => ("||", pipeline),
                };
                self.begin(kind);
                self.pipeline(pipeline)?;
            }
            if background {
                self.end();
            }
        }
        Some(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<()> {
        let several = pipeline.seq.len() > 1;
        if several {
            self.begin("pipeline");
        }
        pipeline.seq.iter().try_for_each(|command| self.command(command))?;
        if several {
            self.end();
        }
        Some(())
    }

    fn command(&mut self, command: &Command) -> Option<()> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound)?;
                self.redirects(redirects.as_ref())
            }
            Command::Function(function) => {
                self.begin("function");
                self.name(&function.fname.value);
                self.compound(&function.body.0)?;
                self.redirects(function.body.1.as_ref())?;
                self.end();
                Some(())
            }
            Command::ExtendedTest(test, redirects) => {
                self.begin("[[");
                self.test(&test.expr)?;
                self.end();
                self.redirects(redirects.as_ref())
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Option<()> {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                self.begin("((");
                self.name(arithmetic.expr.value.trim());
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                self.begin("for ((");
                self.list(&clause.body.list)?;
            }
            CompoundCommand::BraceGroup(group) => {
                self.begin("group");
                self.list(&group.list)?;
            }
            CompoundCommand::Subshell(subshell) => {
                self.begin("subshell");
                self.list(&subshell.list)?;
            }
            CompoundCommand::ForClause(clause) => {
                self.begin("for");
                self.name(&clause.variable_name);
                match &clause.values {
                    Some(words) => words.iter().try_for_each(|word| self.word(word))?,
                    None => self.marks.push(Mark::implied_words()),
                }
                self.begin("do");
                self.list(&clause.body.list)?;
            }
            CompoundCommand::CaseClause(clause) => {
                self.begin("case");
                self.word(&clause.value)?;
                for case in &clause.cases {
                    self.begin("clause");
                    case.patterns.iter().try_for_each(|pattern| self.word(pattern))?;
                    self.begin("body");
                    case.cmd.iter().try_for_each(|list| self.list(list))?;
                }
            }
            CompoundCommand::IfClause(clause) => self.conditional(clause)?,
            CompoundCommand::WhileClause(clause) => {
                self.begin("while");
                self.list(&clause.0)?;
                self.begin("do");
                self.list(&clause.1.list)?;
            }
            CompoundCommand::UntilClause(clause) => {
                self.begin("until");
                self.list(&clause.0)?;
                self.begin("do");
                self.list(&clause.1.list)?;
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.begin("coproc");
                if let Some(name) = &coprocess.name {
                    self.name(&name.value);
                }
                self.command(&coprocess.body)?;
            }
        }
        self.end();
        Some(())
    }

    /// `elif` is an `if` inside `else`.
    fn conditional(&mut self, clause: &IfClauseCommand) -> Option<()> {
        self.begin("if");
        self.list(&clause.condition)?;
        self.begin("then");
        self.list(&clause.then)?;
        let mut open = 0;
        for branch in clause.elses.iter().flatten() {
            self.begin("else");
            if let Some(condition) = &branch.condition {
                open += 1;
                self.begin("if");
                self.list(condition)?;
                self.begin("then");
            }
            self.list(&branch.body)?;
        }
        (0..open).for_each(|_| self.end());
        Some(())
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Option<()> {
        self.begin("command");
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut redirects = Vec::new();
        for item in prefix.clone() {
            match item {
                Item::AssignmentWord(assignment, word) => self.assignment(assignment, word),
                Item::IoRedirect(redirect) => redirects.push(redirect),
                Item::Word(_) | Item::ProcessSubstitution(..) => return None,
            }
        }
        simple.word_or_name.iter().try_for_each(|word| self.word(word))?;
        for item in suffix {
            match item {
                Item::AssignmentWord(assignment, word) => match assignment.value {
                    AssignmentValue::Array(_) => self.assignment(assignment, word),
                    AssignmentValue::Scalar(_) => self.word(word)?,
                },
                Item::IoRedirect(redirect) => redirects.push(redirect),
                Item::Word(word) => self.word(word)?,
                // The tree holds only a part of what was written.
                Item::ProcessSubstitution(..) => return None,
            }
        }
        redirects.into_iter().try_for_each(|redirect| self.redirect(redirect))
    }

    fn assignment(&mut self, assignment: &Assignment, word: &Word) {
        let AssignmentValue::Array(elements) = &assignment.value else {
            return self.marks.push(Mark::assignment(&word.value));
        };
        let mut text = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => format!("{name}[{index}]"),
        };
        text.push_str(if assignment.append { "+=(" } else { "=(" });
        for (key, value) in elements {
            if let Some(key) = key {
                text.push_str(&format!("[{}]=", key.value));
            }
            text.push_str(&value.value);
        }
        text.push(')');
        self.marks.push(Mark::assignment(&text));
    }

    fn word(&mut self, word: &Word) -> Option<()> {
        // Its reader of words can take time without limit, so nothing is known about what is inside.
        self.marks.push(Mark::word(&word.value, None));
        Some(())
    }

    fn redirects(&mut self, redirects: Option<&RedirectList>) -> Option<()> {
        redirects.iter().flat_map(|list| &list.0).try_for_each(|redirect| self.redirect(redirect))
    }

    fn redirect(&mut self, redirect: &IoRedirect) -> Option<()> {
        let number =
            |descriptor: &Option<i32>| descriptor.map(|number| number.to_string()).unwrap_or_default();
        let (sign, word) = match redirect {
            IoRedirect::File(descriptor, kind, target) => {
                let sign = match kind {
                    IoFileRedirectKind::Read => "<",
                    IoFileRedirectKind::Write => ">",
                    IoFileRedirectKind::Append => ">>",
                    IoFileRedirectKind::ReadAndWrite => "<>",
                    IoFileRedirectKind::Clobber => ">|",
                    IoFileRedirectKind::DuplicateInput => "<&",
                    IoFileRedirectKind::DuplicateOutput => ">&",
                };
                let word = match target {
                    IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                        word.clone()
                    }
                    IoFileRedirectTarget::Fd(number) => Word::from(number.to_string()),
                    IoFileRedirectTarget::ProcessSubstitution(..) => return None,
                };
                if matches!(sign, ">&" | "<&") && word.value == "-" {
                    self.marks.push(Mark::close(&number(descriptor)));
                    return Some(());
                }
                (number(descriptor) + sign, word)
            }
            IoRedirect::HereDocument(descriptor, document) => {
                self.marks.push(Mark::Redirect(number(descriptor) + "<<"));
                self.marks.push(Mark::document(&document.doc.value));
                return Some(());
            }
            IoRedirect::HereString(descriptor, word) => (number(descriptor) + "<<<", word.clone()),
            IoRedirect::OutputAndError(word, append) => {
                ((if *append { "&>>" } else { "&>" }).to_owned(), word.clone())
            }
        };
        self.marks.push(Mark::Redirect(sign));
        self.word(&word)
    }

    fn test(&mut self, test: &ExtendedTestExpr) -> Option<()> {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => {
                self.name(&word.value);
                Some(())
            }
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.name(&left.value);
                self.name(&right.value);
                Some(())
            }
        }
    }
}
