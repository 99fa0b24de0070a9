//! Scripts of sed: the part that GNU sed and busybox read alike.
//!
//! Each piece of a script (`-e`) is read by itself, and must be complete by itself. Versions differ on three things.
//! - Whether a bracket hides the delimiter of a regular expression: [`delimited`] compares the ways.
//! - Whether a label ends at a semicolon. If not, the rest of its line isn't read. So nothing that goes on in the
//!   next line may follow a label.
//! - What a backslash at the end of a line does. It is accepted only in texts and replacements, where it continues them.

mod delimited;
#[cfg(test)]
mod tests;

use super::Does;

/// Signs that all versions take as delimiter.
const DELIMITERS: &[char] = &['/', ',', '|', '#', '@', '!', ':', '~', '_', '%', '+', '=', '"', '\'', '^'];

/// Reads a script, or one piece of it. `None` if it isn't inside the grammar.
pub(crate) fn read(text: &str) -> Option<Vec<Does>> {
    (!has_odd_characters(text)).then_some(())?;
    let mut script = Script { rest: text, label_in_line: false, found: Vec::new() };
    while !script.rest.is_empty() {
        script.command()?;
    }
    Some(script.found)
}

/// Whether a piece ends in the middle of a text: `$a\`. It does nothing else. As the last piece it adds an empty text or
/// is refused; the next piece would be its text.
pub(crate) fn is_open(text: &str) -> bool {
    let Some(before) = text.strip_suffix('\\') else { return false };
    before.ends_with(['a', 'i', 'c']) && read(&format!("{before}x")).is_some_and(|found| found.is_empty())
}

/// Whether there are control characters, or characters that swallow the sign behind them in some locales.
fn has_odd_characters(text: &str) -> bool {
    let odd = |c: char| c.is_control() && !['\n', '\t'].contains(&c);
    let swallowed = |c: char| c.is_ascii_punctuation() && c >= '@';
    text.contains(odd)
        || text.chars().zip(text.chars().skip(1)).any(|(before, c)| !before.is_ascii() && swallowed(c))
}

struct Script<'s> {
    rest: &'s str,
    /// Whether a label stands before, in the same line.
    label_in_line: bool,
    found: Vec<Does>,
}

impl<'s> Script<'s> {
    fn command(&mut self) -> Option<()> {
        match self.peek()? {
            ' ' | '\t' | ';' => {
                self.next();
                return Some(());
            }
            '\n' => {
                self.next();
                self.label_in_line = false;
                return Some(());
            }
            '#' => return self.line().map(|_| ()),
            _ => {}
        }
        self.addresses()?;
        match self.next()? {
            '{' => Some(()),
            '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {
                self.end()
            }
            'q' | 'Q' | 'l' => {
                self.skip_blanks();
                self.digits();
                self.end()
            }
            'a' | 'i' | 'c' => self.text(),
            ':' | 'b' | 't' | 'T' => self.label(),
            'e' => {
                let command = self.line()?.trim();
                self.found.push(Does::Run((!command.is_empty()).then(|| command.to_owned())));
                Some(())
            }
            'w' | 'W' => {
                let file = self.file()?;
                self.found.push(Does::Write(Some(file)));
                Some(())
            }
            'r' | 'R' => {
                let file = self.file()?;
                self.found.push(Does::Read(Some(file)));
                Some(())
            }
            's' => self.substitute(),
            'y' => self.transliterate(),
            _ => None,
        }
    }

    /// The end of a command that takes no more words. A closing brace is a command of its own.
    fn end(&mut self) -> Option<()> {
        self.skip_blanks();
        matches!(self.peek(), None | Some('\n' | ';' | '}' | '#')).then_some(())
    }

    /// Passes the addresses before a command: `1`, `$`, `/re/I`, `\,re,`, `1~2`, `,+3`, `!`.
    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.skip_blanks();
            if self.takes(',') {
                self.skip_blanks();
                if self.takes('+') || self.takes('~') {
                    (self.digits() > 0).then_some(())?;
                } else {
                    self.address()?.then_some(())?;
                }
            }
        }
        self.skip_blanks();
        while self.takes('!') {
            self.skip_blanks();
        }
        Some(())
    }

    /// Passes one address. False if there is none.
    fn address(&mut self) -> Option<bool> {
        match self.peek()? {
            '0'..='9' => {
                self.digits();
                if self.takes('~') {
                    (self.digits() > 0).then_some(())?;
                }
            }
            '$' => {
                self.next();
            }
            '/' | '\\' => {
                let mut mark = self.next()?;
                if mark == '\\' {
                    mark = self.next().filter(|mark| DELIMITERS.contains(mark))?;
                }
                let (inside, behind) = delimited::regex(self.rest, mark)?;
                if inside.plain_differs {
                    let behind = delimited::plain(self.rest, mark)?;
                    delimited::is_no_command(behind).then_some(())?;
                }
                self.rest = behind.trim_start_matches(['I', 'M']);
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Reads `s/a/b/flags`, from behind the `s`.
    fn substitute(&mut self) -> Option<()> {
        let mark = self.next().filter(|mark| DELIMITERS.contains(mark))?;
        let (inside, behind) = delimited::regex(self.rest, mark)?;
        if inside.plain_differs {
            let flags = delimited::plain(self.rest, mark).and_then(|rest| delimited::plain(rest, mark));
            flags.is_none_or(delimited::is_no_flag).then_some(())?;
        }
        self.rest = behind;
        let before = self.rest;
        self.rest = delimited::replacement(self.rest, mark)?;
        let replacement = before.get(..before.len() - self.rest.len())?;
        self.stays_in_line(replacement)?;
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.next();
                }
                Some('e') => {
                    self.next();
                    self.found.push(Does::Run(None));
                }
                Some('w') => {
                    self.next();
                    let file = self.file()?;
                    self.found.push(Does::Write(Some(file)));
                    return Some(());
                }
                _ => return self.end(),
            }
        }
    }

    /// Reads `y/abc/xyz/`, from behind the `y`. Some versions look for brackets here too.
    fn transliterate(&mut self) -> Option<()> {
        let mark = self.next().filter(|mark| DELIMITERS.contains(mark))?;
        for _ in 0..2 {
            let behind = delimited::plain(self.rest, mark)?;
            let inside = self.rest.get(..self.rest.len() - behind.len())?;
            (!inside.contains('[')).then_some(())?;
            self.rest = behind;
        }
        self.end()
    }

    /// Reads the text of `a`, `i`, `c`: the rest of the line, and the next line too if this one ends in a backslash.
    fn text(&mut self) -> Option<()> {
        self.skip_blanks();
        let before = self.rest;
        (!before.lines().next()?.ends_with("\\\\")).then_some(())?;
        if self.takes('\\') && !self.takes('\n') {
            self.skip_blanks();
            (self.peek()? != '\n').then_some(())?;
        }
        let mut is_first = true;
        loop {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            let (line, rest) = self.rest.split_at_checked(end)?;
            (!(is_first && line.trim().is_empty())).then_some(())?;
            self.rest = rest;
            if !line.ends_with('\\') {
                break;
            }
            (!line.ends_with("\\\\") && self.takes('\n')).then_some(())?;
            is_first = false;
        }
        self.stays_in_line(before.get(..before.len() - self.rest.len())?)
    }

    /// Reads a label. Some versions take a brace behind it for a part of it, and some the rest of the line.
    fn label(&mut self) -> Option<()> {
        self.skip_blanks();
        self.rest =
            self.rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || ['_', '-', '.'].contains(&c));
        self.label_in_line = true;
        let behind = self.rest.trim_start_matches('}');
        matches!(behind.chars().next(), None | Some(' ' | '\t' | '\n' | ';')).then_some(())?;
        self.end()
    }

    /// A construct of several lines must not follow a label in its line.
    fn stays_in_line(&self, text: &str) -> Option<()> {
        (!self.label_in_line || !text.contains('\n')).then_some(())
    }

    /// The name of a file: the rest of the line. Signs that end it for some versions aren't accepted.
    fn file(&mut self) -> Option<String> {
        self.skip_blanks();
        let name = self.line()?;
        let plain = |c: char| c.is_alphanumeric() || "_-./+,:@%=".contains(c);
        (!name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
    }

    /// The rest of the line, which must not end in a backslash. Its end is left.
    fn line(&mut self) -> Option<&'s str> {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at_checked(end)?;
        (!line.ends_with('\\')).then_some(())?;
        self.rest = rest;
        Some(line)
    }

    fn digits(&mut self) -> usize {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = self.rest.len() - rest.len();
        self.rest = rest;
        count
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn takes(&mut self, c: char) -> bool {
        let takes = self.peek() == Some(c);
        if takes {
            self.next();
        }
        takes
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let first = characters.next();
        self.rest = characters.as_str();
        first
    }
}
