//! Arguments of the commands that manage jobs.

use clap::Args;
use shellgate::journal::Millis;
use shellgate::settings::parse_duration;

use super::record::OutputArgs;
use crate::time;

#[derive(Debug, Args)]
pub(crate) struct JobsArgs {
    /// Only jobs of this session and its chats
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Id of the job, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Follow the output until the job ends
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only output since `90s`, `15m` or `2h` ago, or since a time such as `2026-11-15T08:43` (UTC)
    #[arg(long, value_name = "T", value_parser = time::parse)]
    pub(crate) since: Option<Millis>,
    /// Only the last N lines of each stream
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) lines: Option<u64>,
    /// Only lines that match this regular expression
    #[arg(long, value_name = "RE")]
    pub(crate) grep: Option<String>,
    /// Only bytes A up to, not including, B: `100-200`, `100-`, `-200`; the first byte is 0
    #[arg(long, value_name = "A-B", value_parser = byte_range, allow_hyphen_values = true)]
    pub(crate) bytes: Option<(u64, Option<u64>)>,
    /// Only this stream
    #[arg(long, value_name = "STREAM", value_parser = ["stdout", "stderr"])]
    pub(crate) stream: Option<String>,
    /// Don't escape control codes on a terminal
    #[arg(long)]
    pub(crate) raw: bool,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Id of the job, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Wait until a printed line matches this regular expression
    #[arg(long, value_name = "RE")]
    pub(crate) pattern: Option<String>,
    /// Wait until it listens on port P, or on any port
    #[arg(long, value_name = "P", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) port: Option<u16>,
    /// Wait until it has printed nothing for this long
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    pub(crate) silence: Option<u64>,
    /// Give up after this time with exit code 124; the job keeps running
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    pub(crate) timeout: Option<u64>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BackgroundArgs {
    /// Id of the command, or its first characters
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
