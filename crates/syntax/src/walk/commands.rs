//! Lists, pipelines and commands.

use std::sync::Arc;

use super::Walker;
use super::value::Context;
use crate::builtins;
use crate::tree::{
    AndOr, Command, CommandKind, List, LoopKind, Pipeline, Redirection, SimpleCommand, Stage, Test,
    TestOperator, Text,
};
use crate::{
    Assigned, Assignment, Construct, Descriptor, Function, Hazard, HazardKind, Input, Invocation, Loop,
    Redirect, RedirectOperator, RedirectTarget, Span, Value, Word,
};

impl Walker<'_> {
    pub(super) fn list(&mut self, list: &List) {
        for item in &list.items {
            if item.background {
                self.inside(Construct::Background, |walker| walker.and_or(item));
            } else {
                self.and_or(item);
            }
        }
    }

    fn and_or(&mut self, item: &AndOr) {
        self.pipeline(&item.first);
        for (_, pipeline) in &item.rest {
            self.maybe(|walker| walker.pipeline(pipeline));
        }
    }

    /// Walks something that may be run never or often.
    fn maybe(&mut self, walk: impl FnOnce(&mut Self)) {
        self.inside(Construct::Conditional, walk);
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let [stages @ .., last] = pipeline.stages.as_slice() else { return };
        if stages.is_empty() {
            return self.stage(last);
        }
        let base = self.constructs.len() + 1;
        let mut input = self.input.clone();
        for stage in &pipeline.stages {
            let first = self.findings.invocations.len();
            self.with_input(input, |walker| {
                walker.inside(Construct::Pipeline, |walker| walker.stage(stage));
            });
            // The output of a substitution becomes a word, not the next stage's input.
            let writes = |invocation: &Invocation| {
                !invocation
                    .constructs
                    .iter()
                    .skip(base)
                    .any(|construct| *construct == Construct::Substitution)
            };
            if !self.afford(self.findings.invocations.len() - first) {
                return;
            }
            let stage = self.findings.invocations.iter().enumerate().skip(first);
            input = Input::Pipe(stage.filter(|(_, one)| writes(one)).map(|(index, _)| index).collect());
        }
    }

    fn stage(&mut self, stage: &Stage) {
        // `c1 |& c2` is `c1 2>&1 | c2`.
        let both = stage.both.map(|span| Redirect {
            span,
            descriptor: Descriptor::Number(2),
            operator: RedirectOperator::DuplicateOut,
            target: RedirectTarget::Word(Word { span, value: Value::Known("1".into()) }),
        });
        self.command(&stage.command, both);
    }

    fn command(&mut self, command: &Command, both: Option<Redirect>) {
        if let CommandKind::Simple(simple) = &command.kind {
            return self.simple(simple, command.span, both);
        }
        let redirects = self.compound_redirects(&command.redirects, command.span, both);
        let input = redirects
            .into_iter()
            .rev()
            .find(changes_stdin)
            .map_or_else(|| self.input.clone(), |redirect| Input::Redirect(Box::new(redirect)));
        self.with_input(input, |walker| walker.compound(&command.kind, command.span));
        // Variables that expansions outside all simple commands set: `[[ ${x:=y} ]]`.
        if !self.set.is_empty() {
            let index = self.reserve(command.span);
            self.fill(index, Invocation { span: command.span, ..Invocation::default() });
        }
    }

    /// Adds the redirects of a compound command, as an invocation without words.
    fn compound_redirects(
        &mut self,
        redirections: &[Redirection],
        span: Span,
        both: Option<Redirect>,
    ) -> Vec<Redirect> {
        if redirections.is_empty() && both.is_none() {
            return Vec::new();
        }
        let index = self.reserve(span);
        let mut redirects = self.redirects(redirections);
        redirects.extend(both);
        let start = redirects.first().map_or(span.start, |redirect| redirect.span.start);
        let end = redirects.last().map_or(span.end, |redirect| redirect.span.end);
        let span = Span::new(start, end.max(start));
        let invocation = Invocation { span, redirects: redirects.clone(), ..Invocation::default() };
        self.fill(index, invocation);
        redirects
    }

    /// Adds an empty invocation, so that findings stay in the order of the text. [`fill`](Self::fill) completes it.
    pub(super) fn reserve(&mut self, span: Span) -> usize {
        let constructs = Arc::clone(&self.constructs);
        let input = self.input.clone();
        let repeated = self.repeated;
        if self.findings.invocations.len() >= super::MAX_COMMANDS {
            self.budget.set(None);
        }
        self.findings.invocations.push(Invocation {
            span,
            constructs,
            repeated,
            input,
            ..Invocation::default()
        });
        self.findings.invocations.len() - 1
    }

    /// Completes the invocation at `index`, with the variables that its expansions set.
    fn fill(&mut self, index: usize, mut invocation: Invocation) {
        invocation.assignments.append(&mut self.set);
        if let Some(slot) = self.findings.invocations.get_mut(index) {
            invocation.constructs = std::mem::take(&mut slot.constructs);
            invocation.input = std::mem::take(&mut slot.input);
            invocation.repeated = slot.repeated;
            *slot = invocation;
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, span: Span, both: Option<Redirect>) {
        if simple.is_empty() && both.is_none() {
            return;
        }
        let index = self.reserve(span);
        let outer = std::mem::take(&mut self.set);
        let mut invocation = Invocation { span, ..Invocation::default() };
        for assignment in &simple.assignments {
            let assignment = self.assignment(assignment);
            invocation.assignments.extend(assignment);
        }
        let declares = simple.words.first().and_then(Text::plain).is_some_and(builtins::assigns);
        for word in &simple.words {
            self.pieces(&word.pieces);
            let assigns = declares && word.head.is_some();
            let context = if assigns { Context::Assignment } else { Context::Argument };
            let mut words = self.words(word, context);
            if assigns && words.len() > 1 {
                // What braces make isn't an assignment for bash, which splits its values.
                words = self.words(word, Context::Argument);
            }
            invocation.words.extend(words);
        }
        invocation.words.shrink_to_fit();
        invocation.redirects = self.redirects(&simple.redirects);
        invocation.redirects.extend(both);
        self.note_extglob(&invocation);
        self.fill(index, invocation);
        self.set = outer;
    }

    /// Notes `shopt -s extglob`, also behind other words.
    fn note_extglob(&mut self, invocation: &Invocation) {
        let named = |word: &&Word| word.value.known() == Some("extglob");
        if let Some(word) = invocation.words.iter().find(named) {
            self.findings.hazards.push(Hazard { span: word.span, kind: HazardKind::ExtendedGlob });
        }
    }

    /// Adds variables that the shell sets by itself, as an invocation without words.
    fn shell_sets(&mut self, span: Span, variables: Vec<(String, Vec<Value>)>) {
        let index = self.reserve(span);
        let set = |(name, values)| Assignment {
            span,
            name,
            subscript: None,
            append: false,
            value: Assigned::ByShell(values),
        };
        let assignments = variables.into_iter().map(set).collect();
        self.fill(index, Invocation { span, assignments, ..Invocation::default() });
    }

    /// A name as it is written.
    fn written(&self, name: &Text) -> String {
        name.plain().unwrap_or(name.span.of(self.text)).to_owned()
    }

    fn compound(&mut self, kind: &CommandKind, span: Span) {
        match kind {
            CommandKind::Simple(simple) => self.simple(simple, span, None),
            CommandKind::Subshell(list) => self.inside(Construct::Subshell, |walker| walker.list(list)),
            CommandKind::Group(list) => self.inside(Construct::Group, |walker| walker.list(list)),
            CommandKind::If { branches, otherwise } => {
                for (condition, branch) in branches {
                    self.conditional_list(condition);
                    self.conditional_list(branch);
                }
                if let Some(list) = otherwise {
                    self.conditional_list(list);
                }
            }
            CommandKind::While { condition, body, .. } => {
                self.repeated_list(condition);
                self.repeated_list(body);
            }
            CommandKind::For { kind, name, words, body } => {
                self.note_loop(name.span, span);
                self.loop_variable(*kind, name, words.as_deref());
                self.repeated_list(body);
            }
            CommandKind::ArithmeticFor { expressions, body } => {
                self.note_loop(expressions.span, span);
                self.arithmetic(expressions);
                self.repeated_list(body);
            }
            CommandKind::Case { word, clauses } => {
                self.pieces(&word.pieces);
                for clause in clauses {
                    for pattern in &clause.patterns {
                        self.pieces(&pattern.pieces);
                    }
                    self.conditional_list(&clause.body);
                }
            }
            CommandKind::Arithmetic(expression) => self.arithmetic(expression),
            CommandKind::Test(test) => self.test(test),
            CommandKind::Function { name, body } => self.function(name, body, span),
            CommandKind::Coprocess { name, body } => self.coprocess(name.as_ref(), body, span),
        }
    }

    fn conditional_list(&mut self, list: &List) {
        self.maybe(|walker| walker.list(list));
    }

    fn repeated_list(&mut self, list: &List) {
        let outer = std::mem::replace(&mut self.repeated, true);
        self.conditional_list(list);
        self.repeated = outer;
    }

    fn note_loop(&mut self, header: Span, whole: Span) {
        let rest = Span::new(header.end, whole.end.max(header.end));
        self.findings.loops.push(Loop { header, rest });
    }

    fn loop_variable(&mut self, kind: LoopKind, name: &Text, words: Option<&[Text]>) {
        self.pieces(&name.pieces);
        if !name.plain().is_some_and(crate::parse::is_name) {
            self.doubt(name.span, "the variable of this loop has no valid name");
        }
        let mut values = Vec::new();
        for word in words.unwrap_or_default() {
            self.pieces(&word.pieces);
            values.extend(self.words(word, Context::Argument).into_iter().map(|word| word.value));
        }
        if words.is_none() {
            values.push(super::value::positional());
        }
        if kind == LoopKind::Select {
            // An answer that names no item.
            values.push(Value::Known(String::new()));
        }
        let mut variables = vec![(self.written(name), values)];
        if kind == LoopKind::Select {
            variables.push(("REPLY".into(), Vec::new()));
        }
        self.shell_sets(name.span, variables);
    }

    fn function(&mut self, name: &Text, body: &Command, span: Span) {
        self.pieces(&name.pieces);
        let text = self.value(&name.pieces, Context::Quiet);
        let text = text.known().map_or_else(|| name.span.of(self.text).to_owned(), str::to_owned);
        let constructs = Arc::clone(&self.constructs);
        self.findings.functions.push(Function { name: text.clone(), span, constructs });
        // Its caller decides what it reads.
        self.with_input(Input::Other, |walker| {
            walker.inside(Construct::Function(text), |walker| walker.command(body, None));
        });
    }

    fn coprocess(&mut self, name: Option<&Text>, body: &Command, span: Span) {
        let array = name.map_or_else(|| "COPROC".into(), |name| self.written(name));
        let process = format!("{array}_PID");
        self.shell_sets(span, vec![(array, Vec::new()), (process, Vec::new())]);
        name.iter().for_each(|name| self.pieces(&name.pieces));
        self.with_input(Input::Other, |walker| {
            walker.inside(Construct::Coprocess, |walker| walker.command(body, None));
        });
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::Both(left, right) => {
                self.test(left);
                self.test(right);
            }
            Test::Inner(test) => self.test(test),
            // `-v` evaluates a subscript in its operand.
            Test::Unary('v' | 'R', operand) => self.arithmetic(operand),
            Test::Unary(_, operand) => self.pieces(&operand.pieces),
            Test::Binary(left, TestOperator::Number, right) => {
                self.arithmetic(left);
                self.arithmetic(right);
            }
            Test::Binary(left, _, right) => {
                self.pieces(&left.pieces);
                self.pieces(&right.pieces);
            }
        }
    }
}

/// Whether a redirect changes standard input.
fn changes_stdin(redirect: &Redirect) -> bool {
    matches!(redirect.descriptor, Descriptor::Default | Descriptor::Number(0))
        && match redirect.operator {
            RedirectOperator::Read
            | RedirectOperator::ReadWrite
            | RedirectOperator::DuplicateIn
            | RedirectOperator::HereDocument
            | RedirectOperator::HereString => true,
            RedirectOperator::Write
            | RedirectOperator::Append
            | RedirectOperator::Clobber
            | RedirectOperator::DuplicateOut => redirect.descriptor == Descriptor::Number(0),
            RedirectOperator::WriteBoth | RedirectOperator::AppendBoth => false,
        }
}
