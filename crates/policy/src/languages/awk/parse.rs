//! The grammar of awk, as far as it matters what a program does.
//!
//! Precedence of operators doesn't matter, and where a real awk refuses a program the grammar may accept it: a refused
//! program does nothing.

use std::collections::BTreeSet;

use super::super::Does;
use super::lex::{Token, is_reserved};
use crate::programs::words;

/// Deeper nesting isn't read.
const MAX_DEPTH: usize = 64;

/// Finds what a program does. `None` if it isn't inside the grammar.
pub(super) fn program(tokens: &[Token]) -> Option<Vec<Does>> {
    let is_function = |pair: &[Token]| match pair {
        [Token::Name(keyword), Token::Name(name) | Token::Call(name)] if keyword == "function" => {
            Some(name.clone())
        }
        _ => None,
    };
    let functions = tokens.windows(2).filter_map(is_function).collect();
    let mut parser = Parser { tokens, next: 0, functions, depth: 0, found: Vec::new() };
    while !parser.is_at_end() {
        parser.item()?;
    }
    Some(parser.found)
}

struct Parser<'t> {
    tokens: &'t [Token],
    next: usize,
    /// Functions that the program defines.
    functions: BTreeSet<String>,
    depth: usize,
    found: Vec<Does>,
}

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// `>` compares.
    Plain,
    /// Behind `print`, outside of parentheses: `>` and `|` send the output elsewhere.
    Output,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn is_at_end(&self) -> bool {
        self.peek().is_none()
    }

    fn sees(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(found)) if *found == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let sees = self.sees(sign);
        self.next += usize::from(sees);
        sees
    }

    fn needs(&mut self, sign: &str) -> Option<()> {
        self.takes(sign).then_some(())
    }

    fn keyword(&self) -> Option<&str> {
        match self.peek()? {
            Token::Name(name) | Token::Call(name) => Some(name),
            _ => None,
        }
    }

    fn skip_newlines(&mut self) {
        while matches!(self.peek(), Some(Token::Newline)) {
            self.next += 1;
        }
    }

    /// Runs `read` one level deeper.
    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        (self.depth < MAX_DEPTH).then_some(())?;
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// A function, or a pattern with its action.
    fn item(&mut self) -> Option<()> {
        match self.peek()? {
            Token::Newline | Token::Sign(";") => {
                self.next += 1;
                return Some(());
            }
            Token::Sign("{") => return self.block(),
            _ => {}
        }
        match self.keyword() {
            Some("BEGIN" | "END") => {
                self.next += 1;
                return self.block();
            }
            Some("function") => return self.function(),
            _ => {}
        }
        self.expression(Place::Plain)?;
        if self.takes(",") {
            self.expression(Place::Plain)?;
        }
        if self.sees("{") {
            return self.block();
        }
        matches!(self.peek(), None | Some(Token::Newline | Token::Sign(";"))).then_some(())
    }

    fn function(&mut self) -> Option<()> {
        self.next += 1;
        let name = self.keyword()?;
        (!is_reserved(name)).then_some(())?;
        self.next += 1;
        self.needs("(")?;
        while !self.takes(")") {
            let Some(Token::Name(parameter)) = self.peek() else { return None };
            (!is_reserved(parameter) && !self.functions.contains(parameter)).then_some(())?;
            self.next += 1;
            if !self.sees(")") {
                self.needs(",")?;
                self.skip_newlines();
            }
        }
        self.skip_newlines();
        self.block()
    }

    fn block(&mut self) -> Option<()> {
        self.needs("{")?;
        self.nested(|parser| {
            while !parser.takes("}") {
                parser.statement()?;
            }
            Some(())
        })
    }

    /// The end of a simple statement. A closing brace is left for the block.
    fn end(&mut self) -> Option<()> {
        match self.peek() {
            Some(Token::Newline | Token::Sign(";")) => self.next += 1,
            Some(Token::Sign("}")) => {}
            _ => return None,
        }
        Some(())
    }

    fn statement(&mut self) -> Option<()> {
        match self.peek()? {
            Token::Newline | Token::Sign(";") => {
                self.next += 1;
                return Some(());
            }
            Token::Sign("{") => return self.block(),
            _ => {}
        }
        match self.keyword() {
            Some("if" | "while") => {
                self.next += 1;
                self.needs("(")?;
                self.expression(Place::Plain)?;
                self.needs(")")?;
                self.body()
            }
            Some("for") => {
                self.next += 1;
                self.for_header()?;
                self.body()
            }
            Some("do" | "else") => {
                self.next += 1;
                self.body()
            }
            Some("next" | "nextfile" | "break" | "continue") => {
                self.next += 1;
                self.end()
            }
            Some("exit" | "return") => {
                self.next += 1;
                if !matches!(self.peek(), Some(Token::Newline | Token::Sign(";" | "}"))) {
                    self.expression(Place::Plain)?;
                }
                self.end()
            }
            Some("delete") => {
                self.next += 1;
                self.expression(Place::Plain)?;
                self.end()
            }
            Some("print" | "printf") => {
                self.next += 1;
                self.output()?;
                self.end()
            }
            _ => {
                self.expression(Place::Plain)?;
                self.end()
            }
        }
    }

    /// The statement of a loop or condition. Behind the `while` of a `do` there is none.
    fn body(&mut self) -> Option<()> {
        self.skip_newlines();
        if self.sees("}") { Some(()) } else { self.nested(Self::statement) }
    }

    fn for_header(&mut self) -> Option<()> {
        self.needs("(")?;
        for end in [";", ";", ")"] {
            if !self.takes(end) {
                self.expression(Place::Plain)?;
                // `for (key in array)`
                if end == ";" && self.takes(")") {
                    return Some(());
                }
                self.needs(end)?;
            }
            if end == ";" {
                self.skip_newlines();
            }
        }
        Some(())
    }

    /// What follows `print`: expressions, and where they go.
    fn output(&mut self) -> Option<()> {
        if !matches!(self.peek(), Some(Token::Newline | Token::Sign(";" | "}" | ">" | ">>" | "|" | "|&"))) {
            self.list(Place::Output)?;
        }
        let Some(Token::Sign(sign)) = self.peek().cloned() else { return Some(()) };
        if ![">", ">>", "|", "|&"].contains(&sign) {
            return Some(());
        }
        self.next += 1;
        let target = self.target()?;
        if sign == "|&" && target.is_none() {
            self.found.push(Does::Connect);
        }
        self.found.push(if sign.starts_with('|') { Does::Run(target) } else { Does::Write(target) });
        Some(())
    }

    /// A file or command: its text if it is one plain string, and nothing else belongs to it.
    fn target(&mut self) -> Option<Option<String>> {
        let ends = |token: Option<&Token>| {
            matches!(token, None | Some(Token::Newline | Token::Sign(";" | "}" | ")")))
        };
        if let Some(Token::Text(text)) = self.peek().cloned()
            && ends(self.tokens.get(self.next + 1))
        {
            self.next += 1;
            let connects = text.as_deref().is_some_and(super::names_connection);
            return (!connects).then_some(text);
        }
        self.expression(Place::Output)?;
        ends(self.peek()).then_some(None)
    }

    /// Expressions with commas between.
    fn list(&mut self, place: Place) -> Option<()> {
        loop {
            self.expression(place)?;
            if !self.takes(",") {
                return Some(());
            }
            self.skip_newlines();
        }
    }

    fn expression(&mut self, place: Place) -> Option<()> {
        self.nested(|parser| parser.operands(place))
    }

    /// Operands with operators between, or side by side.
    fn operands(&mut self, place: Place) -> Option<()> {
        let start = self.next;
        self.operand()?;
        loop {
            let Some(token) = self.peek() else { return Some(()) };
            match token {
                Token::Sign(
                    "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=" | "?" | ":" | "==" | "!=" | "<" | "<="
                    | ">=" | "~" | "!~" | "+" | "-" | "*" | "/" | "%" | "^",
                ) => {
                    self.next += 1;
                    self.operand()?;
                }
                Token::Sign("&&" | "||") => {
                    self.next += 1;
                    self.skip_newlines();
                    self.operand()?;
                }
                Token::Sign(">") if place == Place::Plain => {
                    self.next += 1;
                    self.operand()?;
                }
                Token::Sign("++" | "--") => self.next += 1,
                Token::Sign("|" | "|&") => {
                    let reads = matches!(self.tokens.get(self.next + 1), Some(Token::Name(name)) if name == "getline");
                    if !reads {
                        return (place == Place::Output).then_some(());
                    }
                    self.pipe(start)?;
                }
                Token::Name(name) if name == "in" => {
                    self.next += 1;
                    let Some(Token::Name(array)) = self.peek() else { return None };
                    (!is_reserved(array)).then_some(())?;
                    self.next += 1;
                }
                Token::Name(_) | Token::Call(_) | Token::Text(_) | Token::Number | Token::Sign("$" | "(") => {
                    self.operand()?
                }
                Token::Sign(_) | Token::Newline => return Some(()),
                // A regular expression beside an operand is a division to some.
                Token::Regex => return None,
            }
        }
    }

    /// `COMMAND | getline [VARIABLE]`, of which the command has been read from `start` on.
    fn pipe(&mut self, start: usize) -> Option<()> {
        let command = match self.tokens.get(start..self.next) {
            Some([Token::Text(text)]) => text.clone(),
            _ => None,
        };
        if command.is_none() && self.sees("|&") {
            self.found.push(Does::Connect);
        }
        self.found.push(Does::Run(command));
        self.next += 2;
        self.variable()
    }

    /// The variable of `getline`, if there is one.
    fn variable(&mut self) -> Option<()> {
        match self.peek() {
            Some(Token::Name(name)) if !is_reserved(name) => self.name(),
            Some(Token::Sign("$")) => self.operand(),
            _ => Some(()),
        }
    }

    fn operand(&mut self) -> Option<()> {
        while matches!(self.peek(), Some(Token::Sign("!" | "-" | "+" | "++" | "--" | "$"))) {
            self.next += 1;
        }
        match self.peek()?.clone() {
            Token::Number | Token::Regex | Token::Text(_) => {
                self.next += 1;
                Some(())
            }
            Token::Sign("(") => self.arguments(),
            Token::Name(name) if name == "getline" => self.getline(),
            Token::Name(name) | Token::Call(name) if is_function(&name) => self.builtin(&name),
            Token::Call(name) if words::AWK_EXTRA_FUNCTIONS.contains(&name.as_str()) => {
                self.next += 1;
                self.arguments()
            }
            Token::Call(name) if self.functions.contains(&name) => {
                self.next += 1;
                self.arguments()
            }
            Token::Name(name) if !is_reserved(&name) => self.name(),
            _ => None,
        }
    }

    /// A variable or an element of an array.
    fn name(&mut self) -> Option<()> {
        if matches!(self.keyword(), Some("ARGV" | "ARGC")) {
            self.found.push(Does::Read(None));
        }
        self.next += 1;
        if self.takes("[") {
            self.list(Place::Plain)?;
            self.needs("]")?;
        }
        Some(())
    }

    /// Expressions in parentheses.
    fn arguments(&mut self) -> Option<()> {
        self.needs("(")?;
        if self.takes(")") {
            return Some(());
        }
        self.list(Place::Plain)?;
        self.needs(")")
    }

    fn builtin(&mut self, name: &str) -> Option<()> {
        self.next += 1;
        if name == "length" && !self.sees("(") {
            return Some(());
        }
        let start = self.next;
        self.arguments()?;
        if name == "system" {
            let command = match self.tokens.get(start..self.next) {
                Some([_, Token::Text(text), _]) => text.clone(),
                _ => None,
            };
            self.found.push(Does::Run(command));
        }
        Some(())
    }

    /// `getline [VARIABLE] [< FILE]`
    fn getline(&mut self) -> Option<()> {
        self.next += 1;
        self.variable()?;
        if self.takes("<") {
            let start = self.next;
            self.operand()?;
            matches!(self.peek(), None | Some(Token::Newline | Token::Sign(")" | ";" | "}"))).then_some(())?;
            let file = match self.tokens.get(start..self.next) {
                Some([Token::Text(text)]) => text.clone(),
                _ => None,
            };
            (!file.as_deref().is_some_and(super::names_connection)).then_some(())?;
            self.found.push(Does::Read(file));
        }
        Some(())
    }
}

fn is_function(name: &str) -> bool {
    words::AWK_FUNCTIONS.contains(&name)
}
