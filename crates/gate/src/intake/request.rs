//! What was asked, whatever the dialect.

use std::collections::BTreeMap;
use std::time::Duration;

use shellgate_exec::Size;

use crate::ErrorObject;

/// The kernel takes no longer argument: 32 pages, less the final NUL.
pub const LONGEST_COMMAND: usize = 131_071;

/// One thing to run.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What to run.
    pub action: Action,
    /// The agent's own words about it.
    pub description: Option<String>,
    /// Where to run it, relative to the root.
    pub directory: Option<String>,
    /// Whether it goes on after the answer.
    pub background: bool,
    /// What it reads.
    pub stdin: Stdin,
    /// The terminal that it runs in, if it is to have one.
    pub pty: Option<Pty>,
    /// How long it may run. `None`: as the settings say.
    pub timeout: Option<Duration>,
    /// How long it may be silent. `None`: as the settings say.
    pub idle_timeout: Option<Duration>,
    /// How long its answer is waited for; then it goes on as a job. `None`: to its end.
    pub wait: Option<Duration>,
    /// Variables on top of the configured environment.
    pub env: BTreeMap<String, String>,
    /// What its words may name and be.
    pub words: Words,
    /// What becomes of substitutions.
    pub substitutions: Substitutions,
    /// The chat of the gate's session that it belongs to. `None`: the session itself.
    pub chat: Option<String>,
    /// Files to describe in the answer, relative to the root.
    pub artifacts: Vec<String>,
    /// Whether its output is somebody's own words, wanted whole besides the answer.
    pub speaks: bool,
    /// How much of its output the answer shows.
    pub detail: Detail,
    /// How the answer is written, where the dialect has a choice.
    pub format: Format,
    /// The form in which it came.
    pub dialect: &'static str,
    /// Variables by which the command can tell through which form it was started.
    pub marks: &'static [(&'static str, &'static str)],
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Text for a shell.
    Shell(String),
    /// A program and its arguments; no shell reads them.
    Program(Vec<String>),
}

impl Default for Action {
    fn default() -> Self {
        Self::Shell(String::new())
    }
}

impl Action {
    /// The action as a person would type it.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Shell(text) => text.clone(),
            Self::Program(argv) => argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }
}

/// A word, quoted if a shell would read it as anything but itself.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A terminal for a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pty {
    /// Its size.
    pub size: Size,
    /// What kind it is, as `TERM` says. `None`: `xterm-256color`.
    pub term: Option<String>,
}

/// The largest terminal, in either direction.
const LARGEST: u16 = 1000;

/// Reads a terminal's size, such as `24x80`: rows, then columns.
///
/// # Errors
/// `invalid_input`, when it isn't one.
pub fn parse_size(text: &str) -> Result<Size, ErrorObject> {
    let number = |word: &str| word.trim().parse().ok().filter(|count| (1..=LARGEST).contains(count));
    let size = text
        .split_once(['x', 'X'])
        .and_then(|(rows, cols)| Some(Size { rows: number(rows)?, cols: number(cols)? }));
    size.ok_or_else(|| {
        ErrorObject::invalid(format!("{text:?} is not the size of a terminal"))
            .token(text)
            .hint("rows and columns, each from 1 to 1000, such as `24x80`")
    })
}

/// What a command reads.
#[derive(Clone, Debug, Default)]
pub enum Stdin {
    /// Nothing: end of file at once.
    #[default]
    Closed,
    /// This text.
    Text(String),
    /// Whatever the descriptor gives.
    Descriptor(std::sync::Arc<std::os::fd::OwnedFd>),
}

/// What the words of a program call may name and be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Words {
    /// Anything that the rules allow.
    #[default]
    Free,
    /// A program inside the root or in a folder of PATH, paths inside the root, and no code.
    InScope,
}

/// What becomes of `$( )`, backticks, `<( )` and `>( )`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substitutions {
    /// What the settings say.
    #[default]
    AsConfigured,
    /// They are refused, wherever bash would run them.
    Refused,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For programs.
    #[default]
    Json,
    /// For reading.
    Markdown,
}

/// How much output an answer shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Up to `limits.answer_chars` of each stream.
    #[default]
    Minimal,
    /// Up to `limits.answer_bytes` of each stream.
    Full,
    /// Up to 400 characters of each stream.
    Preview,
}

impl Request {
    /// What a person is shown: the agent's own words, else the command; and that it goes to the background.
    #[must_use]
    pub fn shown_description(&self) -> String {
        let words = self.description.clone().unwrap_or_else(|| self.action.shown());
        if self.background { format!("{words} [background]") } else { words }
    }

    /// Looks for what no system could run.
    ///
    /// # Errors
    /// `invalid_input`, with the field that is the trouble.
    pub fn check(&self) -> Result<(), ErrorObject> {
        match &self.action {
            Action::Shell(text) => {
                if text.trim().is_empty() {
                    return Err(ErrorObject::invalid("`command` is blank")
                        .token("command")
                        .hint("say what to run, such as `ls -la`"));
                }
                check_word("command", text)?;
            }
            Action::Program(argv) => {
                if argv.first().is_none_or(|program| program.trim().is_empty()) {
                    return Err(ErrorObject::invalid("`command` is blank")
                        .token("command")
                        .hint("name one program; its arguments are a list of their own"));
                }
                for (at, word) in argv.iter().enumerate() {
                    check_word(if at == 0 { "command" } else { "args" }, word)?;
                }
            }
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = format!("`env` has the name {name:?}, which no variable can have");
                return Err(ErrorObject::invalid(message)
                    .token(name.clone())
                    .hint("a name is not empty and has no `=` and no NUL"));
            }
            // The kernel takes a variable as one word, its name included.
            check_word("env", &format!("{name}={value}"))?;
        }
        Ok(())
    }
}

fn check_word(field: &str, word: &str) -> Result<(), ErrorObject> {
    if word.contains('\0') {
        let message = format!("`{field}` holds a NUL character, which no program can be given");
        return Err(ErrorObject::invalid(message)
            .token(field)
            .hint("leave it out, or let the program make it"));
    }
    if word.len() > LONGEST_COMMAND {
        let message = format!("`{field}` is {} bytes long, the system takes {LONGEST_COMMAND}", word.len());
        return Err(ErrorObject::invalid(message)
            .token(field)
            .hint("write it to a file and run that, or use `stdin`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more() {
        let argv = ["echo", "it's", "a b", "", "x=1", "*"].map(str::to_owned).to_vec();
        assert_eq!(Action::Program(argv).shown(), r"echo 'it'\''s' 'a b' '' x=1 '*'");
    }

    #[test]
    fn the_longest_command_passes_and_one_byte_more_does_not() {
        let request = |length| Request { action: Action::Shell("x".repeat(length)), ..Request::default() };
        assert!(request(LONGEST_COMMAND).check().is_ok());
        assert_eq!(request(LONGEST_COMMAND + 1).check().unwrap_err().code, crate::Code::InvalidInput);
    }
}
