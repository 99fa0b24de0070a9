//! Simple commands.

use super::words::WordPosition;
use super::{Parser, Read};
use crate::builtins;
use crate::tree::{Command, CommandKind, SimpleCommand, Text};

impl Parser<'_> {
    /// The simple command that begins at `start`, or the function that turns out to be defined there.
    pub(super) fn simple(&mut self, start: usize) -> Read<Command> {
        self.rest(start, SimpleCommand::default(), false)
    }

    /// A simple command whose first word or assignment was read already.
    pub(super) fn simple_from(&mut self, start: usize, first: Text) -> Read<Command> {
        let mut command = SimpleCommand::default();
        let declares = put(first, &mut command);
        self.rest(start, command, declares)
    }

    fn rest(&mut self, start: usize, mut command: SimpleCommand, mut declares: bool) -> Read<Command> {
        let mut end = self.pos;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                command.redirects.push(redirect);
                declares = false;
            } else {
                match self.peek() {
                    None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                    Some(b'(') => return self.definition(start, command),
                    Some(_) => self.element(&mut command, &mut declares)?,
                }
            }
            end = self.pos;
            self.reserved = false;
        }
        if command.is_empty() {
            return self.unexpected();
        }
        // Blanks and a comment behind it are no part of it.
        self.pos = end;
        command.words.shrink_to_fit();
        Ok(Command { span: self.span(start, end), kind: CommandKind::Simple(command), redirects: Vec::new() })
    }

    /// An assignment or a word.
    fn element(&mut self, command: &mut SimpleCommand, declares: &mut bool) -> Read<()> {
        if command.words.is_empty() {
            let word = self.assignment_word()?;
            *declares = put(word, command);
        } else {
            let word = self.word(if *declares { WordPosition::Declaration } else { WordPosition::Plain })?;
            if word.pieces.is_empty() {
                return self.unexpected();
            }
            command.words.push(word);
        }
        self.note_extglob();
        Ok(())
    }

    /// `name ()` and what follows.
    fn definition(&mut self, start: usize, mut command: SimpleCommand) -> Read<Command> {
        let open = self.pos;
        let name: Option<Text> = match command.words.len() {
            1 if command.assignments.is_empty() && command.redirects.is_empty() => command.words.pop(),
            _ => None,
        };
        let Some(name) = name else { return self.unexpected() };
        self.pos += 1;
        self.skip_blanks();
        if !self.eat(b")") {
            self.pos = open;
            return self.unexpected();
        }
        self.reserved = true;
        self.newlines()?;
        self.function_body(start, name)
    }
}

/// Adds a word to a command that has no program yet: as an assignment, or as the program. True if the program's arguments may
/// be arrays.
fn put(word: Text, command: &mut SimpleCommand) -> bool {
    if word.head.is_some() {
        command.assignments.push(word);
        return false;
    }
    let declares = word.plain().is_some_and(builtins::takes_arrays);
    command.words.push(word);
    declares
}
