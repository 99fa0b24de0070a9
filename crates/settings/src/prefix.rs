//! Reads a command prefix, as `core`, `exclude` and rules name commands.
//!
//! Spaces separate words: `git push` is the words `git` and `push`. `*`, or the name of a tool alone, means every
//! command. A prefix may also be written in the form of other agents, `run_shell_command(git push)`. Read as plain words
//! it would match no command, and an exclusion that silently matches nothing is a security hole.

use shellgate_policy::Prefix;

/// The names of the shell tool in the dialects, and in older files of other agents.
pub const TOOL_NAMES: &[&str] = &["run_shell_command", "ShellTool", "shell_cmd", "shell"];

/// Why a text isn't a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// It has no word.
    #[error("a command prefix must have at least one word, this one is empty")]
    Empty,
    /// One of its words is empty.
    #[error("a command prefix can't have an empty word")]
    EmptyWord,
    /// It contains a NUL byte, which no command can contain.
    #[error("a command prefix can't have a NUL byte")]
    Nul,
    /// `run_shell_command(` without `)` at the end.
    #[error("a tool name followed by `(` must end with `)`")]
    Unclosed,
}

impl PrefixError {
    /// How to correct it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Empty | Self::EmptyWord => "name a command like `git status`, or `*` for every command",
            Self::Nul => "remove the NUL byte",
            Self::Unclosed => "write it like `run_shell_command(git status)`",
        }
    }
}

/// Reads a prefix whose blanks separate words.
pub(crate) fn parse(text: &str) -> Result<Prefix, PrefixError> {
    match of_tool(text)? {
        Some(prefix) => Ok(prefix),
        None => from_words(text.split_ascii_whitespace().map(str::to_owned).collect()),
    }
}

/// A prefix of words that are separate already.
pub(crate) fn from_words(words: Vec<String>) -> Result<Prefix, PrefixError> {
    if words.iter().any(|word| word.contains('\0')) {
        return Err(PrefixError::Nul);
    }
    if words.iter().any(String::is_empty) {
        return Err(PrefixError::EmptyWord);
    }
    match words.as_slice() {
        [] => Err(PrefixError::Empty),
        [word] if word == "*" || TOOL_NAMES.contains(&word.as_str()) => Ok(Prefix::Everything),
        _ => Ok(Prefix::Words(words)),
    }
}

/// Reads an entry of another agent's tool list: `run_shell_command` or `run_shell_command(PREFIX)`.
/// `None` when the entry is about some other tool.
pub(crate) fn of_tool(entry: &str) -> Result<Option<Prefix>, PrefixError> {
    let entry = entry.trim();
    let (name, rest) = match entry.split_once('(') {
        Some((name, rest)) => (name, Some(rest)),
        None => (entry, None),
    };
    if !TOOL_NAMES.contains(&name.trim_end()) {
        return Ok(None);
    }
    match rest {
        None => Ok(Some(Prefix::Everything)),
        Some(rest) => {
            let words = rest.strip_suffix(')').ok_or(PrefixError::Unclosed)?;
            let words = words.split_ascii_whitespace().map(str::to_owned).collect();
            from_words(words).map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Result<Prefix, PrefixError> {
        Ok(Prefix::Words(words.iter().map(|word| (*word).to_owned()).collect()))
    }

    #[test]
    fn prefixes() {
        let cases = [
            ("git", words(&["git"])),
            ("git status", words(&["git", "status"])),
            ("  git \t status\n", words(&["git", "status"])),
            ("*", Ok(Prefix::Everything)),
            (" * ", Ok(Prefix::Everything)),
            ("run_shell_command", Ok(Prefix::Everything)),
            ("shell_cmd", Ok(Prefix::Everything)),
            ("shell", Ok(Prefix::Everything)),
            ("ShellTool", Ok(Prefix::Everything)),
            ("shell --version", words(&["shell", "--version"])),
            ("git *", words(&["git", "*"])),
            ("run_shell_command(git status)", words(&["git", "status"])),
            ("ShellTool( ls )", words(&["ls"])),
            ("run_shell_command(*)", Ok(Prefix::Everything)),
            ("run_shell_command(echo (a))", words(&["echo", "(a)"])),
            ("other(ls)", words(&["other(ls)"])),
            ("", Err(PrefixError::Empty)),
            (" \t", Err(PrefixError::Empty)),
            ("run_shell_command()", Err(PrefixError::Empty)),
            ("a\0b", Err(PrefixError::Nul)),
            ("run_shell_command(a\0)", Err(PrefixError::Nul)),
            ("run_shell_command(git", Err(PrefixError::Unclosed)),
            ("run_shell_command(git) x", Err(PrefixError::Unclosed)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    #[test]
    fn separate_words_keep_their_blanks() {
        let read = |words: &[&str]| from_words(words.iter().map(|w| (*w).to_owned()).collect());
        assert_eq!(read(&["git", "a b"]), words(&["git", "a b"]));
        assert_eq!(read(&["git", ""]), Err(PrefixError::EmptyWord));
        assert_eq!(read(&[]), Err(PrefixError::Empty));
        assert_eq!(read(&["*"]), Ok(Prefix::Everything));
    }

    #[test]
    fn entries_about_other_tools_are_no_prefix() {
        for entry in ["ReadFileTool", "web_fetch(example.com)", "*", "run_shell", "", "("] {
            assert_eq!(of_tool(entry), Ok(None), "{entry:?}");
        }
    }

    #[test]
    fn errors() {
        let all = [PrefixError::Empty, PrefixError::EmptyWord, PrefixError::Nul, PrefixError::Unclosed];
        let text: Vec<_> = all.iter().map(|error| format!("{error}\n  {}", error.hint())).collect();
        insta::assert_snapshot!(text.join("\n"), @r"
        a command prefix must have at least one word, this one is empty
          name a command like `git status`, or `*` for every command
        a command prefix can't have an empty word
          name a command like `git status`, or `*` for every command
        a command prefix can't have a NUL byte
          remove the NUL byte
        a tool name followed by `(` must end with `)`
          write it like `run_shell_command(git status)`
        ");
    }
}
