//! What can be typed to look at the record, answer its questions and stop what it says is running.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use shellgate::journal::{Head, Millis, QuestionId, Status};

use super::Color;
use crate::time;

/// How what was found is shown.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputArgs {
    /// For programs: JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Colours [default: on a terminal, unless NO_COLOR is set]
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
    /// Only of this session and its chats
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Only in this state; may be repeated
    #[arg(long, value_name = "X", value_parser = status())]
    pub(crate) status: Vec<Status>,
    /// Not before: `15m`, `2h`, `7d` ago, `2026-11-15` or `2026-11-15T08:43`, in UTC
    #[arg(long, value_name = "T", value_parser = time::parse)]
    pub(crate) since: Option<Millis>,
    /// Before this time
    #[arg(long, value_name = "T", value_parser = time::parse)]
    pub(crate) until: Option<Millis>,
    /// At most so many; 0: all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// With this text in the command or in the kept output
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// The whole story of one execution: asked, judged, answered, started, ended, printed
    Show {
        /// Its name, or how that begins
        #[arg(value_name = "ID")]
        id: String,
        /// Print its output as it is, also on a terminal, where control codes act
        #[arg(long, conflicts_with = "json")]
        raw: bool,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Remove what one execution said, did and printed; a note that it was removed stays
    Forget {
        /// Its name, or how that begins
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        shown: OutputArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Look whether the record is what was written; exits 5 and names the first entry that isn't
    Verify {
        /// A head that was kept elsewhere: also finds a record that was computed anew or shortened
        #[arg(long, value_name = "H")]
        head: Option<Head>,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Print the number and hash of the last entry, to be kept elsewhere
    Head {
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Write every entry as a line of JSON, oldest first
    Export {
        #[command(flatten)]
        shown: OutputArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// The questions that wait, with all that there is to know
    List {
        /// Only this one
        #[arg(value_name = "ID")]
        id: Option<QuestionId>,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Say yes: this time, unless a flag says more
    Approve {
        /// The number of the question
        #[arg(value_name = "ID")]
        id: QuestionId,
        #[command(flatten)]
        reach: ApprovalScope,
        #[command(flatten)]
        shown: OutputArgs,
    },
    /// Say no
    Deny {
        /// The number of the question
        #[arg(value_name = "ID")]
        id: QuestionId,
        /// What the model is told
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        shown: OutputArgs,
    },
}

/// How far a yes goes.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ApprovalScope {
    /// And for exactly this command, as long as the session lasts
    #[arg(long)]
    pub(crate) session: bool,
    /// And for what begins with the offered words, as long as the session lasts
    #[arg(long)]
    pub(crate) prefix: bool,
    /// And from now on: the offered lines are written to your settings
    #[arg(long)]
    pub(crate) always: bool,
}

#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false, args = ["id", "session", "all"])]
pub(crate) struct StopArgs {
    /// The execution's name, or how that begins
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Everything that this session and its chats run
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Everything that any session runs
    #[arg(long)]
    pub(crate) all: bool,
    /// At once, without time to clean up
    #[arg(long)]
    pub(crate) now: bool,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The project [default: `workspace.working_directory`, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Don't ask
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) shown: OutputArgs,
}

fn status() -> impl TypedValueParser<Value = Status> {
    PossibleValuesParser::new(Status::ALL.iter().map(|status| status.name()))
        .try_map(|name| Status::named(&name).ok_or("no such state"))
}
