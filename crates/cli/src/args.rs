//! What can be typed.

mod jobs;
mod record;
mod setup;
mod terminal;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use shellgate::settings::{
    ApprovalMode, Asker, Decision, Flags, Network, OnMissing, SandboxMode, parse_duration,
};
use shellgate::{Dialect, Envelope};

pub(crate) use jobs::{BackgroundArgs, JobsArgs, LogsArgs, WaitArgs};
pub(crate) use record::{
    ApprovalScope, ApprovalsCommand, AuditCommand, HistoryArgs, HistoryCommand, ListArgs, StopArgs, TrustArgs,
};
pub(crate) use setup::SetupArgs;

pub(crate) use terminal::{AttachArgs, ResizeArgs, SendArgs};

/// The gate that an AI agent's shell commands pass.
#[derive(Debug, Parser)]
#[command(
    name = "shellgate",
    bin_name = "shellgate",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command and show its output as it comes
    ///
    /// One word is text for bash; several words after `--` are a program and its arguments, which no shell reads.
    /// Exits as the command does: 128+n when it was ended by signal n, 127 not found, 126 not executable, 125 refused,
    /// 124 timed out, 130 canceled.
    #[command(after_help = "\
Examples:
  shellgate run 'cargo test 2>&1 | tail'
  shellgate run --timeout 30s -- rsync -a src/ dst/
  git diff | shellgate run 'wc -l'")]
    Run(RunArgs),
    /// Answer one tool call, as an agent makes it
    ///
    /// Standard output is exactly what the model would get. Exits 0 when the call was answered, 3 when it was refused.
    #[command(after_help = "\
Examples:
  shellgate call '{\"command\": \"ls -la\"}'
  echo '{\"command\": \"sleep 1; date\"}' | shellgate call --events")]
    Call(CallArgs),
    /// Say what the rules make of a command, without running it
    ///
    /// Shows the command with its parts numbered, a line per part with verdict, rule and reason. Exits 0 for allow, 10
    /// for ask, 20 for deny.
    #[command(after_help = "\
Examples:
  shellgate check 'git status && rm -rf build'
  shellgate check --core git --exclude 'git push' --explain 'git -C . push'
  shellgate check --json --file deploy.sh")]
    Check(CheckArgs),
    /// Serve an agent that speaks the Model Context Protocol
    ///
    /// On standard input and output: an agent's settings name this command. With `--http`, for clients that have the key.
    #[command(after_help = "\
Examples:
  shellgate mcp --root ~/project
  shellgate mcp --dialect gemini --exclude 'git push'
  shellgate mcp --http 8000")]
    Mcp(McpArgs),
    /// Print the declaration of the tool, as a model's API takes it
    ///
    /// Name, description and parameters, as JSON. What it advertises is what `call` with the same dialect accepts.
    #[command(after_help = "\
Examples:
  shellgate schema
  shellgate schema --dialect gemini --for gemini")]
    Schema(SchemaArgs),
    /// What was asked and run, newest first
    #[command(after_help = "\
Examples:
  shellgate history --since 2h --status failed
  shellgate history --search 'connection refused'
  shellgate history show 01K9")]
    History(HistoryArgs),
    /// Look whether the record is whole, and take it elsewhere
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Answer the questions of commands that wait for you, from any terminal
    ///
    /// The first answer counts: whoever comes later is told what it was, and exits 6. Exits 4 when no such question
    /// waits.
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// What runs, and what ended lately: state, age, CPU, memory, ports, last line
    Jobs(JobsArgs),
    /// What a job printed, and with `-f` what it goes on to print
    #[command(after_help = "\
Examples:
  shellgate logs 01K9 -f
  shellgate logs 01K9 --since 5m --grep error")]
    Logs(LogsArgs),
    /// Wait until a job ends, or prints, listens or is silent; exits as `run` would
    #[command(after_help = "\
Examples:
  shellgate wait 01K9
  shellgate wait 01K9 --port 8000 --timeout 30s
  shellgate wait 01K9 --pattern 'ready in'")]
    Wait(WaitArgs),
    /// Let a command that somebody waits for go on as a job
    Background(BackgroundArgs),
    /// Stop what runs, from any terminal
    ///
    /// Returns when it has ended. Exits 4 when there is nothing with that name to stop.
    Stop(StopArgs),
    /// Type at something that runs in a terminal
    ///
    /// Text for a shell is judged like a command. Exits 4 when no such job runs, 3 when the text is refused.
    #[command(after_help = "\
Examples:
  shellgate send 01K9 'make test'
  shellgate send 01K9 --key C-c
  shellgate send 01K9 --no-newline y")]
    Send(SendArgs),
    /// Sit at the terminal of something that runs; Ctrl-] leaves it
    ///
    /// What has no terminal is watched; Ctrl-C leaves that. It runs on in both cases.
    Attach(AttachArgs),
    /// Give the terminal of something that runs another size
    Resize(ResizeArgs),
    /// Let a project's `.shellgate.toml` loosen the rules, for its exact content
    ///
    /// Shows the file and asks. Until then, and after every change, it can only make things stricter.
    Trust(TrustArgs),
    /// Make shellgate known to an agent, in the agent's own settings
    ///
    /// Shows the change and asks. Without AGENT: lists the agents, and where shellgate is set up.
    #[command(after_help = "\
Examples:
  shellgate setup
  shellgate setup gemini --shell-off
  shellgate setup codex --dialect gemini -- --exclude 'git push'
  shellgate setup gemini --undo")]
    Setup(SetupArgs),
    /// What this machine can do, and what that means: shell, state folder, kernel, limits
    ///
    /// Exits 0 when everything that is needed is there, else 1.
    Doctor(DoctorArgs),
    /// Print a completion script for your shell
    Completions {
        /// The shell to complete in
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Leave it running and return
    #[arg(long)]
    pub(crate) background: bool,
    /// Text for bash
    #[arg(value_name = "COMMAND", conflicts_with = "argv", required_unless_present = "argv")]
    pub(crate) text: Option<OsString>,
    /// A program and its arguments; a single word is text for bash
    #[arg(last = true, value_name = "WORD")]
    pub(crate) argv: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print what happens as it happens, one JSON object a line
    #[arg(long)]
    pub(crate) events: bool,
    /// The arguments of the call; `-` or nothing reads standard input
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Show the tree that bash would read
    #[arg(long)]
    pub(crate) explain: bool,
    /// Judge the text in this file
    #[arg(long, value_name = "F", conflicts_with_all = ["text", "argv"])]
    pub(crate) file: Option<PathBuf>,
    /// Text for bash; `-` reads standard input
    #[arg(value_name = "COMMAND", conflicts_with = "argv", required_unless_present_any = ["argv", "file"])]
    pub(crate) text: Option<OsString>,
    /// A program and its arguments; a single word is text for bash
    #[arg(last = true, value_name = "WORD")]
    pub(crate) argv: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Listen for clients over HTTP at `/mcp`: a port of this machine, or an address and a port
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<shellgate_server::Address>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The folder whose settings count [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: record::OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The form of arguments and answers
    #[arg(long, value_name = "D", default_value = "shellgate", value_parser = dialect)]
    pub(crate) dialect: &'static Dialect,
    /// The API that it is for
    #[arg(long = "for", value_name = "API", default_value = "mcp", value_parser = envelope())]
    pub(crate) envelope: Envelope,
}

/// What every command takes that judges or runs.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The form of arguments and answers
    #[arg(long, value_name = "D", default_value = "shellgate", value_parser = dialect)]
    pub(crate) dialect: &'static Dialect,
    /// The folder that commands run in and below [default: `workspace.working_directory`, else the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// The conversation this belongs to [default: `$SHELLGATE_SESSION`, else one per root]
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// One more settings file, TOML or an agent's `settings.json`
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Allow commands that begin with PREFIX; may be repeated
    #[arg(long, value_name = "PREFIX")]
    core: Vec<String>,
    /// Deny commands that begin with PREFIX; may be repeated
    #[arg(long, value_name = "PREFIX")]
    exclude: Vec<String>,
    /// For what no rule covers
    #[arg(long, value_name = "D", value_parser = PossibleValuesParser::new(Decision::NAMES))]
    default: Option<String>,
    /// What becomes of a question
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(ApprovalMode::NAMES))]
    approve: Option<String>,
    /// Who is asked
    #[arg(long, value_name = "WHO", value_parser = PossibleValuesParser::new(["terminal", "queue"]))]
    ask: Option<String>,
    /// How commands are confined
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(SandboxMode::NAMES))]
    sandbox: Option<String>,
    /// Whether they reach the network
    #[arg(long, value_name = "N", value_parser = PossibleValuesParser::new(Network::NAMES))]
    network: Option<String>,
    /// When this machine can't confine as asked
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(OnMissing::NAMES))]
    on_missing: Option<String>,
    /// How long it may run: `30s`, `5m`, `1500ms`; a bare number is milliseconds
    #[arg(long, value_name = "T", value_parser = parse_duration, allow_negative_numbers = true)]
    timeout: Option<u64>,
    /// The folder to start in, relative to the root
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// For programs: the native result on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Colours [default: on a terminal, unless NO_COLOR is set]
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Common {
    /// `--timeout` where it is the call's own: a default one doesn't count for jobs.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_millis)
    }

    /// The flags that change settings. Clap has checked the words, so none fails here.
    pub(crate) fn flags(&self) -> Flags {
        fn word<T: std::str::FromStr>(text: Option<&String>) -> Option<T> {
            text.and_then(|text| text.parse().ok())
        }
        Flags {
            core: self.core.clone(),
            exclude: self.exclude.clone(),
            default: word::<Decision>(self.default.as_ref()),
            approve: word::<ApprovalMode>(self.approve.as_ref()),
            ask: word::<Asker>(self.ask.as_ref()),
            sandbox: word::<SandboxMode>(self.sandbox.as_ref()),
            network: word::<Network>(self.network.as_ref()),
            on_missing: word::<OnMissing>(self.on_missing.as_ref()),
            timeout_ms: self.timeout,
        }
    }
}

fn dialect(name: &str) -> Result<&'static Dialect, String> {
    Dialect::named(name).ok_or_else(|| {
        let names: Vec<String> = Dialect::ALL.iter().map(|dialect| format!("`{}`", dialect.name)).collect();
        format!("use {}", names.join(", "))
    })
}

fn envelope() -> impl TypedValueParser<Value = Envelope> {
    PossibleValuesParser::new(Envelope::NAMES).try_map(|name| Envelope::named(&name).ok_or("no such API"))
}
