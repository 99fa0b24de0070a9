//! Commands that hold other commands.

use super::keywords::Keyword;
use super::{Parser, Read};
use crate::tree::{CaseClause, Command, CommandKind, List, LoopKind, Piece, PieceKind, Text};

impl Parser<'_> {
    /// Reads one command, without the words that may come before and behind a pipeline.
    pub(super) fn command(&mut self) -> Read<Command> {
        self.skip_blanks();
        let start = self.pos;
        if let Some(kind) = self.compound()? {
            return self.with_redirects(start, kind);
        }
        match self.keyword() {
            Some(Keyword::Function) => self.function(start),
            Some(Keyword::Coproc) => self.coprocess(start),
            Some(_) => self.unexpected(),
            None => self.simple(start),
        }
    }

    /// A compound command, if one begins here.
    pub(super) fn compound(&mut self) -> Read<Option<CommandKind>> {
        if self.peek() == Some(b'(') {
            return self.parenthesis().map(Some);
        }
        let Some(keyword) = self.keyword() else { return Ok(None) };
        let read: fn(&mut Self) -> Read<CommandKind> = match keyword {
            Keyword::If => Self::conditional,
            Keyword::While => |parser| parser.while_loop(false),
            Keyword::Until => |parser| parser.while_loop(true),
            Keyword::For => Self::for_loop,
            Keyword::Select => |parser| parser.word_loop(LoopKind::Select),
            Keyword::Case => Self::case,
            Keyword::Open => Self::group,
            Keyword::OpenTest => Self::test_command,
            _ => return Ok(None),
        };
        self.eat_keyword(keyword);
        read(self).map(Some)
    }

    /// Reads the redirects behind a compound command.
    pub(super) fn with_redirects(&mut self, start: usize, kind: CommandKind) -> Read<Command> {
        let mut redirects = Vec::new();
        let mut end = self.pos;
        while let Some(redirect) = self.redirect()? {
            redirects.push(redirect);
            end = self.pos;
            // After a word, not after the compound command: `( c ) >f then` has no `then`.
            self.reserved = false;
        }
        Ok(Command { span: self.span(start, end), kind, redirects })
    }

    /// Reads what `(` begins: a subshell, or an arithmetic command.
    fn parenthesis(&mut self) -> Read<CommandKind> {
        let start = self.pos;
        if self.reserved
            && self.peek_second() == Some(b'(')
            && let Some(expression) = self.arithmetic_command()?
        {
            self.reserved = true;
            return Ok(CommandKind::Arithmetic(expression));
        }
        self.pos = start + 1;
        self.reserved = true;
        let list = self.full_list()?;
        if !self.eat(b")") {
            return self.unclosed(start, "`(`");
        }
        self.reserved = true;
        Ok(CommandKind::Subshell(list))
    }

    /// An error about a construct that was opened at `start` and isn't closed here.
    pub(super) fn unclosed<T>(&mut self, start: usize, what: &str) -> Read<T> {
        match self.peek() {
            None => self.error(start, format!("the {what} is never closed")),
            Some(_) => self.unexpected(),
        }
    }

    /// Passes the reserved word that must come now.
    fn expect(&mut self, start: usize, keyword: Keyword) -> Read<()> {
        self.skip_blanks();
        if self.eat_keyword(keyword) {
            return Ok(());
        }
        match self.peek() {
            None => self.error(start, format!("`{}` is missing for what begins here", keyword.text())),
            Some(_) => self.unexpected(),
        }
    }

    fn group(&mut self) -> Read<CommandKind> {
        let start = self.pos.saturating_sub(1);
        let list = self.full_list()?;
        self.expect(start, Keyword::Close)?;
        Ok(CommandKind::Group(list))
    }

    fn conditional(&mut self) -> Read<CommandKind> {
        let start = self.pos;
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.full_list()?;
            self.expect(start, Keyword::Then)?;
            branches.push((condition, self.full_list()?));
            if self.eat_keyword(Keyword::Elif) {
                continue;
            }
            if self.eat_keyword(Keyword::Else) {
                otherwise = Some(self.full_list()?);
            }
            self.expect(start, Keyword::Fi)?;
            return Ok(CommandKind::If { branches, otherwise });
        }
    }

    fn while_loop(&mut self, until: bool) -> Read<CommandKind> {
        let start = self.pos;
        let condition = self.full_list()?;
        let body = self.done_group(start)?;
        Ok(CommandKind::While { condition, body, until })
    }

    fn done_group(&mut self, start: usize) -> Read<List> {
        self.expect(start, Keyword::Do)?;
        let body = self.full_list()?;
        self.expect(start, Keyword::Done)?;
        Ok(body)
    }

    /// `do …; done` or `{ …; }`.
    fn loop_body(&mut self, start: usize) -> Read<List> {
        self.skip_blanks();
        if !self.eat_keyword(Keyword::Open) {
            return self.done_group(start);
        }
        let body = self.full_list()?;
        self.expect(start, Keyword::Close)?;
        Ok(body)
    }

    fn for_loop(&mut self) -> Read<CommandKind> {
        let start = self.pos;
        self.skip_blanks();
        if self.ahead(b"((").is_none() {
            return self.word_loop(LoopKind::For);
        }
        let Some(expressions) = self.arithmetic_command()? else {
            return self.error(start, "the `((` after `for` isn't closed by `))`");
        };
        if semicolons(&expressions.pieces) != 2 {
            return self.error(start, "`for ((` needs three expressions, with `;` between them");
        }
        self.reserved = true;
        self.skip_blanks();
        if self.peek() == Some(b';') && !matches!(self.peek_second(), Some(b';' | b'&')) {
            self.pos += 1;
        }
        self.newlines()?;
        let body = self.loop_body(start)?;
        Ok(CommandKind::ArithmeticFor { expressions, body })
    }

    fn word_loop(&mut self, kind: LoopKind) -> Read<CommandKind> {
        let start = self.pos;
        let name = self.required_word()?;
        self.skip_blanks();
        let same_line = self.pos;
        // `do` may follow the name directly, `{` only after a newline or `;`.
        self.reserved = self.word_ahead("do").is_some();
        self.newlines()?;
        let mut words = None;
        if self.eat_word("in") {
            words = Some(self.words_to_terminator()?);
            self.newlines()?;
        } else if self.pos == same_line && self.peek() == Some(b';') {
            self.pos += 1;
            self.reserved = true;
            self.newlines()?;
        }
        let body = self.loop_body(start)?;
        Ok(CommandKind::For { kind, name, words, body })
    }

    /// The words after `in`, and the `;` or newline that ends them.
    fn words_to_terminator(&mut self) -> Read<Vec<Text>> {
        let mut words = Vec::new();
        self.reserved = false;
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => return Ok(words),
                Some(b';') if !matches!(self.peek_second(), Some(b';' | b'&')) => {
                    self.pos += 1;
                    self.reserved = true;
                    return Ok(words);
                }
                None => return self.unexpected(),
                Some(_) => words.push(self.required_word()?),
            }
        }
    }

    fn case(&mut self) -> Read<CommandKind> {
        let start = self.pos;
        let word = self.required_word()?;
        self.newlines()?;
        if !self.eat_word("in") {
            return self.unclosed(start, "`case`");
        }
        let mut clauses = Vec::new();
        loop {
            self.newlines()?;
            if self.eat_word("esac") {
                return Ok(CommandKind::Case { word, clauses });
            }
            let (clause, last) = self.case_clause()?;
            clauses.push(clause);
            if last {
                self.expect(start, Keyword::Esac)?;
                return Ok(CommandKind::Case { word, clauses });
            }
        }
    }

    /// Reads a clause. True if it is the last one, because nothing like `;;` ends it.
    fn case_clause(&mut self) -> Read<(CaseClause, bool)> {
        let start = self.pos;
        self.eat(b"(");
        let mut patterns = Vec::new();
        loop {
            self.reserved = false;
            patterns.push(self.required_word()?);
            self.skip_blanks();
            self.note_extglob();
            if self.eat(b")") {
                break;
            }
            if self.peek_second() == Some(b'|') || !self.eat(b"|") {
                return self.unclosed(start, "pattern");
            }
        }
        self.note_esac(&patterns);
        self.reserved = true;
        let body = self.list()?;
        let last = !(self.eat(b";;&") || self.eat(b";;") || self.eat(b";&"));
        self.reserved = true;
        Ok((CaseClause { patterns, body }, last))
    }
}

impl Parser<'_> {
    /// Bash 5.2 writes a substitution's commands down again after reading them, and forgets the `(` before a pattern.
    /// Then `esac` ends the command, and what follows it is run.
    fn note_esac(&mut self, patterns: &[Text]) {
        if let Some(first) =
            patterns.first().filter(|first| self.in_substitution && first.plain() == Some("esac"))
        {
            self.doubt(first.span, "some versions of bash take this `esac` as the end of the command");
        }
    }
}

/// The number of `;` between expressions.
fn semicolons(pieces: &[Piece]) -> usize {
    let count = |piece: &Piece| match &piece.kind {
        PieceKind::Literal(text) => text.matches(';').count(),
        _ => 0,
    };
    pieces.iter().map(count).sum()
}
