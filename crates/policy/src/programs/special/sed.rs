//! Scripts of `sed`: which of its commands run, write and read.

use super::super::EffectKind;
use super::super::collector::{Collector, with_text};
use shellgate_syntax::Word;

/// Reads a script, or one of several `-e` pieces. One that can't be read is opaque.
pub(crate) fn sed_script(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    let Some(text) = word.value.known() else {
        collector.effect(word, EffectKind::Opaque(word.clone(), "a sed script that isn't known"));
        return;
    };
    // Versions of sed differ on whether a bracket hides the delimiter (`s/[/]e/x/`). The effects of every reading count.
    let readings = [(true, true), (true, false), (false, false)].map(|(brackets, in_replacement)| {
        let mut effects = Vec::new();
        let read = Script { rest: text, brackets, in_replacement }.commands(&mut effects);
        (read, effects)
    });
    if readings.iter().all(|(read, _)| read.is_none()) {
        collector.effect(word, EffectKind::Opaque(word.clone(), "a sed script that can't be read"));
    }
    let [(_, mut effects), (_, others), (_, more)] = readings;
    for other in others.into_iter().chain(more) {
        if !effects.contains(&other) {
            effects.push(other);
        }
    }
    for does in effects {
        match does {
            Does::Run(command) => {
                collector.effect(word, EffectKind::Inline(word.clone(), "sed"));
                collector.effect(word, EffectKind::Shell(with_text(word, command)));
            }
            Does::RunInput => collector.effect(word, EffectKind::Inline(word.clone(), "sed")),
            Does::Write(file) => collector.effect(word, EffectKind::Writes(with_text(word, file))),
            Does::Read(file) => collector.effect(word, EffectKind::Reads(with_text(word, file))),
        }
    }
}

/// What a command of a script does.
#[derive(Debug, PartialEq, Eq)]
enum Does<'s> {
    Run(&'s str),
    /// Runs the text that it edits.
    RunInput,
    Write(&'s str),
    Read(&'s str),
}

struct Script<'s> {
    rest: &'s str,
    /// Whether a bracket expression hides the delimiter.
    brackets: bool,
    /// Whether a bracket expression in the replacement hides it.
    in_replacement: bool,
}

impl<'s> Script<'s> {
    /// Reads all commands. `None` if the script can't be read.
    fn commands(&mut self, does: &mut Vec<Does<'s>>) -> Option<()> {
        loop {
            self.skip(|c| c.is_ascii_whitespace() || c == ';');
            if self.rest.is_empty() {
                return Some(());
            }
            self.addresses()?;
            self.command(does)?;
        }
    }

    fn command(&mut self, does: &mut Vec<Does<'s>>) -> Option<()> {
        match self.next()? {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {
            }
            '#' => {
                self.line();
            }
            'a' | 'i' | 'c' => self.text()?,
            ':' | 'b' | 't' | 'T' | 'v' => {
                self.skip(|c| c == ' ' || c == '\t');
                self.until(|c| c.is_ascii_whitespace() || c == ';' || c == '}');
            }
            'q' | 'Q' | 'l' | 'L' => self.skip(|c| c.is_ascii_digit() || c == ' '),
            'e' => match self.line().trim() {
                "" => does.push(Does::RunInput),
                command => does.push(Does::Run(command)),
            },
            'w' | 'W' => does.push(Does::Write(self.line().trim_start())),
            'r' | 'R' => does.push(Does::Read(self.line().trim_start())),
            's' => self.substitute(does)?,
            'y' => {
                let mark = self.next()?;
                self.delimited(mark)?;
                self.delimited(mark)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads `s/a/b/flags`, from behind the `s`.
    fn substitute(&mut self, does: &mut Vec<Does<'s>>) -> Option<()> {
        let mark = self.next()?;
        self.delimited(mark)?;
        let brackets = std::mem::replace(&mut self.brackets, self.in_replacement);
        self.delimited(mark)?;
        self.brackets = brackets;
        loop {
            match self.rest.chars().next() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.next();
                }
                Some('e') => {
                    self.next();
                    does.push(Does::RunInput);
                }
                Some('w') => {
                    self.next();
                    does.push(Does::Write(self.line().trim_start()));
                    return Some(());
                }
                None | Some(';' | '\n' | '}' | '#' | ' ' | '\t') => return Some(()),
                Some(_) => return None,
            }
        }
    }

    /// Passes the addresses before a command: `1`, `$`, `/re/I`, `\,re,`, `1~2`, `,+3`, `!`.
    fn addresses(&mut self) -> Option<()> {
        loop {
            match self.rest.chars().next()? {
                '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t' => {
                    self.next();
                }
                '/' => {
                    self.next();
                    self.delimited('/')?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                '\\' => {
                    self.next();
                    let mark = self.next()?;
                    self.delimited(mark)?;
                    self.skip(|c| c == 'I' || c == 'M');
                }
                _ => return Some(()),
            }
        }
    }

    /// Passes the text up to the next `mark` that no backslash and no bracket hides, and the mark.
    fn delimited(&mut self, mark: char) -> Option<()> {
        if mark == '\\' || mark == '\n' {
            return None;
        }
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '[' if self.brackets => self.bracket()?,
                c if c == mark => return Some(()),
                _ => {}
            }
        }
    }

    /// Passes the rest of `[…]`. A `]` that comes first is part of it, and so is a class like `[:alpha:]`.
    fn bracket(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        self.rest = self.rest.strip_prefix(']').unwrap_or(self.rest);
        loop {
            match self.next()? {
                ']' => return Some(()),
                '[' if self.rest.starts_with([':', '.', '=']) => {
                    let mark = self.next()?;
                    while !(self.next()? == mark && self.rest.starts_with(']')) {}
                    self.next();
                }
                _ => {}
            }
        }
    }

    /// Passes the text of `a`, `i`, `c`: up to the end of the line, and the next line too if this one ends in a backslash.
    fn text(&mut self) -> Option<()> {
        loop {
            let line = self.line();
            if line.ends_with("\\\\") {
                return None;
            }
            if !line.ends_with('\\') || self.rest.is_empty() {
                return Some(());
            }
        }
    }

    fn line(&mut self) -> &'s str {
        let line = self.until(|c| c == '\n');
        self.next();
        line
    }

    fn until(&mut self, end: impl Fn(char) -> bool) -> &'s str {
        let (taken, rest) =
            self.rest.split_at_checked(self.rest.find(end).unwrap_or(self.rest.len())).unwrap_or(("", ""));
        self.rest = rest;
        taken
    }

    fn skip(&mut self, part: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(part);
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let first = characters.next();
        self.rest = characters.as_str();
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn does(text: &str) -> Option<Vec<Does<'_>>> {
        let mut does = Vec::new();
        Script { rest: text, brackets: true, in_replacement: true }.commands(&mut does).map(|()| does)
    }

    #[test]
    fn plain_scripts_do_nothing_else() {
        for text in [
            "1,2p",
            "s/a/b/g; s/c/d/",
            "/ERROR/,/WARN/p",
            "s|/usr|/opt|g",
            "$!{N;D}",
            ":a;N;$!ba;s/\n/ /g", // typos: ignore-line
            "y/abc/xyz/",
            "/x/{s/e/w/;p}",
            "1i\\\nw file",
            "a e id",
            "s/[^/]*$//",
            "\\,e,d",
            "2q5",
            "/a/!d # e id",
        ] {
            assert_eq!(does(text), Some(Vec::new()), "{text}");
        }
    }

    #[test]
    fn commands_that_run_and_write_are_found_anywhere() {
        assert_eq!(does("1e rm x"), Some(vec![Does::Run("rm x")]));
        assert_eq!(does("e"), Some(vec![Does::RunInput]));
        assert_eq!(does("s/b/B/e"), Some(vec![Does::RunInput]));
        assert_eq!(does("s,b,B,gw out"), Some(vec![Does::Write("out")]));
        assert_eq!(does("/a/{p;w out\n}"), Some(vec![Does::Write("out")]));
        assert_eq!(does("a text\ne id"), Some(vec![Does::Run("id")]));
        assert_eq!(does(":a\ne id"), Some(vec![Does::Run("id")]));
        assert_eq!(does("r x\nW y"), Some(vec![Does::Read("x"), Does::Write("y")]));
        assert_eq!(does("p;$e id"), Some(vec![Does::Run("id")]));
    }

    #[test]
    fn what_cannot_be_read_is_not_guessed() {
        for text in ["s/a", "k", "a x\\\\\ne id", "s/a/b/k"] {
            assert_eq!(does(text), None, "{text}");
        }
    }
}
