//! What can be typed to look after jobs.

use clap::Args;
use shellgate::journal::Millis;
use shellgate::settings::parse_duration;

use super::record::OutputArgs;
use crate::time;

#[derive(Debug, Args)]
pub(crate) struct JobsArgs {
    /// Only of this session and its chats
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The job's name, or how that begins
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Go on with what it prints, until it ends
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only what was printed since: `90s`, `15m`, `2h` ago, `2026-11-15T08:43`, in UTC
    #[arg(long, value_name = "T", value_parser = time::parse)]
    pub(crate) since: Option<Millis>,
    /// Only the last N lines of each stream
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) lines: Option<u64>,
    /// Only lines in which this regular expression is found
    #[arg(long, value_name = "RE")]
    pub(crate) grep: Option<String>,
    /// Only these bytes: `100-200`, `100-`, `-200`; the first byte is 0, the last one isn't part of it
    #[arg(long, value_name = "A-B", value_parser = byte_range, allow_hyphen_values = true)]
    pub(crate) bytes: Option<(u64, Option<u64>)>,
    /// Only this stream
    #[arg(long, value_name = "STREAM", value_parser = ["stdout", "stderr"])]
    pub(crate) stream: Option<String>,
    /// Don't escape what a terminal would act on
    #[arg(long)]
    pub(crate) raw: bool,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// The job's name, or how that begins
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Or until a line is printed in which this regular expression is found
    #[arg(long, value_name = "RE")]
    pub(crate) pattern: Option<String>,
    /// Or until it listens on this port, or on any
    #[arg(long, value_name = "P", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) port: Option<u16>,
    /// Or until it was silent for so long
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    pub(crate) silence: Option<u64>,
    /// But no longer than this; then exits 124, and the job goes on
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    pub(crate) timeout: Option<u64>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BackgroundArgs {
    /// The execution's name, or how that begins
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

fn byte_range(text: &str) -> Result<(u64, Option<u64>), String> {
    let wrong = || format!("`{text}` isn't a range of bytes like `100-200`, `100-` or `-200`");
    let (from, to) = text.split_once('-').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    let from = if from.is_empty() { 0 } else { number(from)? };
    let to = if to.is_empty() { None } else { Some(number(to)?) };
    if to.is_some_and(|to| to < from) { Err(wrong()) } else { Ok((from, to)) }
}
