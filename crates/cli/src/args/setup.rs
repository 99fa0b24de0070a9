//! Arguments of `shellgate setup`.

use std::path::PathBuf;

use clap::Args;
use shellgate::Dialect;

use super::{dialect, record::OutputArgs};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct SetupArgs {
    /// Name of the agent, as `shellgate setup` lists it
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Undo what `setup` did
    #[arg(long, requires = "agent", conflicts_with_all = ["shell_off", "trust", "dialect", "root", "flags"])]
    pub(crate) undo: bool,
    /// Only show the change, and the lines to paste by hand
    #[arg(long, requires = "agent")]
    pub(crate) print: bool,
    /// Don't ask for confirmation
    #[arg(long, requires = "agent")]
    pub(crate) yes: bool,
    /// Change the settings of the project in the current folder instead of yours
    #[arg(long, requires = "agent")]
    pub(crate) project: bool,
    /// Also disable the agent's own shell tool
    #[arg(long, requires = "agent")]
    pub(crate) shell_off: bool,
    /// Also let the agent call shellgate without asking you; shellgate's rules decide
    #[arg(long, requires = "agent")]
    pub(crate) trust: bool,
    /// Form of arguments and answers of the server
    #[arg(long, value_name = "D", requires = "agent", value_parser = dialect)]
    pub(crate) dialect: Option<&'static Dialect>,
    /// Folder that the server runs commands in [default: where the agent starts it]
    #[arg(long, value_name = "DIR", requires = "agent")]
    pub(crate) root: Option<PathBuf>,
    /// More flags for `shellgate mcp`; they replace all flags of an existing entry
    #[arg(last = true, value_name = "FLAGS", requires = "agent")]
    pub(crate) flags: Vec<String>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}
