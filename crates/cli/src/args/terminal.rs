//! What can be typed to use the terminals of what runs.

use clap::Args;

use super::{Color, Common};

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Don't press Enter behind the text
    #[arg(long)]
    pub(crate) no_newline: bool,
    /// Press this key, behind the text: `C-c`, `Enter`, `Up`, `F5`; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<String>,
    /// End the input, last of all
    #[arg(long)]
    pub(crate) eof: bool,
    /// The execution's name, or how that begins
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// What to type
    #[arg(value_name = "TEXT", required_unless_present_any = ["key", "eof"], allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// The execution's name, or how that begins
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Colours [default: on a terminal, unless NO_COLOR is set]
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Args)]
pub(crate) struct ResizeArgs {
    /// The execution's name, or how that begins
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Rows and columns, such as `40x120`
    #[arg(value_name = "ROWSxCOLS")]
    pub(crate) size: String,
}
