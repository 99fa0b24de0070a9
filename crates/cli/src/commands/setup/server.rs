//! The words that an agent starts shellgate with.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use shellgate::{Code, ErrorObject};

use super::agent::{Agent, NAME, Root, Start};
use crate::args::{Cli, Command, SetupArgs};
use crate::error::Trouble;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
}

impl Server {
    pub(crate) fn new(agent: &Agent, args: &SetupArgs) -> Result<Self, Trouble> {
        let mut words = vec!["mcp".to_owned()];
        if let Some(dialect) = args.dialect {
            words.extend(["--dialect".to_owned(), dialect.name.to_owned()]);
        }
        if let Some(root) = root(agent, args.root.as_deref())? {
            words.extend(["--root".to_owned(), root]);
        }
        words.extend(args.flags.iter().cloned());
        understood(&words)?;
        Ok(Self { command: command(agent.start)?, args: words })
    }
}

fn root(agent: &Agent, named: Option<&Path>) -> Result<Option<String>, Trouble> {
    if let Some(root) = named {
        let root = root.canonicalize().map_err(|error| {
            ErrorObject::invalid(format!("`--root {}`: {error}", root.display()))
                .hint("name a folder that is there")
        })?;
        return Ok(Some(text(root)?));
    }
    match agent.root {
        Root::Workspace => Ok(None),
        Root::Variable(text) => Ok(Some(text.to_owned())),
        Root::Unknown => {
            let message = format!("{} starts its servers in no project", agent.title);
            Err(ErrorObject::invalid(message).hint("name the folder to work in with `--root`").into())
        }
    }
}

/// What the server would say no to is better said now.
fn understood(words: &[String]) -> Result<(), Trouble> {
    let line = std::iter::once(NAME).chain(words.iter().map(String::as_str));
    let parsed = Cli::try_parse_from(line).map_err(|error| {
        let said = error.to_string();
        let said = said.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        ErrorObject::invalid(format!("`shellgate mcp` would not start: {said}"))
            .hint("`shellgate mcp --help` lists its flags")
    })?;
    let Command::Mcp(args) = &parsed.command else { return Ok(()) };
    if args.http.is_some() {
        let error = ErrorObject::invalid("with `--http` the agent's own server would not answer the agent");
        return Err(error.hint("leave it out: the agent talks to it on standard input").into());
    }
    // The agent starts it elsewhere.
    if let Some(path) = args.common.config.iter().find(|path| path.is_relative()) {
        let message = format!("`--config {}` would be looked for where the agent works", path.display());
        return Err(ErrorObject::invalid(message).hint("name the file with its whole path").into());
    }
    Ok(())
}

/// The program that runs now, so that it is found again. Its plain name where that leads to it and PATH is the same.
fn command(start: Start) -> Result<String, Trouble> {
    let own = std::env::current_exe().ok().filter(|path| path.is_file()).ok_or_else(|| {
        ErrorObject::new(Code::Config, "this program's own file is gone")
            .hint("install shellgate, and run that")
    })?;
    let same =
        |path: &PathBuf| path.canonicalize().ok().is_some_and(|path| Some(path) == own.canonicalize().ok());
    match on_path(NAME).filter(same) {
        Some(_) if start == Start::Terminal => Ok(NAME.to_owned()),
        // As PATH has it: that may be a link that an update leads elsewhere.
        Some(path) => text(path),
        None => text(own),
    }
}

/// The first file of that name on PATH that can be run.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| {
        file.is_absolute() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok() && file.is_file()
    })
}

fn text(path: PathBuf) -> Result<String, Trouble> {
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("`{}` can't be written in settings: it isn't UTF-8", path.display());
        ErrorObject::invalid(message).into()
    })
}
