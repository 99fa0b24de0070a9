//! Functions and coprocesses.

use super::keywords::Keyword;
use super::{Parser, Read};
use crate::tree::{Command, CommandKind, Text};

impl Parser<'_> {
    /// `function name [()] body`
    pub(super) fn function(&mut self, start: usize) -> Read<Command> {
        self.eat_keyword(Keyword::Function);
        self.reserved = false;
        let name = self.required_word()?;
        self.note_extglob();
        self.reserved = true;
        self.skip_blanks();
        let paren = self.pos;
        if self.eat(b"(") {
            self.skip_blanks();
            if !self.eat(b")") {
                // `function f ( commands )`
                self.pos = paren;
            }
        }
        self.newlines()?;
        self.function_body(start, name)
    }

    /// What follows `name ()`.
    pub(super) fn function_body(&mut self, start: usize, name: Text) -> Read<Command> {
        if name.plain().is_none() {
            self.doubt(name.span, "the name of this function isn't plain text");
        }
        self.skip_blanks();
        let body_start = self.pos;
        let Some(kind) = self.compound()? else { return self.unexpected() };
        let body = Box::new(self.with_redirects(body_start, kind)?);
        let span = self.span(start, self.pos);
        Ok(Command { span, kind: CommandKind::Function { name, body }, redirects: Vec::new() })
    }

    /// `coproc command` and `coproc NAME compound-command`
    pub(super) fn coprocess(&mut self, start: usize) -> Read<Command> {
        self.eat_keyword(Keyword::Coproc);
        self.skip_blanks();
        let body_start = self.pos;
        if let Some(kind) = self.compound()? {
            let body = self.with_redirects(body_start, kind)?;
            return Ok(self.coprocess_of(start, None, body));
        }
        if self.keyword().is_some() {
            return self.unexpected();
        }
        if self.redirect_ahead() {
            let body = self.simple(body_start)?;
            return Ok(self.simple_coprocess(start, body));
        }
        // A word and a compound command: the word is a name. Else it is a simple command's first word.
        let word = self.assignment_word()?;
        if word.head.is_none() {
            self.skip_blanks();
            self.reserved = true;
            let inner = self.pos;
            if let Some(kind) = self.compound()? {
                let body = self.with_redirects(inner, kind)?;
                return Ok(self.coprocess_of(start, Some(word), body));
            }
            if self.keyword().is_some_and(|keyword| keyword != Keyword::Time) {
                return self.unexpected();
            }
            self.reserved = false;
        }
        let body = self.simple_from(body_start, word)?;
        Ok(self.simple_coprocess(start, body))
    }

    /// Bash 5.2 writes a substitution's commands down again after reading them, and puts a name before this one. Then
    /// the name is the program.
    fn simple_coprocess(&mut self, start: usize, body: Command) -> Command {
        let command = self.coprocess_of(start, None, body);
        if self.in_substitution {
            self.doubt(
                command.span,
                "some versions of bash run another program for a coprocess in a substitution",
            );
        }
        command
    }

    fn coprocess_of(&self, start: usize, name: Option<Text>, body: Command) -> Command {
        let kind = CommandKind::Coprocess { name, body: Box::new(body) };
        Command { span: self.span(start, self.pos), kind, redirects: Vec::new() }
    }
}
