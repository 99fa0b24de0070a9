//! A request to run something, the same for all dialects.

use std::collections::BTreeMap;
use std::time::Duration;

use shellgate_exec::Size;

use crate::ErrorObject;

/// The longest argument that the kernel takes: 32 pages, less the final NUL.
pub const MAX_ARGUMENT_BYTES: usize = 131_071;

/// A request to run one command.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What to run.
    pub action: Action,
    /// The agent's description of it.
    pub description: Option<String>,
    /// The directory to run it in, relative to the root.
    pub directory: Option<String>,
    /// Whether it runs in the background: the call is answered at once.
    pub background: bool,
    /// Its standard input.
    pub stdin: Stdin,
    /// The terminal that it runs in. `None`: it runs without a terminal.
    pub pty: Option<Pty>,
    /// How long it may run. `None`: the limit in the settings.
    pub timeout: Option<Duration>,
    /// How long it may print nothing. `None`: the limit in the settings.
    pub idle_timeout: Option<Duration>,
    /// How long the call waits for its end. After that it continues as a job. `None`: the call waits until it ends.
    pub wait: Option<Duration>,
    /// Variables to add to the configured environment.
    pub env: BTreeMap<String, String>,
    /// What the words of a program call may be.
    pub words: Words,
    /// How substitutions are treated.
    pub substitutions: Substitutions,
    /// The chat of the gate's session that it belongs to. `None`: the session itself.
    pub chat: Option<String>,
    /// Files to describe in the answer, relative to the root.
    pub artifacts: Vec<String>,
    /// Whether the program is an assistant, whose output is shown in full besides the answer.
    pub speaks: bool,
    /// How much of its output the answer shows.
    pub detail: Detail,
    /// Whether long output is shown as it is, though it could be condensed.
    pub raw: bool,
    /// The format of the answer, for dialects with a choice.
    pub format: Format,
    /// The dialect that it came in.
    pub dialect: &'static str,
    /// Variables that tell the command which dialect started it.
    pub marks: &'static [(&'static str, &'static str)],
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Text for a shell.
    Shell(String),
    /// A program and its arguments, started without a shell.
    Program(Vec<String>),
}

impl Default for Action {
    fn default() -> Self {
        Self::Shell(String::new())
    }
}

impl Action {
    /// The action as one line for a shell.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Shell(text) => text.clone(),
            Self::Program(argv) => argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }
}

/// A word, quoted if a shell would change it.
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
    /// The value of `TERM`. `None`: `xterm-256color`.
    pub term: Option<String>,
}

/// The most rows and the most columns of a terminal.
const MAX_TERMINAL_CELLS: u16 = 1000;

/// Reads a terminal's size, such as `24x80`: rows, then columns.
///
/// # Errors
/// `invalid_input` when `text` isn't a size.
pub fn parse_size(text: &str) -> Result<Size, ErrorObject> {
    let number =
        |word: &str| word.trim().parse().ok().filter(|count| (1..=MAX_TERMINAL_CELLS).contains(count));
    let size = text
        .split_once(['x', 'X'])
        .and_then(|(rows, cols)| Some(Size { rows: number(rows)?, cols: number(cols)? }));
    size.ok_or_else(|| {
        ErrorObject::invalid(format!("{text:?} is not the size of a terminal"))
            .token(text)
            .hint("rows and columns, each from 1 to 1000, such as `24x80`")
    })
}

/// The standard input of a command.
#[derive(Clone, Debug, Default)]
pub enum Stdin {
    /// End of file at once.
    #[default]
    Closed,
    /// This text.
    Text(String),
    /// A descriptor.
    Descriptor(std::sync::Arc<std::os::fd::OwnedFd>),
}

/// What the words of a program call may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Words {
    /// Anything that the rules allow.
    #[default]
    Free,
    /// The program must be inside the root or in a folder of PATH, paths must be inside the root, and words must not be code.
    InScope,
}

/// How `$( )`, backticks, `<( )` and `>( )` are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substitutions {
    /// By the policy in the settings.
    #[default]
    AsConfigured,
    /// Refused, wherever bash would run them.
    Refused,
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON, for programs.
    #[default]
    Json,
    /// Markdown, for reading.
    Markdown,
    /// The output as it is, and a closing line.
    Text,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Json, Self::Markdown, Self::Text];

    /// The name that calls use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Text => "text",
        }
    }

    /// The format of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
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
    /// The text that a person is shown: the agent's description or the command, and whether it runs in the background.
    #[must_use]
    pub fn shown_description(&self) -> String {
        let words = self.description.clone().unwrap_or_else(|| self.action.shown());
        if self.background { format!("{words} [background]") } else { words }
    }

    /// Refuses a request that no system could run.
    ///
    /// # Errors
    /// `invalid_input`, with the name of the field.
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
                        .hint("name one program; its arguments go into a list of their own"));
                }
                for (at, word) in argv.iter().enumerate() {
                    check_word(if at == 0 { "command" } else { "args" }, word)?;
                }
            }
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = format!("`env` has the name {name:?}, which is not a name of a variable");
                return Err(ErrorObject::invalid(message)
                    .token(name.clone())
                    .hint("a name is not empty, and contains no `=` and no NUL"));
            }
            // The kernel's limit counts a variable's name and value together.
            check_word("env", &format!("{name}={value}"))?;
        }
        Ok(())
    }
}

fn check_word(field: &str, word: &str) -> Result<(), ErrorObject> {
    if word.contains('\0') {
        let message = format!("`{field}` contains a NUL character, which can't be passed to a program");
        return Err(ErrorObject::invalid(message)
            .token(field)
            .hint("leave it out, or let the program produce it"));
    }
    if word.len() > MAX_ARGUMENT_BYTES {
        let message = format!(
            "`{field}` is {} bytes long, and the system takes at most {MAX_ARGUMENT_BYTES}",
            word.len()
        );
        return Err(ErrorObject::invalid(message)
            .token(field)
            .hint("write it to a file and run the file, or use `stdin`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        let argv = ["echo", "it's", "a b", "", "x=1", "*"].map(str::to_owned).to_vec();
        assert_eq!(Action::Program(argv).shown(), r"echo 'it'\''s' 'a b' '' x=1 '*'");
    }

    #[test]
    fn the_longest_command_passes_and_one_byte_more_does_not() {
        let request = |length| Request { action: Action::Shell("x".repeat(length)), ..Request::default() };
        assert!(request(MAX_ARGUMENT_BYTES).check().is_ok());
        assert_eq!(request(MAX_ARGUMENT_BYTES + 1).check().unwrap_err().code, crate::Code::InvalidInput);
    }
}
