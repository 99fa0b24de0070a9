//! Reads a pattern of words, as `allow`, `ask`, `deny` and the exceptions of rules have them.
//!
//! Blanks separate words; `*` stands for one or more words, and inside a word for any characters. An entry that can never match,
//! or matches everything without saying so, is an error: it would do something else than its author thinks. So is an entry in
//! the syntax of another tool.

use shellgate_policy::Prefix;

use crate::prefix::{self, PrefixError};

/// Why a text isn't a pattern, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It has no word, or a NUL byte.
    #[error("{0}")]
    Prefix(#[from] PrefixError),
    /// It is written in the syntax of another tool.
    #[error("`{found}` is another tool's syntax")]
    OtherSyntax {
        /// The entry.
        found: String,
        /// The same in ours, if there is one.
        write: Option<String>,
    },
    /// It has signs of the shell in it.
    #[error("an entry is the words of one command, and `{sign}` is not part of a word")]
    Operator {
        /// The sign.
        sign: String,
        /// The commands in it.
        commands: Vec<String>,
    },
    /// It has quotes or a backslash.
    #[error("quotes and backslashes have no meaning in an entry, so it would never match")]
    Quotes {
        /// The entry without them.
        plain: String,
    },
    /// It has a variable or `~`, which the shell replaces.
    #[error("`{word}` would never match: variables and `~` are not replaced here")]
    Expansion {
        /// The word.
        word: String,
    },
    /// It has a pattern of the shell other than `*`.
    #[error("`{word}` would never match: of patterns, only `*` is known here")]
    ShellPattern {
        /// The word.
        word: String,
    },
    /// It begins with an assignment.
    #[error("`{word}` is a variable, not a command")]
    Assignment {
        /// The word.
        word: String,
        /// The entry without it.
        rest: String,
    },
    /// It is a path with blanks.
    #[error("`{path}` is a path with blanks, and blanks separate words")]
    BlankInPath {
        /// The path.
        path: String,
    },
    /// It matches everything, and doesn't look so.
    #[error("`{found}` matches every command")]
    Everything {
        /// The entry.
        found: String,
    },
    /// An entry of `core` or `exclude` has a `*` in it.
    #[error("`*` stands for words in `allow`, `ask` and `deny` only, so `{found}` would never match")]
    Star {
        /// The entry.
        found: String,
        /// The entry up to the `*`.
        prefix: String,
    },
    /// An exception takes everything out of its rule.
    #[error("this exception leaves nothing of its rule")]
    ExceptEverything,
}

impl PatternError {
    /// What to write.
    pub fn hint(&self) -> String {
        match self {
            Self::Prefix(error) => error.hint().to_owned(),
            Self::OtherSyntax { write: Some(write), .. } => format!("write {write:?}"),
            Self::OtherSyntax { write: None, .. } => {
                "write the words of the command, `*` for any words: \"git log\", \"npm run *\"".to_owned()
            }
            Self::Operator { commands, .. } => match commands.as_slice() {
                [] | [_] => {
                    "write the words of the command alone; redirects are judged by themselves".to_owned()
                }
                all => format!("write each command by itself: {all:?}"),
            },
            Self::Quotes { plain } if plain.is_empty() => "name a command like `git status`".to_owned(),
            Self::Quotes { plain } => format!(
                "write {plain:?}; a word with blanks needs `[[policy.rule]]` with `prefix = [\"git\", \"a b\"]`"
            ),
            Self::Expansion { .. } => {
                "write the path out; rules by effect with `path = [\"~/…\"]` know `~` and `$HOME`".to_owned()
            }
            Self::ShellPattern { .. } => "write `*`, or each command as an entry of its own".to_owned(),
            Self::Assignment { rest, .. } if rest.is_empty() => "name a command like `git status`".to_owned(),
            Self::Assignment { rest, .. } => {
                format!("write {rest:?}: variables before a command are judged by themselves")
            }
            Self::BlankInPath { path } => {
                format!("write `[[policy.rule]]` with `prefix = [{path:?}]`")
            }
            Self::Everything { .. } => "write \"*\" if that is meant".to_owned(),
            Self::Star { prefix, .. } if prefix.is_empty() => {
                "write \"*\" alone for every command".to_owned()
            }
            Self::Star { prefix, .. } => {
                format!("write {prefix:?}: an entry matches every command that begins with its words")
            }
            Self::ExceptEverything => "name the commands that the rule isn't about".to_owned(),
        }
    }
}

/// Reads a pattern.
pub(crate) fn parse(text: &str) -> Result<Prefix, PatternError> {
    let text = text.trim();
    if text == "*" {
        return Ok(Prefix::Everything);
    }
    check(text)?;
    let words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
    let is_stars = |word: &String| word.chars().all(|c| c == '*');
    if !words.is_empty() && words.iter().all(is_stars) {
        return Err(PatternError::Everything { found: text.to_owned() });
    }
    if words.iter().any(String::is_empty) || words.is_empty() || text.contains('\0') {
        return Ok(prefix::from_words(words)?);
    }
    Ok(if text.contains('*') { Prefix::Pattern(words) } else { Prefix::Words(words) })
}

/// Reads a pattern that an exception has.
pub(crate) fn parse_exception(text: &str) -> Result<Prefix, PatternError> {
    match parse(text)? {
        Prefix::Everything => Err(PatternError::ExceptEverything),
        found => Ok(found),
    }
}

/// Reads an entry of `core` or `exclude`, which is a prefix.
pub(crate) fn parse_prefix(text: &str) -> Result<Prefix, PatternError> {
    let found = prefix::parse(text)?;
    let is_ours = prefix::of_tool(text)?.is_none();
    if found != Prefix::Everything && is_ours {
        check(text.trim())?;
        if text.contains('*') {
            let words = text.split_ascii_whitespace().take_while(|word| !word.contains('*'));
            let prefix = words.collect::<Vec<_>>().join(" ");
            return Err(PatternError::Star { found: text.to_owned(), prefix });
        }
    }
    Ok(found)
}

/// Marks with which other tools begin an entry.
const OTHER_MARKS: [&str; 8] = ["prefix:", "regex:", "re:", "glob:", "exact:", "command:", "cmd:", "shell:"];
/// Names of other tools' shell tools, which alone mean every command.
const OTHER_TOOLS: [&str; 4] = ["Bash", "Shell", "Terminal", "run_shell_command"];
/// What separates commands, or is no part of a word.
const OPERATORS: [&str; 12] = ["&&", "||", ";", "|", "&", ">", "<", "`", "$(", "\n", "(", ")"];

fn check(text: &str) -> Result<(), PatternError> {
    let other = |write: Option<String>| PatternError::OtherSyntax { found: text.to_owned(), write };
    let first = text.split_ascii_whitespace().next().unwrap_or_default();
    if OTHER_TOOLS.contains(&text) {
        return Err(other(Some("*".to_owned())));
    }
    if let Some((name, inner)) = text.strip_suffix(')').and_then(|text| text.split_once('('))
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    {
        return Err(other(translated(inner)));
    }
    if let Some(rest) = OTHER_MARKS.iter().find_map(|mark| text.strip_prefix(mark)) {
        return Err(other(translated(rest)));
    }
    if first.ends_with(":*") {
        return Err(other(translated(text)));
    }
    let is_expression = text.len() > 2 && text.starts_with('/') && text.ends_with('/')
        || text.starts_with('^')
        || text.ends_with('$')
        || text.contains(".*");
    if is_expression {
        let plain =
            text.trim_matches('/').trim_start_matches('^').trim_end_matches('$').trim_end_matches(".*");
        return Err(other(translated(plain.trim_end_matches("\\b").trim())));
    }
    if let Some(sign) = OPERATORS.iter().find(|sign| text.contains(**sign)) {
        let commands = text.split([';', '|', '&', '\n', '>', '<', '`', '(', ')']);
        let commands = commands.map(str::trim).filter(|command| !command.is_empty()).map(str::to_owned);
        let sign = if *sign == "\n" { "\\n" } else { sign };
        return Err(PatternError::Operator { sign: sign.to_owned(), commands: commands.collect() });
    }
    if let Some(word) = text.split_ascii_whitespace().find(|word| is_shell_pattern(word)) {
        return Err(PatternError::ShellPattern { word: word.to_owned() });
    }
    if text.contains(['\'', '"', '\\']) {
        return Err(PatternError::Quotes { plain: text.replace(['\'', '"', '\\'], "") });
    }
    if let Some(word) = text.split_ascii_whitespace().find(|word| word.contains('$') || word.starts_with('~'))
    {
        return Err(PatternError::Expansion { word: word.to_owned() });
    }
    if let Some((name, _)) = first.split_once('=')
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        let rest = text.strip_prefix(first).unwrap_or_default().trim().to_owned();
        return Err(PatternError::Assignment { word: first.to_owned(), rest });
    }
    let is_file = |path: &str| std::fs::metadata(path).is_ok_and(|found| found.is_file());
    if first.starts_with('/') && first.len() < text.len() && !is_file(first) && is_file(text) {
        return Err(PatternError::BlankInPath { path: text.to_owned() });
    }
    Ok(())
}

/// Whether a word has `[a-z]` or `{a,b}` in it, which the shell would expand. `[` alone is a program.
fn is_shell_pattern(word: &str) -> bool {
    let between = |open: char, close: char| {
        word.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map(|(inner, _)| inner)
    };
    between('[', ']').is_some_and(|inner| !inner.is_empty())
        || between('{', '}').is_some_and(|inner| inner.contains(',') || inner.contains(".."))
}

/// What another tool writes inside its own marks, as ours: `ls:*` is the prefix `ls`.
fn translated(inner: &str) -> Option<String> {
    let inner = inner.trim();
    let words = inner.strip_suffix(":*").or_else(|| inner.strip_suffix(" *")).unwrap_or(inner).trim();
    let words = if words.is_empty() { "*" } else { words };
    parse(words).is_ok().then(|| words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_and_patterns() {
        for (text, expected) in [
            ("git fetch", Prefix::Words(owned(&["git", "fetch"]))),
            ("  git   fetch ", Prefix::Words(owned(&["git", "fetch"]))),
            ("npm run *", Prefix::Pattern(owned(&["npm", "run", "*"]))),
            ("git * main", Prefix::Pattern(owned(&["git", "*", "main"]))),
            ("* --version", Prefix::Pattern(owned(&["*", "--version"]))),
            ("npm run test:*", Prefix::Pattern(owned(&["npm", "run", "test:*"]))),
            ("python3 -m http.server", Prefix::Words(owned(&["python3", "-m", "http.server"]))),
            ("*", Prefix::Everything),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_say_what_to_write() {
        let texts = [
            "",
            "Bash(ls:*)",
            "Bash",
            "Bash(git * main)",
            "ls:*",
            "Shell(git)",
            "/^git/",
            "^git status$",
            "git .*",
            "prefix:git push",
            "git status;ls",
            "ls | wc",
            "cat x > y",
            "echo $(id)",
            "echo 'a b'",
            "git commit -m \"x",
            "~/bin/tool",
            "$HOME/x",
            "A=1 make",
            "[a-z]* x",
            "git {log,diff}",
            "* *",
            "**",
            "a\0b",
        ];
        let shown: Vec<String> = texts
            .iter()
            .map(|text| {
                let error = parse(text).unwrap_err();
                format!("{text:?}: {error}\n  {}", error.hint())
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn a_path_with_blanks_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my tool");
        std::fs::write(&path, "").unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(parse(path), Err(PatternError::BlankInPath { path: path.to_owned() }));
        assert!(parse("/usr/bin/env tool").is_ok());
    }

    #[test]
    fn core_and_exclude_take_prefixes() {
        assert_eq!(
            parse_prefix("run_shell_command(git status)"),
            prefix::parse("git status").map_err(Into::into)
        );
        assert_eq!(parse_prefix("*"), Ok(Prefix::Everything));
        for text in ["rm *", "Bash(rm:*)", "rm; ls"] {
            assert!(parse_prefix(text).is_err(), "{text}");
        }
    }
}
