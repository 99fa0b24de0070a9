//! Programs of `awk`: which of its statements run, write and read.
//!
//! A lexer is enough: what runs is `system(`, `|` and `@`; what writes is `>` behind `print`; what reads is `<`
//! behind `getline`. Strings, regular expressions and comments hide nothing else.

use super::super::EffectKind;
use super::super::collector::{Collector, with_text};
use shellgate_syntax::{Unknown, Value, Why, Word};

/// Reads a program of awk.
pub(crate) fn awk_program(word: &Word, collector: &mut Collector) {
    collector.names_code = true;
    let Some(text) = word.value.known() else {
        collector.effect(word, EffectKind::Inline(word.clone(), "awk"));
        return;
    };
    let Some(tokens) = tokens(text) else {
        collector.effect(word, EffectKind::Opaque(word.clone(), "an awk program that can't be read"));
        return;
    };
    let found = effects(&tokens);
    if found.iter().any(|(does, _)| *does == Does::Run) {
        collector.effect(word, EffectKind::Inline(word.clone(), "awk"));
    }
    for (does, target) in found {
        match (does, target) {
            (Does::Run, Some(text)) => collector.effect(word, EffectKind::Shell(with_text(word, &text))),
            (Does::Run, None) => {}
            (Does::Write, target) => collector.effect(word, EffectKind::Writes(file(word, target))),
            (Does::Read, target) => collector.effect(word, EffectKind::Reads(file(word, target))),
        }
    }
}

/// The file that the program names. One that it computes isn't known.
fn file(word: &Word, target: Option<String>) -> Word {
    match target {
        Some(text) => with_text(word, &text),
        None => {
            let why = Why::Parameter("an expression of awk".to_owned());
            Word {
                span: word.span,
                value: Value::Unknown(Unknown { lead: String::new(), splits: false, why, tail: None }),
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Run,
    Write,
    Read,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A name or keyword.
    Name(String),
    /// A string without escapes, or `None` if it has some.
    Text(Option<String>),
    Number,
    Regex,
    /// An operator or bracket; `||`, `|&`, `>>` and the like are one.
    Sign(&'static str),
    End,
}

/// What a program does, each with its file or command if that is one plain string.
fn effects(tokens: &[Token]) -> Vec<(Does, Option<String>)> {
    let mut found = Vec::new();
    let mut printing = false;
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let behind = tokens.get(at + 1);
        match token {
            Token::Name(name) if name == "print" || name == "printf" => {
                printing = true;
                depth = 0;
            }
            Token::Name(name) if name == "system" => {
                found.push((Does::Run, argument(tokens, at + 2, &[")"])))
            }
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")" | "]") => depth = depth.saturating_sub(1),
            // A statement continues on the next line behind a comma and the like.
            Token::End if matches!(before, Some(Token::Sign("," | "&&" | "||"))) => {}
            Token::End | Token::Sign(";" | "{" | "}") => printing = false,
            Token::Sign("|" | "|&") => {
                let command = match (before, behind) {
                    // `"cmd" | getline`: only a string without anything before it is the whole command.
                    (Some(Token::Text(text)), Some(Token::Name(name))) if name == "getline" => {
                        let alone = at.checked_sub(2).and_then(|at| tokens.get(at));
                        let alone =
                            matches!(alone, None | Some(Token::End | Token::Sign("{" | ";" | "(" | "}")));
                        text.clone().filter(|_| alone)
                    }
                    _ => argument(tokens, at + 1, &[";", "}"]),
                };
                found.push((Does::Run, command));
            }
            Token::Sign("@") => found.push((Does::Run, None)),
            Token::Sign(">" | ">>") if printing && depth == 0 => {
                found.push((Does::Write, argument(tokens, at + 1, &[";", "}"])));
            }
            Token::Sign("<") if is_getline(tokens, at) => {
                let text = match behind {
                    Some(Token::Text(text)) => text.clone(),
                    _ => None,
                };
                found.push((Does::Read, text));
            }
            _ => {}
        }
    }
    found
}

/// The string at `at`, if nothing else belongs to the expression.
fn argument(tokens: &[Token], at: usize, ends: &[&str]) -> Option<String> {
    let Some(Token::Text(text)) = tokens.get(at) else {
        return None;
    };
    let ended = match tokens.get(at + 1) {
        None | Some(Token::End) => true,
        Some(Token::Sign(sign)) => ends.contains(sign),
        Some(_) => false,
    };
    text.clone().filter(|_| ended)
}

/// Whether the `<` at `at` belongs to `getline`: `getline < f`, `getline x < f`, `getline a[1] < f`.
fn is_getline(tokens: &[Token], at: usize) -> bool {
    let line = tokens.get(..at).unwrap_or_default().iter().rev();
    line.take_while(|token| !matches!(token, Token::End | Token::Sign(";" | "{" | "}" | "(" | "&&" | "||")))
        .any(|token| matches!(token, Token::Name(name) if name == "getline"))
}

const SIGNS: &[&str] = &[
    "**=", "||", "|&", "|", "&&", ">>", ">=", ">", "<=", "<", "==", "=", "!=", "!~", "!", "~", "++", "+=",
    "+", "--", "-=", "-", "**", "*=", "*", "/=", "/", "%=", "%", "^=", "^", "(", ")", "[", "]", "{", "}",
    ";", ",", "?", ":", "$", "@",
];

/// Names after which a slash begins a regular expression.
const BEFORE_REGEX: &[&str] =
    &["print", "printf", "return", "in", "case", "getline", "exit", "delete", "else", "do"];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    // Whether there was a slash that may divide as well as begin a regular expression.
    let mut either = false;
    while let Some(first) = rest.chars().next() {
        if let Some(continued) = rest.strip_prefix("\\\r\n").or_else(|| rest.strip_prefix("\\\n")) {
            rest = continued;
        } else if first == '\n' {
            tokens.push(Token::End);
            rest = rest.strip_prefix('\n')?;
        } else if first.is_whitespace() {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
        } else if first == '#' {
            rest = rest.get(rest.find('\n').unwrap_or(rest.len())..)?;
        } else if first == '"' {
            let (inside, behind) = quoted(rest.strip_prefix('"')?, '"')?;
            tokens.push(Token::Text((!inside.contains('\\')).then(|| inside.to_owned())));
            rest = behind;
        } else if first == '/' && is_either(tokens.last()) {
            either = true;
            tokens.push(Token::Sign("/"));
            rest = rest.strip_prefix('/')?;
        } else if first == '/' && regex_may_follow(tokens.last()) {
            rest = regex(rest.strip_prefix('/')?)?;
            tokens.push(Token::Regex);
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
                .unwrap_or(rest.len());
            let (name, behind) = rest.split_at_checked(end)?;
            // `a::f` is a name of gawk; in `x?a:b` the colon is a sign.
            let (name, behind) = match name.find(':') {
                Some(at) if !name.contains("::") => rest.split_at_checked(at)?,
                _ => (name, behind),
            };
            tokens.push(Token::Name(name.rsplit("::").next().unwrap_or(name).to_owned()));
            rest = behind;
        } else if first.is_ascii_digit() || first == '.' {
            // Some versions read letters behind a number as a name: `1system(x)`. An exponent is then a harmless name.
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            tokens.push(Token::Number);
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            tokens.push(Token::Sign(sign));
            rest = rest.strip_prefix(sign)?;
        }
    }
    let acts = || ["system", "getline", "|", ">", "@"].iter().any(|word| text.contains(word));
    (!either || !acts()).then_some(tokens)
}

/// Whether a slash here may divide as well as begin a regular expression.
fn is_either(before: Option<&Token>) -> bool {
    matches!(before, Some(Token::Sign(")"))) || matches!(before, Some(Token::Name(name)) if name == "getline")
}

fn regex_may_follow(before: Option<&Token>) -> bool {
    match before {
        None | Some(Token::End) => true,
        Some(Token::Name(name)) => BEFORE_REGEX.contains(&name.as_str()),
        Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "$" | "++" | "--"),
        Some(Token::Text(_) | Token::Number | Token::Regex) => false,
    }
}

/// The text up to the closing mark, and what follows it.
fn quoted(text: &str, mark: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == mark {
            return Some((text.get(..at)?, text.get(at + 1..)?));
        }
    }
    None
}

/// What follows a regular expression. Versions of awk differ on whether a bracket hides a slash. `None` where that would
/// matter.
fn regex(text: &str) -> Option<&str> {
    let (inside, behind) = quoted(text, '/')?;
    (!ends_in_bracket(inside) && !inside.contains('\n')).then_some(behind)
}

/// Whether a bracket expression is open at the end: `[[:alpha:]`, `[]`.
fn ends_in_bracket(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once('[') {
        let inside = inside.strip_prefix('^').unwrap_or(inside);
        // A bracket that comes first is an ordinary character.
        let mut after = inside.strip_prefix(']').unwrap_or(inside);
        loop {
            match after.chars().next() {
                None => return true,
                Some(']') => break,
                Some('[')
                    if after.starts_with("[:") || after.starts_with("[.") || after.starts_with("[=") =>
                {
                    let mark = after.get(1..2).unwrap_or_default();
                    let Some((_, behind)) =
                        after.get(2..).unwrap_or_default().split_once(&format!("{mark}]"))
                    else {
                        return true;
                    };
                    after = behind;
                }
                Some(c) => after = after.get(c.len_utf8()..).unwrap_or_default(),
            }
        }
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn does(text: &str) -> Vec<(Does, Option<String>)> {
        effects(&tokens(text).expect(text))
    }

    #[test]
    fn plain_programs_do_nothing_else() {
        for text in [
            "{print ($1+$2)/2, (a)/b/c}",
            "/^[a-z]+[0-9]/ && $2 > 5 {print}",
            "NR>1 && $2 > 1 {s+=$2} END {print s}",
            "{print $2}",
            "/api/ {print $2}",
            "/a|b/ || $1 ~ /x>y/ {n++} END {printf \"%d | %s > x\\n\", n, (n > 1)}",
            "{ print $1 / $2 / 3 } # system(\"id\")",
            "$1 == \"system(\" { print \"a|b\" }",
            "{ if (a < b) print a; x = y ? 1 : 2 }",
            "BEGIN { while ((getline line) > 0) n++ }",
        ] {
            assert_eq!(does(text), Vec::new(), "{text}");
        }
    }

    #[test]
    fn what_runs_and_writes_is_found() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(does("BEGIN{system(\"rm x\")}"), [(Does::Run, text("rm x"))]);
        assert_eq!(does("BEGIN{system(\"rm \" x)}"), [(Does::Run, None)]);
        assert_eq!(does("BEGIN{system (c)}"), [(Does::Run, None)]);
        assert_eq!(does("BEGIN{x=1system(c)}"), [(Does::Run, None)]);
        assert_eq!(does("BEGIN{\"id\"|getline l; print l}"), [(Does::Run, text("id"))]);
        assert_eq!(does("BEGIN{\"i\" \"d\"|getline}"), [(Does::Run, None)]);
        assert_eq!(does("{print | \"sort\"}"), [(Does::Run, text("sort"))]);
        assert_eq!(does("{print |& \"sort\"}"), [(Does::Run, text("sort"))]);
        assert_eq!(does("{print >> \"a.txt\"}"), [(Does::Write, text("a.txt"))]);
        assert_eq!(does("{print $1, (2 > 1) > $2\".txt\"}"), [(Does::Write, None)]);
        assert_eq!(does("BEGIN{while((getline l<\"../s\")>0)print l}"), [(Does::Read, text("../s"))]);
        assert_eq!(does("BEGIN{f=\"system\"; @f(\"id\")}"), [(Does::Run, None)]);
        assert_eq!(does("@load \"x\""), [(Does::Run, None)]);
        assert_eq!(does("BEGIN{print \"x\",\n\"y\" > \"out\"}"), [(Does::Write, text("out"))]);
    }

    #[test]
    fn what_cannot_be_read_is_not_guessed() {
        assert_eq!(tokens("{print \"a}"), None);
        assert_eq!(tokens("/[/]/ {print}"), None);
        assert_eq!(tokens("BEGIN{if(1)/\"/;system(\"rm x\")#\"\n}"), None);
        assert_eq!(tokens("/[[:alpha:]/]\"/{};END{system(\"rm x\")}#\""), None);
        assert_eq!(tokens("/[]/]\"/{};END{system(\"rm x\")}#\""), None);
        assert_eq!(tokens("BEGIN{x=getline / 1; system(\"rm\") / 1}"), None);
    }
}
