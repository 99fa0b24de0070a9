//! Arguments of the commands that read the record, answer questions and stop commands.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use shellgate::journal::{GrantId, Head, Millis, QuestionId, Status};

use super::Color;
use crate::time;

/// Flags for the form of the output.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use colors; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub(crate) command: Option<HistoryCommand>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only commands of this session and its chats
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Only commands in this state; repeatable
    #[arg(long, value_name = "X", value_parser = status())]
    pub(crate) status: Vec<Status>,
    /// Only since `15m`, `2h` or `7d` ago, or since `2026-11-15` or `2026-11-15T08:43` (UTC)
    #[arg(long, value_name = "T", value_parser = time::parse)]
    pub(crate) since: Option<Millis>,
    /// Only before this time
    #[arg(long, value_name = "T", value_parser = time::parse)]
    pub(crate) until: Option<Millis>,
    /// At most N commands; 0: all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Only with TEXT in the command or in its stored output
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Show one command: request, verdict, answers, start, end and output
    Show {
        /// Id of the command, or its first characters
        #[arg(value_name = "ID")]
        id: String,
        /// Don't escape control codes of its output on a terminal
        #[arg(long, conflicts_with = "json")]
        raw: bool,
        /// Print the answer that the model was given instead of all output
        #[arg(long, conflicts_with_all = ["json", "raw"])]
        answer: bool,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Erase the record and the output of one command; a note of that stays
    Forget {
        /// Id of the command, or its first characters
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        shown: OutputArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct GainArgs {
    /// Session and its chats [default: `$SHELLGATE_SESSION`, else that of the current folder]
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Verify the hash chain; exits 5 and names the first broken entry
    Verify {
        /// Head stored elsewhere; detects a log that was rewritten or shortened
        #[arg(long, value_name = "H")]
        head: Option<Head>,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Print the number and hash of the last entry, to store elsewhere
    Head {
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Write all entries as JSON, one per line, oldest first
    Export {
        #[command(flatten)]
        shown: OutputArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Show waiting questions in full
    List {
        /// Only this question
        #[arg(value_name = "ID")]
        id: Option<QuestionId>,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Approve a command, once unless a flag says otherwise
    Approve {
        /// Number of the question
        #[arg(value_name = "ID")]
        id: QuestionId,
        #[command(flatten)]
        reach: ApprovalScope,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// List approvals for a session that are in force
    Grants {
        /// Only approvals for this session and its chats
        #[arg(long, value_name = "S")]
        session: Option<String>,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// End an approval for a session
    Revoke {
        /// Number of the approval, as `grants` lists it
        #[arg(value_name = "ID")]
        id: GrantId,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Wait for questions and answer each at this terminal; Ctrl-C ends it
    ///
    /// Without a terminal, or with `--json`, it prints each question as a line of JSON and answers none.
    Watch {
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Deny a command
    Deny {
        /// Number of the question
        #[arg(value_name = "ID")]
        id: QuestionId,
        /// Reason that the model is told
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        shown: OutputArgs,
    },
}

/// What an approval covers.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag, and clap lets one be given")]
pub(crate) struct ApprovalScope {
    /// Approve exactly this command for the rest of the session
    #[arg(long)]
    pub(crate) session: bool,
    /// Approve commands that begin with the offered prefix for the rest of the session
    #[arg(long)]
    pub(crate) prefix: bool,
    /// Approve from now on commands that begin with the offered prefix: writes the offered lines to your settings
    #[arg(long)]
    pub(crate) always: bool,
    /// Approve exactly this command from now on: writes the offered lines to your settings
    #[arg(long)]
    pub(crate) always_exact: bool,
}

#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false, args = ["id", "session", "all"])]
pub(crate) struct StopArgs {
    /// Id of the command, or its first characters
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// All commands of this session and its chats
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// All commands of all sessions
    #[arg(long)]
    pub(crate) all: bool,
    /// Kill at once, without time to clean up
    #[arg(long)]
    pub(crate) now: bool,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Folder of the project [default: `workspace.working_directory`, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Don't ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

fn status() -> impl TypedValueParser<Value = Status> {
    PossibleValuesParser::new(Status::ALL.iter().map(|status| status.name()))
        .try_map(|name| Status::named(&name).ok_or("no such state"))
}
