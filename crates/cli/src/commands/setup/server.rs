//! The command line with which an agent starts shellgate.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::{Map, Value, json};
use shellgate::{Code, ErrorObject};

use super::agent::{Agent, ENTRY_NAME, Root, Shape, Start};
use super::existing_entry::ExistingEntry;
use crate::args::{Cli, Command, SetupArgs};
use crate::error::CliError;

/// How to start the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    /// A program and its arguments.
    Words { command: String, args: Vec<String> },
    /// The keys of the existing entry, unchanged.
    AsWritten(Map<String, Value>),
}

impl Server {
    /// The command line for these flags. Without flags after `--`, the arguments of an existing entry stay.
    pub(crate) fn new(agent: &Agent, args: &SetupArgs, there: ExistingEntry) -> Result<Self, CliError> {
        match there {
            ExistingEntry::Standard(words) if args.flags.is_empty() => Self::keeping(agent, args, words),
            ExistingEntry::Custom(own) if args.flags.is_empty() => {
                if args.dialect.is_none() && args.root.is_none() {
                    return Ok(Self::AsWritten(own));
                }
                let message = format!("{}'s entry starts shellgate through another program", agent.title);
                let hint = "add `--root` and `--dialect` there yourself, or give all flags after `--` to replace \
                            the entry";
                Err(ErrorObject::invalid(message).hint(hint).into())
            }
            _ => Self::fresh(agent, args),
        }
    }

    fn keeping(agent: &Agent, args: &SetupArgs, there: Vec<String>) -> Result<Self, CliError> {
        let mut words = there.clone();
        if let Some(dialect) = args.dialect {
            set_flag(&mut words, "--dialect", dialect.name.to_owned());
        }
        if let Some(root) = args.root.as_deref().map(full_path).transpose()? {
            set_flag(&mut words, "--root", root);
        }
        // Arguments that we don't change are not validated.
        if words != there {
            validate(&words)?;
        }
        Ok(Self::Words { command: command(agent.start)?, args: words })
    }

    fn fresh(agent: &Agent, args: &SetupArgs) -> Result<Self, CliError> {
        let mut words = vec!["mcp".to_owned()];
        if let Some(dialect) = args.dialect {
            words.extend(["--dialect".to_owned(), dialect.name.to_owned()]);
        }
        if let Some(root) = root(agent, args.root.as_deref())? {
            words.extend(["--root".to_owned(), root]);
        }
        words.extend(args.flags.iter().cloned());
        validate(&words)?;
        Ok(Self::Words { command: command(agent.start)?, args: words })
    }

    /// The keys of an entry that start the server.
    pub(crate) fn start(&self, shape: Shape) -> Value {
        match (self, shape) {
            (Self::AsWritten(own), _) => Value::Object(own.clone()),
            (Self::Words { command, args }, Shape::Plain | Shape::Typed) => {
                json!({"command": command, "args": args})
            }
            (Self::Words { command, args }, Shape::Joined) => {
                json!({"command": std::iter::once(command).chain(args).collect::<Vec<_>>()})
            }
            (Self::Words { command, args }, Shape::Goose) => json!({"cmd": command, "args": args}),
        }
    }
}

/// Sets the value of a flag, in its place or at the end.
fn set_flag(words: &mut Vec<String>, flag: &str, value: String) {
    let joined = format!("{flag}=");
    let is_it = |word: &String| word == flag || word.starts_with(&joined);
    let place = match words.iter().position(is_it) {
        Some(at) if words.get(at).is_some_and(|word| word == flag) => at..words.len().min(at + 2),
        Some(at) => at..at + 1,
        None => words.len()..words.len(),
    };
    words.splice(place, [flag.to_owned(), value]);
}

fn root(agent: &Agent, named: Option<&Path>) -> Result<Option<String>, CliError> {
    if let Some(root) = named {
        return Ok(Some(full_path(root)?));
    }
    match agent.root {
        Root::Workspace => Ok(None),
        Root::Variable(text) => Ok(Some(text.to_owned())),
        Root::Unknown => {
            let message = format!("{} does not start servers in a project", agent.title);
            Err(ErrorObject::invalid(message).hint("name the folder to work in with `--root`").into())
        }
    }
}

/// The absolute path of an existing folder.
fn full_path(root: &Path) -> Result<String, CliError> {
    let path = root.canonicalize().map_err(|error| {
        ErrorObject::invalid(format!("`--root {}`: {error}", root.display())).hint("name an existing folder")
    })?;
    text(path)
}

/// Refuses arguments that `shellgate mcp` would refuse.
fn validate(words: &[String]) -> Result<(), CliError> {
    let line = std::iter::once(ENTRY_NAME).chain(words.iter().map(String::as_str));
    let parsed = Cli::try_parse_from(line).map_err(|error| {
        let said = error.to_string();
        let said = said.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        ErrorObject::invalid(format!("`shellgate mcp` would not start: {said}"))
            .hint("`shellgate mcp --help` lists its flags")
    })?;
    let Command::Mcp(args) = &parsed.command else { return Ok(()) };
    if args.http.is_some() {
        let error =
            ErrorObject::invalid("with `--http`, the server would not answer the agent that starts it");
        return Err(error.hint("leave it out: the agent uses standard input and output").into());
    }
    // The agent starts the server in another folder.
    if let Some(path) = args.common.config.iter().find(|path| path.is_relative()) {
        let message =
            format!("`--config {}` would be relative to the folder where the agent works", path.display());
        return Err(ErrorObject::invalid(message).hint("use an absolute path").into());
    }
    Ok(())
}

/// The path of this program, or its plain name if the agent has the same PATH and finds this program there.
fn command(start: Start) -> Result<String, CliError> {
    let own = std::env::current_exe().ok().filter(|path| path.is_file()).ok_or_else(|| {
        ErrorObject::new(Code::Config, "the file of this program is gone")
            .hint("install shellgate and run that")
    })?;
    let same =
        |path: &PathBuf| path.canonicalize().ok().is_some_and(|path| Some(path) == own.canonicalize().ok());
    match on_path(ENTRY_NAME).filter(same) {
        Some(_) if start == Start::Terminal => Ok(ENTRY_NAME.to_owned()),
        // The path on PATH may be a link, which updates keep valid.
        Some(path) => text(path),
        None => text(own),
    }
}

/// The first executable file with this name on PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| {
        file.is_absolute() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok() && file.is_file()
    })
}

fn text(path: PathBuf) -> Result<String, CliError> {
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("`{}` can't be written in settings: it isn't UTF-8", path.display());
        ErrorObject::invalid(message).into()
    })
}
