//! Reads the command lines of the commands that run often, without making the others.
//!
//! clap makes every command with all its arguments and texts before it reads a word. For a process that runs one command this takes
//! as long as judging it. So only the command that the first word names is made. Whatever that can't read (other commands, help,
//! mistakes) is read again with all of them.

use std::ffi::OsString;

use clap::{Args as _, Command, FromArgMatches as _};

use super::{CallArgs, CheckArgs, Cli, McpArgs, RunArgs};

/// Adds the arguments of a command to it.
type AddArguments = fn(Command) -> Command;

/// The commands.
const COMMANDS: &[(&str, AddArguments)] = &[
    ("run", RunArgs::augment_args),
    ("call", CallArgs::augment_args),
    ("check", CheckArgs::augment_args),
    ("mcp", McpArgs::augment_args),
];

/// The command line. `None`: it has to be read with all commands.
pub(super) fn read(words: &[OsString]) -> Option<Result<Cli, clap::Error>> {
    let program = Command::new("shellgate");
    let first = words.get(1)?.to_str()?;
    if matches!(first, "--version" | "-V") && words.len() == 2 {
        return program.version(env!("CARGO_PKG_VERSION")).try_get_matches_from(words).err().map(Err);
    }
    let (name, add_arguments) = COMMANDS.iter().find(|(name, _)| *name == first)?;
    let only = program.subcommand(add_arguments(Command::new(*name)));
    let found = only.try_get_matches_from(words).ok()?;
    Cli::from_arg_matches(&found).ok().map(Ok)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("shellgate").chain(line.split(' ')).map(OsString::from).collect()
    }

    #[test]
    fn a_line_is_read_as_with_all_commands() {
        for line in [
            "run true",
            "run --approve allow --sandbox off --root /x true",
            "run --timeout 30s -C sub --core git --core cargo --background -- ls -la --color",
            "run --session=a/b --json --color never x",
            "call {}",
            "call --dialect gemini --core cat --events {}",
            "check --explain --json x",
            "check --file x",
            "mcp",
            "mcp --root /x --tools full --exclude rm",
            "mcp --http 8000",
        ] {
            let words = words(line);
            let quick = read(&words).unwrap_or_else(|| panic!("{line}")).unwrap();
            let all = Cli::try_parse_from(&words).unwrap();
            assert_eq!(format!("{quick:?}"), format!("{all:?}"), "{line}");
        }
    }

    #[test]
    fn the_version_is_told_as_with_all_commands() {
        for line in ["--version", "-V"] {
            let words = words(line);
            let quick = read(&words).unwrap().unwrap_err();
            let all = Cli::try_parse_from(&words).unwrap_err();
            assert_eq!((quick.kind(), quick.to_string()), (all.kind(), all.to_string()));
        }
    }

    #[test]
    fn help_mistakes_and_other_commands_are_read_with_all_commands() {
        for line in [
            "run --help",
            "run",
            "run --nonsense x",
            "run ls -la",
            "mcp -h",
            "jobs",
            "ru x",
            "--help",
            "check",
        ] {
            assert!(read(&words(line)).is_none(), "{line}");
        }
    }
}
