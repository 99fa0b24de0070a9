//! Lists and pipelines.

use super::keywords::Keyword;
use super::{Parser, Read};
use crate::tree::{AndOr, Command, Connector, List, Pipeline, PipelinePrefix, Stage};

/// Bash 5.2 writes a substitution's commands down again after reading them, and forgets a `;` after a here-document.
const LOST_SEMICOLON: &str =
    "some versions of bash lose this `;`, which follows a here-document in a substitution";

impl Parser<'_> {
    /// Reads all of the text.
    pub(super) fn whole(&mut self) -> Read<List> {
        let list = self.list()?;
        match self.peek() {
            None => Ok(list),
            Some(_) => self.unexpected(),
        }
    }

    /// Reads commands up to something that isn't one: the end, `)`, `;;`, `fi` and the like.
    pub(super) fn list(&mut self) -> Read<List> {
        self.deeper(|parser| {
            let mut items = Vec::new();
            let mut lost = None;
            parser.newlines()?;
            while !parser.at_list_end() {
                if let Some(at) = lost.take() {
                    parser.doubt(parser.span(at, at + 1), LOST_SEMICOLON);
                }
                let mut item = parser.and_or()?;
                parser.skip_blanks();
                match parser.peek() {
                    Some(b';') if !matches!(parser.peek_second(), Some(b';' | b'&')) => {
                        lost = (parser.in_substitution && parser.has_here_document).then_some(parser.pos);
                        parser.separator();
                    }
                    Some(b'&') => {
                        item.background = true;
                        parser.separator();
                    }
                    Some(b'\n') => {}
                    _ => {
                        items.push(item);
                        break;
                    }
                }
                items.push(item);
                parser.newlines()?;
            }
            Ok(List { items })
        })
    }

    /// Like `list`, where bash wants at least one command.
    pub(super) fn full_list(&mut self) -> Read<List> {
        let list = self.list()?;
        if list.items.is_empty() { self.unexpected() } else { Ok(list) }
    }

    fn separator(&mut self) {
        self.pos += 1;
        self.reserved = true;
    }

    /// Passes newlines, and reads the here-documents that begin behind them.
    pub(super) fn newlines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => {
                    self.pos += 1;
                    self.reserved = true;
                    self.here_documents()?;
                }
                Some(_) => return Ok(()),
                None => return self.here_documents(),
            }
        }
    }

    fn at_list_end(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_second(), Some(b';' | b'&')),
            _ => matches!(
                self.keyword(),
                Some(
                    Keyword::Then
                        | Keyword::Elif
                        | Keyword::Else
                        | Keyword::Fi
                        | Keyword::Do
                        | Keyword::Done
                        | Keyword::Esac
                        | Keyword::Close
                )
            ),
        }
    }

    fn and_or(&mut self) -> Read<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let connector = if self.eat(b"&&") {
                Connector::And
            } else if self.eat(b"||") {
                Connector::Or
            } else {
                return Ok(AndOr { first, rest, background: false });
            };
            self.reserved = true;
            self.newlines()?;
            rest.push((connector, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        self.skip_blanks();
        let start = self.pos;
        let prefixes = self.prefixes();
        if !prefixes.is_empty() && self.ends_after_prefix(&prefixes) {
            let command = Command::nothing(self.span(self.pos, self.pos));
            let stages = vec![Stage { command, both: None }];
            return Ok(Pipeline { span: self.since(start), prefixes, stages });
        }
        let mut stages = vec![Stage { command: self.command()?, both: None }];
        loop {
            let span = self.since(start);
            self.skip_blanks();
            let bar = self.pos;
            if self.peek() != Some(b'|') || self.peek_second() == Some(b'|') {
                return Ok(Pipeline { span, prefixes, stages });
            }
            self.pos += 1;
            if self.eat(b"&") {
                let span = self.since(bar);
                if let Some(stage) = stages.last_mut() {
                    stage.both = Some(span);
                }
            }
            self.reserved = true;
            self.newlines()?;
            // Bash takes `time` behind a bar as a program, and refuses `!` there.
            if let Some(Keyword::Time) = self.keyword() {
                self.reserved = false;
            }
            stages.push(Stage { command: self.command()?, both: None });
        }
    }

    /// Reads `!` and `time`, as often as they come.
    fn prefixes(&mut self) -> Vec<PipelinePrefix> {
        let mut prefixes = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat_keyword(Keyword::Not) {
                self.note_extglob();
                prefixes.push(PipelinePrefix::Not);
            } else if self.eat_keyword(Keyword::Time) {
                prefixes.push(PipelinePrefix::Time);
                self.skip_blanks();
                if self.eat_word("-p") {
                    self.skip_blanks();
                }
                self.eat_word("--");
            } else {
                return prefixes;
            }
        }
    }

    /// Whether nothing follows `!` or `time`: bash takes that as a command that does nothing.
    fn ends_after_prefix(&mut self, prefixes: &[PipelinePrefix]) -> bool {
        match self.peek() {
            None | Some(b'\n') => true,
            Some(b';') => !matches!(self.peek_second(), Some(b';' | b'&')),
            Some(b')') => self.in_substitution && prefixes.last() == Some(&PipelinePrefix::Time),
            _ => false,
        }
    }

    /// An error about what comes next.
    pub(super) fn unexpected<T>(&mut self) -> Read<T> {
        self.skip_blanks();
        let start = self.pos;
        let Some(byte) = self.peek() else {
            return self.error(start, "the text ends where a command or its end should be");
        };
        let mut end = self.char_end(self.pos);
        if !super::cursor::breaks(byte) {
            while self.byte(end).is_some_and(|byte| !super::cursor::breaks(byte)) {
                end = self.char_end(end);
            }
        }
        let found = self.slice(self.pos, end);
        let found = if found == "\n" { "end of the line" } else { &format!("`{found}`") };
        self.error(self.pos, format!("unexpected {found}"))
    }
}
