//! The marks of what `rable` reads.

use rable::{ListOperator, Node, NodeKind, PipeSep};

use super::mark::Mark;

/// If a background command has more marks, its text is left to the other reader.
const MAX_BACKGROUND_MARKS: usize = 4096;

/// The marks. `None` if it refuses the text, or finds something that has no mark.
pub(super) fn marks(text: &str) -> Option<Vec<Mark>> {
    let nodes = rable::parse(text, false).ok()?;
    let mut marks = Marks(Vec::new());
    for node in &nodes {
        marks.node(node)?;
    }
    Some(marks.0)
}

struct Marks(Vec<Mark>);

impl Marks {
    fn begin(&mut self, kind: &'static str) {
        self.0.push(Mark::Begin(kind));
    }

    fn end(&mut self) {
        self.0.push(Mark::End);
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        match &node.kind {
            NodeKind::Command { assignments, words, redirects } => {
                self.begin("command");
                for assignment in assignments {
                    let NodeKind::Word { value, .. } = &assignment.kind else { return None };
                    self.0.push(Mark::assignment(value));
                }
                for word in words {
                    self.word(word)?;
                }
                return self.redirects(redirects);
            }
            NodeKind::List { items } => return self.list(items),
            NodeKind::Pipeline { commands, separators } => {
                self.begin("pipeline");
                for (index, command) in commands.iter().enumerate() {
                    self.node(command)?;
                    if separators.get(index) == Some(&PipeSep::PipeBoth) {
                        self.both();
                    }
                }
                self.end();
                return Some(());
            }
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => return self.node(pipeline),
            NodeKind::Comment { .. } | NodeKind::Empty => return Some(()),
            _ => {}
        }
        self.compound(node)
    }

    /// Adds the redirect of `|&`, which rable's tree has for some commands and not for others.
    fn both(&mut self) {
        let both = Mark::both();
        if !self.0.ends_with(&both) {
            self.0.extend(both);
        }
    }

    fn list(&mut self, items: &[rable::ListItem]) -> Option<()> {
        // The `&` of a background command comes behind it in the list, when its marks are there already.
        let mut start = self.0.len();
        for item in items {
            self.node(&item.command)?;
            match item.operator {
                Some(ListOperator::And) => self.begin("&&"),
                Some(ListOperator::Or) => self.begin("||"),
                Some(ListOperator::Semi) | None => start = self.0.len(),
                // rable nests a long list of background commands, and the marks of all would move for each.
                Some(ListOperator::Background) if self.0.len() - start > MAX_BACKGROUND_MARKS => return None,
                Some(ListOperator::Background) => {
                    self.0.insert(start, Mark::Begin("background"));
                    self.end();
                    start = self.0.len();
                }
            }
        }
        Some(())
    }

    fn compound(&mut self, node: &Node) -> Option<()> {
        let none = Vec::new();
        let redirects = match &node.kind {
            NodeKind::Subshell { body, redirects } => self.block("subshell", body, redirects)?,
            NodeKind::BraceGroup { body, redirects } => self.block("group", body, redirects)?,
            NodeKind::If { condition, then_body, else_body, redirects } => {
                self.begin("if");
                self.node(condition)?;
                self.begin("then");
                self.node(then_body)?;
                if let Some(body) = else_body {
                    self.begin("else");
                    self.node(body)?;
                }
                redirects
            }
            NodeKind::While { condition, body, redirects } => {
                self.looped("while", condition, body, redirects)?
            }
            NodeKind::Until { condition, body, redirects } => {
                self.looped("until", condition, body, redirects)?
            }
            NodeKind::For { var, words, body, redirects } => {
                self.begin("for");
                self.over_words(var, words.as_deref(), body)?;
                redirects
            }
            NodeKind::Select { var, words, body, redirects } => {
                self.begin("select");
                self.over_words(var, words.as_deref(), body)?;
                redirects
            }
            NodeKind::ForArith { body, redirects, .. } => self.block("for ((", body, redirects)?,
            NodeKind::Case { word, patterns, redirects } => {
                self.begin("case");
                self.word(word)?;
                for clause in patterns {
                    self.begin("clause");
                    for pattern in &clause.patterns {
                        self.word(pattern)?;
                    }
                    self.begin("body");
                    if let Some(body) = &clause.body {
                        self.node(body)?;
                    }
                }
                redirects
            }
            NodeKind::ArithmeticCommand { raw_content, redirects, .. } => {
                self.begin("((");
                self.0.push(Mark::name(raw_content.trim()));
                redirects
            }
            NodeKind::ConditionalExpr { body, redirects } => {
                self.begin("[[");
                self.test(body)?;
                redirects
            }
            NodeKind::Function { name, body } => {
                self.begin("function");
                self.0.push(Mark::name(name));
                self.node(body)?;
                &none
            }
            NodeKind::Coproc { name, command } => {
                self.begin("coproc");
                self.0.extend(name.as_deref().map(Mark::name));
                self.node(command)?;
                &none
            }
            _ => return None,
        };
        self.end();
        self.redirects(redirects)
    }

    fn block<'a>(
        &mut self,
        kind: &'static str,
        body: &Node,
        redirects: &'a Vec<Node>,
    ) -> Option<&'a Vec<Node>> {
        self.begin(kind);
        self.node(body)?;
        Some(redirects)
    }

    fn looped<'a>(
        &mut self,
        kind: &'static str,
        condition: &Node,
        body: &Node,
        redirects: &'a Vec<Node>,
    ) -> Option<&'a Vec<Node>> {
        self.begin(kind);
        self.node(condition)?;
        self.begin("do");
        self.node(body)?;
        Some(redirects)
    }

    fn over_words(&mut self, name: &str, words: Option<&[Node]>, body: &Node) -> Option<()> {
        self.0.push(Mark::name(name));
        for word in words? {
            self.word(word)?;
        }
        self.begin("do");
        self.node(body)
    }

    fn word(&mut self, word: &Node) -> Option<()> {
        let NodeKind::Word { value, parts, .. } = &word.kind else { return None };
        let substitution = |part: &&Node| {
            matches!(part.kind, NodeKind::CommandSubstitution { .. } | NodeKind::ProcessSubstitution { .. })
        };
        if parts.iter().any(|part| matches!(part.kind, NodeKind::Array { .. })) || array(value) {
            self.0.push(Mark::assignment(value));
        } else {
            self.0.push(Mark::word(value, Some(parts.iter().filter(substitution).count())));
        }
        Some(())
    }

    fn redirects(&mut self, redirects: &[Node]) -> Option<()> {
        redirects.iter().try_for_each(|redirect| self.redirect(redirect))
    }

    fn redirect(&mut self, redirect: &Node) -> Option<()> {
        match &redirect.kind {
            NodeKind::Redirect { op, target, fd, varfd } => {
                let descriptor = match varfd {
                    Some(name) => format!("{{{name}}}"),
                    None => number(*fd),
                };
                if matches!(op.as_str(), ">&-" | "<&-") {
                    self.0.push(Mark::close(&descriptor));
                    return Some(());
                }
                self.0.push(Mark::Redirect(descriptor + op));
                self.word(target)
            }
            NodeKind::HereDoc { content, fd, .. } => {
                self.0.push(Mark::Redirect(number(*fd) + "<<"));
                self.0.push(Mark::document(content));
                Some(())
            }
            _ => None,
        }
    }

    fn test(&mut self, test: &Node) -> Option<()> {
        match &test.kind {
            NodeKind::CondAnd { left, right } | NodeKind::CondOr { left, right } => {
                self.test(left)?;
                self.test(right)
            }
            NodeKind::CondNot { operand } => self.test(operand),
            NodeKind::CondParen { inner } => self.test(inner),
            NodeKind::UnaryTest { operand, .. } => self.test(operand),
            NodeKind::BinaryTest { left, right, .. } => {
                self.test(left)?;
                self.test(right)
            }
            NodeKind::CondTerm { value, .. } => {
                self.0.push(Mark::Name(value.clone()));
                Some(())
            }
            _ => None,
        }
    }
}

fn number(descriptor: i32) -> String {
    if descriptor < 0 { String::new() } else { descriptor.to_string() }
}

/// Whether a word is an array's assignment, as an argument of `declare`.
fn array(word: &str) -> bool {
    word.ends_with(')')
        && word.split_once("=(").is_some_and(|(name, _)| crate::parse::is_name(name.trim_end_matches('+')))
}
