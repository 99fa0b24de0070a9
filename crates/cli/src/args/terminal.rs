//! Arguments of the commands that use a job's terminal.

use clap::Args;

use super::{Color, Common};

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Don't press Enter after the text
    #[arg(long)]
    pub(crate) no_newline: bool,
    /// Press this key after the text: `C-c`, `Enter`, `Up`, `F5`; repeatable
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<String>,
    /// Send end of input (Ctrl-D) at the end
    #[arg(long)]
    pub(crate) eof: bool,
    /// Id of the job, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Text to type
    #[arg(value_name = "TEXT", required_unless_present_any = ["key", "eof"], allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Id of the job, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// When to use colors; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Args)]
pub(crate) struct ResizeArgs {
    /// Id of the job, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Rows and columns, such as `40x120`
    #[arg(value_name = "ROWSxCOLS")]
    pub(crate) size: String,
}
