//! What a word that isn't wholly known may spell, as a path: `$HOME/*`, `"$dir"/`, `.[!.]*`.
//!
//! The word is read once more as it is written. A variable is what the text sets it to; one that may be empty is also nothing
//! at all, because that is what makes `rm -rf "$dir/"` dangerous.

/// Stands before a character of a pattern.
pub(crate) const PATTERN: char = '\u{1}';

/// Stands for something that isn't known and isn't empty.
pub(crate) const SOMETHING: char = '\u{2}';

/// Folders that the shell remembers, by the sign behind a tilde.
const FOLDERS: [(&str, &str); 2] = [("+", "PWD"), ("-", "OLDPWD")];

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// A character of a pattern.
    Pattern(char),
    Variable {
        name: String,
        /// What stands for it when it is empty: `${x:-y}`.
        otherwise: Option<String>,
        /// Whether the shell gives up when it is empty: `${x:?}`.
        must_be_set: bool,
        /// What is done to its value, as it is written: `%.git` of `${x%.git}`. Empty: nothing.
        change: String,
    },
    /// The output of this command.
    Output(String),
    /// A home folder, of the user if the name is empty.
    Home(String),
    /// A number, or anything else that isn't empty.
    Something,
}

impl Piece {
    /// A variable that may be empty.
    pub(crate) fn variable(name: &str) -> Self {
        let (name, otherwise, change) = (name.to_owned(), None, String::new());
        Self::Variable { name, otherwise, must_be_set: false, change }
    }
}

/// The parts of a word as it is written. `None`: it isn't written as one word (`{a,b}`).
pub(crate) fn pieces(written: &str) -> Option<Vec<Piece>> {
    let mut reader = Reader { rest: written, pieces: Vec::new() };
    if let Some(rest) = written.strip_prefix('~') {
        let end = rest.find('/').unwrap_or(rest.len());
        let (user, rest) = rest.split_at(end);
        let folder = FOLDERS.iter().find(|(sign, _)| *sign == user).map(|(_, name)| *name);
        if let Some(name) = folder {
            reader.pieces.push(Piece::variable(name));
            reader.rest = rest;
        } else if user.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)) {
            reader.pieces.push(Piece::Home(user.to_owned()));
            reader.rest = rest;
        }
    }
    reader.read()?;
    Some(reader.pieces)
}

struct Reader<'a> {
    rest: &'a str,
    pieces: Vec<Piece>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let next = rest.next();
        self.rest = rest.as_str();
        next
    }

    fn text(&mut self, c: char) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => self.pieces.push(Piece::Text(c.to_string())),
        }
    }

    fn read(&mut self) -> Option<()> {
        let mut in_quotes = false;
        while let Some(c) = self.next() {
            match c {
                '"' => in_quotes = !in_quotes,
                '\'' if !in_quotes => {
                    while let Some(c) = self.next().filter(|c| *c != '\'') {
                        self.text(c);
                    }
                }
                '\\' => {
                    let next = self.next()?;
                    self.text(next);
                }
                '$' => self.expansion()?,
                '`' => {
                    let (command, rest) = self.rest.split_once('`')?;
                    self.pieces.push(Piece::Output(command.to_owned()));
                    self.rest = rest;
                }
                '*' | '?' | '[' | ']' if !in_quotes => self.pieces.push(Piece::Pattern(c)),
                '{' if !in_quotes => return None,
                c => self.text(c),
            }
        }
        Some(())
    }

    fn expansion(&mut self) -> Option<()> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let first = self.rest.chars().next();
        let piece = match first {
            Some('(') => {
                let end = closing(self.rest, '(', ')')?;
                let command = self.rest.get(1..end)?;
                self.rest = self.rest.get(end + 1..)?;
                if command.starts_with('(') { Piece::Something } else { Piece::Output(command.to_owned()) }
            }
            Some('{') => {
                let end = closing(self.rest, '{', '}')?;
                let inner = self.rest.get(1..end)?;
                self.rest = self.rest.get(end + 1..)?;
                braced(inner)
            }
            Some('\'' | '"') => return Some(()),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
                let name = self.rest.get(..end)?;
                self.rest = self.rest.get(end..)?;
                Piece::variable(name)
            }
            Some('$' | '?' | '!' | '#' | '-') => {
                self.next();
                Piece::Something
            }
            Some(c @ ('@' | '*' | '0'..='9')) => {
                self.next();
                Piece::variable(c.encode_utf8(&mut [0; 4]))
            }
            _ => {
                self.text('$');
                return Some(());
            }
        };
        self.pieces.push(piece);
        Some(())
    }
}

/// What `${inner}` is.
fn braced(inner: &str) -> Piece {
    if inner.starts_with('#') && inner.len() > 1 {
        return Piece::Something;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = match inner.chars().next() {
        Some('@' | '*') => 1,
        _ => inner.find(|c| !is_part(c)).unwrap_or(inner.len()),
    };
    let (name, change) = inner.split_at(end);
    let otherwise = [":-", ":=", "-", "="].iter().find_map(|sign| change.strip_prefix(sign));
    let otherwise = otherwise.map(|text| text.trim_matches(['"', '\'']).to_owned());
    let must_be_set = change.starts_with(":?");
    let change = if otherwise.is_some() || must_be_set { String::new() } else { change.to_owned() };
    Piece::Variable { name: name.to_owned(), otherwise, must_be_set, change }
}

/// How many words one with braces is taken to become.
const MAX_ALTERNATIVES: usize = 32;

/// The words that a word with braces becomes, as they are written: `{*,.*}` is `*` and `.*`, and `{1..9}` is `1` and `9`, its
/// ends. A word without braces is itself.
pub(crate) fn alternatives(written: &str) -> Vec<String> {
    let mut open = vec![written.to_owned()];
    let mut all = Vec::new();
    while let Some(word) = open.pop() {
        match first_braces(&word).filter(|_| open.len() + all.len() < MAX_ALTERNATIVES) {
            // The last one is read first.
            Some(words) => open.extend(words.into_iter().rev()),
            None => all.push(word),
        }
    }
    all
}

/// The words that come of the first braces in a word, if these are some that the shell expands.
fn first_braces(word: &str) -> Option<Vec<String>> {
    let mut quote = None;
    let mut is_hidden = false;
    for (at, c) in word.char_indices() {
        match (quote, c) {
            _ if is_hidden => is_hidden = false,
            (None | Some('"'), '\\') => is_hidden = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '{') => {
                let rest = word.get(at..)?;
                let end = closing(rest, '{', '}')?;
                let (before, inner, behind) = (word.get(..at)?, rest.get(1..end)?, rest.get(end + 1..)?);
                if before.ends_with('$') {
                    continue;
                }
                let parts = match inner.split_once("..") {
                    Some((first, last)) if !inner.contains(',') => {
                        vec![first, last.split("..").next().unwrap_or(last)]
                    }
                    _ => split_at_commas(inner),
                };
                if parts.len() > 1 {
                    return Some(parts.iter().map(|part| format!("{before}{part}{behind}")).collect());
                }
            }
            _ => {}
        }
    }
    None
}

/// The parts of a text between commas that are in no further braces.
fn split_at_commas(inner: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    inner
        .split(|c: char| {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
        .collect()
}

/// Where the bracket that a text begins with is closed.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn variable(name: &str) -> Piece {
        Piece::variable(name)
    }

    #[test]
    fn braces_are_expanded() {
        for (written, wanted) in [
            ("{*,.*}", &["*", ".*"][..]),
            ("a{b,c{d,e}}f", &["abf", "acdf", "acef"]),
            ("{1..65535}", &["1", "65535"]),
            ("{.,}*", &[".*", "*"]),
            ("\"{a,b}\"", &["\"{a,b}\""]),
            ("${x}", &["${x}"]),
            ("{}", &["{}"]),
            ("x", &["x"]),
        ] {
            assert_eq!(alternatives(written), wanted, "{written}");
        }
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for (written, wanted) in [
            ("$HOME/*", vec![variable("HOME"), text("/"), Piece::Pattern('*')]),
            ("\"$d\"/x", vec![variable("d"), text("/x")]),
            ("~/'a b'", vec![Piece::Home(String::new()), text("/a b")]),
            ("~root", vec![Piece::Home("root".to_owned())]),
            ("/$(pwd)/", vec![text("/"), Piece::Output("pwd".to_owned()), text("/")]),
            ("~+/x", vec![variable("PWD"), text("/x")]),
            ("a$((1+1))", vec![text("a"), Piece::Something]),
            (
                "${d:?}/",
                vec![
                    Piece::Variable {
                        name: "d".to_owned(),
                        otherwise: None,
                        must_be_set: true,
                        change: String::new(),
                    },
                    text("/"),
                ],
            ),
            (
                "${d:-/}",
                vec![Piece::Variable {
                    name: "d".to_owned(),
                    otherwise: Some("/".to_owned()),
                    must_be_set: false,
                    change: String::new(),
                }],
            ),
        ] {
            assert_eq!(pieces(written), Some(wanted), "{written}");
        }
        assert_eq!(pieces("{a,b}"), None);
        assert_eq!(pieces("${a"), None);
    }
}
