//! Tokens of awk.
//!
//! Versions decide by different means whether a slash divides or begins a regular expression: mawk by the token before it, the
//! others by their grammar. A slash is accepted where both give the same answer.

use crate::programs::words;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or keyword.
    Name(String),
    /// A name with `(` directly behind it, which is the next token.
    Call(String),
    /// A string without escapes, or `None` if it has some.
    Text(Option<String>),
    Number,
    Regex,
    /// An operator or bracket.
    Sign(&'static str),
    Newline,
}

/// Operators, longer ones first. Slashes are read apart. `**` and `@` belong to some versions only.
const SIGNS: &[&str] = &[
    "||", "|&", "|", "&&", ">>", ">=", ">", "<=", "<", "==", "=", "!=", "!~", "!", "~", "++", "+=", "+",
    "--", "-=", "-", "*=", "*", "%=", "%", "^=", "^", "(", ")", "[", "]", "{", "}", ";", ",", "?", ":", "$",
];

/// Keywords whose parenthesis is a header: a statement follows it.
const HEADERS: &[&str] = &["if", "while", "for"];

/// Splits a program. `None` if versions of awk may split it differently.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut lexer =
        Lexer { rest: text, tokens: Vec::new(), braces: 0, parens: Vec::new(), ended_header: false };
    while !lexer.rest.is_empty() {
        lexer.token()?;
    }
    Some(lexer.tokens)
}

struct Lexer<'t> {
    rest: &'t str,
    tokens: Vec<Token>,
    /// How many braces are open.
    braces: usize,
    /// For every open parenthesis, whether it is a header.
    parens: Vec<bool>,
    /// Whether the last token is the `)` of a header.
    ended_header: bool,
}

impl Lexer<'_> {
    fn token(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        match first {
            ' ' | '\t' => self.rest = self.rest.trim_start_matches([' ', '\t']),
            '\n' => {
                self.push(Token::Newline);
                self.rest = self.rest.strip_prefix('\n')?;
            }
            '\\' => self.continuation()?,
            '#' => self.comment()?,
            '"' => self.string()?,
            '/' => self.slash()?,
            '0'..='9' | '.' => self.number()?,
            'A'..='Z' | 'a'..='z' | '_' => self.name()?,
            _ => self.sign()?,
        }
        Some(())
    }

    fn push(&mut self, token: Token) {
        self.ended_header = false;
        self.tokens.push(token);
    }

    /// A backslash at the end of a line joins the next one. It must not touch other tokens.
    fn continuation(&mut self) -> Option<()> {
        let rest = self.rest.strip_prefix("\\\n")?;
        rest.starts_with([' ', '\t']).then_some(())?;
        self.rest = rest;
        Some(())
    }

    /// A comment that ends in a backslash would go on in the next line for some versions.
    fn comment(&mut self) -> Option<()> {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (comment, rest) = self.rest.split_at_checked(end)?;
        (is_printable(comment) && !comment.ends_with('\\')).then_some(())?;
        self.rest = rest;
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        let (inside, rest) = delimited(self.rest.strip_prefix('"')?, '"')?;
        self.push(Token::Text((!inside.contains('\\')).then(|| inside.to_owned())));
        self.rest = rest;
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let whole = digits(self.rest);
        let mut rest = self.rest.get(whole..)?;
        let mut fraction = 0;
        if let Some(behind) = rest.strip_prefix('.') {
            fraction = digits(behind);
            rest = behind.get(fraction..)?;
        }
        (whole + fraction > 0).then_some(())?;
        if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let count = digits(exponent);
            (count > 0).then_some(())?;
            rest = exponent.get(count..)?;
        }
        // What touches a number belongs to it for some versions: `0x1`, `1system(…)`.
        (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')).then_some(())?;
        self.push(Token::Number);
        self.rest = rest;
        Some(())
    }

    fn name(&mut self) -> Option<()> {
        let end =
            self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end)?;
        // `a::b` is one name for gawk.
        (!rest.starts_with("::")).then_some(())?;
        let name = name.to_owned();
        self.push(if rest.starts_with('(') { Token::Call(name) } else { Token::Name(name) });
        self.rest = rest;
        Some(())
    }

    fn sign(&mut self) -> Option<()> {
        let sign = *SIGNS.iter().find(|sign| self.rest.starts_with(**sign))?;
        self.rest = self.rest.strip_prefix(sign)?;
        // `**` and `::` aren't awk to all.
        let doubled = ["*", ":"].contains(&sign) && self.rest.starts_with(sign);
        (!doubled).then_some(())?;
        let mut ended_header = false;
        match sign {
            "{" => self.braces += 1,
            "}" => self.braces = self.braces.checked_sub(1)?,
            "(" => {
                let before = self.tokens.last();
                self.parens.push(matches!(before, Some(Token::Name(name) | Token::Call(name)) if HEADERS.contains(&name.as_str())));
            }
            ")" => ended_header = self.parens.pop()?,
            _ => {}
        }
        self.push(Token::Sign(sign));
        self.ended_header = ended_header;
        Some(())
    }

    fn slash(&mut self) -> Option<()> {
        let rest = self.rest.strip_prefix('/')?;
        if self.divides() {
            let (sign, rest) = match rest.strip_prefix('=') {
                Some(rest) => ("/=", rest),
                None => ("/", rest),
            };
            self.push(Token::Sign(sign));
            self.rest = rest;
            return Some(());
        }
        self.begins_regex().then_some(())?;
        let (inside, rest) = delimited(rest, '/')?;
        closes_its_brackets(inside).then_some(())?;
        // Letters behind it would be flags in other languages, and a slash isn't certain.
        (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '/' || c == '_')).then_some(())?;
        self.push(Token::Regex);
        self.rest = rest;
        Some(())
    }

    /// Whether a slash divides: directly behind an operand that is certainly one.
    fn divides(&self) -> bool {
        match self.tokens.last() {
            Some(Token::Name(name)) => !is_reserved(name),
            Some(Token::Number | Token::Sign("]")) => true,
            Some(Token::Sign(")")) => !self.ended_header,
            _ => false,
        }
    }

    /// Whether a slash begins a regular expression: at the beginning of a pattern, or behind a sign that needs an operand.
    fn begins_regex(&self) -> bool {
        match self.tokens.last() {
            None => true,
            Some(Token::Newline | Token::Sign(";" | "}")) => self.braces == 0 && self.parens.is_empty(),
            Some(Token::Sign(sign)) => ["~", "!~", "(", ",", "!", "&&", "||"].contains(sign),
            _ => false,
        }
    }
}

/// Whether a name means something to any version of awk.
pub(super) fn is_reserved(name: &str) -> bool {
    words::AWK_KEYWORDS.contains(&name)
        || words::AWK_FUNCTIONS.contains(&name)
        || words::AWK_EXTRA_FUNCTIONS.contains(&name)
        || words::AWK_RESERVED_NAMES.contains(&name)
}

/// The text up to the closing mark, and what follows it. In some locales a character that isn't ASCII swallows the
/// backslash or bracket behind it.
fn delimited(text: &str, mark: char) -> Option<(&str, &str)> {
    let mut characters = text.char_indices();
    let mut before = ' ';
    while let Some((at, c)) = characters.next() {
        match c {
            c if c == mark => return Some((text.get(..at)?, text.get(at + 1..)?)),
            '\\' if !before.is_ascii() => return None,
            '[' | ']' if mark == '/' && !before.is_ascii() => return None,
            '\\' => {
                let (_, escaped) = characters.next()?;
                escaped.is_ascii_graphic().then_some(())?;
            }
            c if c.is_control() && c != '\t' => return None,
            _ => {}
        }
        before = c;
    }
    None
}

fn is_printable(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() && c != '\t')
}

/// Whether all versions see the same bracket expressions, each of them closed: `[a-z]`, `[^[:alpha:]_]`. Some take `[[]`,
/// `[]a]` and `[\]]` for open ones.
fn closes_its_brackets(regex: &str) -> bool {
    let mut rest = regex;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\\' => {
                let mut characters = rest.chars();
                characters.next();
                rest = characters.as_str();
            }
            ']' => return false,
            '[' => match behind_bracket(rest) {
                Some(behind) => rest = behind,
                None => return false,
            },
            _ => {}
        }
    }
    true
}

/// What follows a bracket expression, from behind its `[`.
fn behind_bracket(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('^').unwrap_or(text);
    let mut is_empty = true;
    loop {
        let c = rest.chars().next()?;
        rest = rest.get(c.len_utf8()..)?;
        match c {
            ']' => return (!is_empty).then_some(rest),
            '[' => {
                let (class, behind) = rest.strip_prefix(':')?.split_once(":]")?;
                class.chars().all(|c| c.is_ascii_lowercase()).then_some(())?;
                rest = behind;
            }
            '\\' => {
                let escaped = rest.chars().next()?;
                (!['[', ']'].contains(&escaped)).then_some(())?;
                rest = rest.get(escaped.len_utf8()..)?;
            }
            _ => {}
        }
        is_empty = false;
    }
}
