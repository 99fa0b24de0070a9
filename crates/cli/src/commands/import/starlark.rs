//! Reads calls like `prefix_rule(pattern = ["git", "push"], decision = "prompt")` from a file of Codex's rules.
//!
//! The files are Starlark, a programming language. Only calls with literal arguments are read; every other statement is
//! handed back as text, so that it can be named.

/// A statement at the top of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// A call with literal arguments.
    Call { name: String, arguments: Vec<(String, Literal)>, line: usize },
    /// Anything else: its first line.
    Other { text: String, line: usize },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Text(String),
    List(Vec<Self>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Mark(char),
    /// What no literal has.
    Unknown,
}

/// Deeper lists are not rules.
const MAX_DEPTH: u32 = 8;

/// The statements of a file.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    chunks(text).into_iter().map(|(line, chunk)| statement(line, &chunk)).collect()
}

/// The text of each statement, with the number of its first line. A statement begins at the start of a line, and goes on while
/// a bracket or a string is open.
fn chunks(text: &str) -> Vec<(usize, String)> {
    let mut chunks: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (line, number) in text.lines().zip(1..) {
        let goes_on = open || line.starts_with([' ', '\t', ')', ']']);
        match chunks.last_mut() {
            Some((_, chunk)) if goes_on => {
                chunk.push('\n');
                chunk.push_str(line);
            }
            _ if line.trim().is_empty() || line.starts_with('#') => continue,
            _ => chunks.push((number, line.to_owned())),
        }
        open = chunks.last().is_some_and(|(_, chunk)| is_open(chunk));
    }
    chunks
}

fn is_open(chunk: &str) -> bool {
    let depth = tokens(chunk).iter().fold(0_i32, |depth, token| match token {
        Token::Mark('(' | '[') => depth + 1,
        Token::Mark(')' | ']') => depth - 1,
        _ => depth,
    });
    depth > 0
}

fn statement(line: usize, chunk: &str) -> Statement {
    let tokens = tokens(chunk);
    let mut reader = Reader { tokens: &tokens };
    match reader.call().filter(|_| reader.tokens.is_empty()) {
        Some((name, arguments)) => Statement::Call { name, arguments, line },
        None => Statement::Other { text: chunk.lines().next().unwrap_or_default().to_owned(), line },
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
}

impl Reader<'_> {
    fn next(&mut self) -> Option<&Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn take(&mut self, mark: char) -> Option<()> {
        (self.next()? == &Token::Mark(mark)).then_some(())
    }

    fn is(&self, mark: char) -> bool {
        self.tokens.first() == Some(&Token::Mark(mark))
    }

    fn name(&mut self) -> Option<String> {
        match self.next()? {
            Token::Name(name) => Some(name.clone()),
            _ => None,
        }
    }

    fn call(&mut self) -> Option<(String, Vec<(String, Literal)>)> {
        let name = self.name()?;
        self.take('(')?;
        let mut arguments = Vec::new();
        while !self.is(')') {
            let key = self.name()?;
            self.take('=')?;
            arguments.push((key, self.literal(0)?));
            if !self.is(')') {
                self.take(',')?;
            }
        }
        self.take(')')?;
        Some((name, arguments))
    }

    fn literal(&mut self, depth: u32) -> Option<Literal> {
        match self.next()? {
            Token::Text(text) => Some(Literal::Text(text.clone())),
            Token::Mark('[') if depth < MAX_DEPTH => {
                let mut list = Vec::new();
                while !self.is(']') {
                    list.push(self.literal(depth + 1)?);
                    if !self.is(']') {
                        self.take(',')?;
                    }
                }
                self.take(']')?;
                Some(Literal::List(list))
            }
            _ => None,
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            '"' | '\'' => tokens.push(string(c, &mut rest)),
            c if c.is_whitespace() => {}
            c if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::from(c);
                while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                tokens.push(Token::Name(name));
            }
            '(' | ')' | '[' | ']' | ',' | '=' => tokens.push(Token::Mark(c)),
            _ => tokens.push(Token::Unknown),
        }
    }
    tokens
}

/// A string up to its closing quote. One with an escape that isn't `\\`, a quote or a blank, or without an end, is unknown.
fn string(quote: char, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Token {
    let mut text = String::new();
    let mut known = true;
    while let Some(c) = rest.next() {
        match c {
            c if c == quote => return if known { Token::Text(text) } else { Token::Unknown },
            '\\' => match rest.next() {
                Some(c @ ('\\' | '"' | '\'')) => text.push(c),
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                _ => known = false,
            },
            c => text.push(c),
        }
    }
    Token::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_and_everything_else_is_handed_back() {
        let text = "# rules\nprefix_rule(\n    pattern = [\"gh\", [\"pr\", 'issue']],  # two\n    decision = \"prompt\",\n)\n\n\
                    x = 1\nfor word in [\"a\"]:\n    prefix_rule(pattern = [word])\nprefix_rule(pattern=[\"a\" + \"b\"])\n";
        let list =
            |words: &[&str]| Literal::List(words.iter().map(|w| Literal::Text((*w).to_owned())).collect());
        let found = statements(text);
        let pattern = Literal::List(vec![Literal::Text("gh".to_owned()), list(&["pr", "issue"])]);
        assert_eq!(
            found[0],
            Statement::Call {
                name: "prefix_rule".to_owned(),
                arguments: vec![
                    ("pattern".to_owned(), pattern),
                    ("decision".to_owned(), Literal::Text("prompt".to_owned()))
                ],
                line: 2
            }
        );
        let others: Vec<_> = found[1..]
            .iter()
            .map(|other| match other {
                Statement::Other { text, line } => (text.as_str(), *line),
                Statement::Call { .. } => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            others,
            [("x = 1", 7), ("for word in [\"a\"]:", 8), ("prefix_rule(pattern=[\"a\" + \"b\"])", 10)]
        );
    }

    #[test]
    fn broken_texts_are_no_calls() {
        for text in ["prefix_rule(", "prefix_rule(pattern=[\"a)", "prefix_rule(pattern=[\"\\q\"])", "f(1)"] {
            assert!(matches!(statements(text).as_slice(), [Statement::Other { .. }]), "{text}");
        }
        assert_eq!(statements("\n# a\n"), []);
    }
}
