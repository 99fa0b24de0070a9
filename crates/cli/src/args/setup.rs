//! What can be typed after `setup`.

use std::path::PathBuf;

use clap::Args;
use shellgate::Dialect;

use super::{dialect, record::OutputArgs};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct SetupArgs {
    /// The agent: its name as `shellgate setup` lists it
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Take back what was set up
    #[arg(long, requires = "agent", conflicts_with_all = ["shell_off", "trust", "dialect", "root", "flags"])]
    pub(crate) undo: bool,
    /// Only show the change, and what to paste when the settings are elsewhere
    #[arg(long, requires = "agent")]
    pub(crate) print: bool,
    /// Don't ask
    #[arg(long, requires = "agent")]
    pub(crate) yes: bool,
    /// In the settings of the project in the current folder instead of your own
    #[arg(long, requires = "agent")]
    pub(crate) project: bool,
    /// Also switch off the agent's own shell tool
    #[arg(long, requires = "agent")]
    pub(crate) shell_off: bool,
    /// Also let the agent call shellgate without a question of its own: shellgate's rules decide
    #[arg(long, requires = "agent")]
    pub(crate) trust: bool,
    /// The form of arguments and answers, for the server
    #[arg(long, value_name = "D", requires = "agent", value_parser = dialect)]
    pub(crate) dialect: Option<&'static Dialect>,
    /// The folder that commands run in and below, for the server [default: where the agent starts it]
    #[arg(long, value_name = "DIR", requires = "agent")]
    pub(crate) root: Option<PathBuf>,
    /// More flags of `shellgate mcp`, for the server. They replace those that its entry has; without any, those stay
    #[arg(last = true, value_name = "FLAGS", requires = "agent")]
    pub(crate) flags: Vec<String>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}
