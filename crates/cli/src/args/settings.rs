//! Arguments of the commands about settings: `config`, `init`, `import`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::record::OutputArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show which settings are in force, and where each comes from
    Show(ConfigShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigShowArgs {
    /// Folder whose settings apply [default: `workspace.working_directory`, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Another settings file; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder of the project [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Only show the file
    #[arg(long, conflicts_with = "yes")]
    pub(crate) print: bool,
    /// Don't ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Settings or rules of another agent
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Agent that the file is from [default: by its content]
    #[arg(long, value_name = "AGENT")]
    pub(crate) from: Option<ForeignAgent>,
    /// Only show the result
    #[arg(long, conflicts_with = "yes")]
    pub(crate) print: bool,
    /// Don't ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

/// An agent whose rules can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForeignAgent {
    Claude,
    Codex,
    Gemini,
    Qwen,
    Opencode,
}
