//! The command line: commands, flags and their help texts.

mod jobs;
mod often;
mod record;
mod settings;
mod setup;
mod terminal;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use shellgate::settings::{
    ApprovalMode, Asker, Decision, Flags, Network, OnMissing, PresetChoice, SandboxMode, Word, parse_duration,
};
use shellgate::{Dialect, Envelope};

pub(crate) use jobs::{BackgroundArgs, JobsArgs, LogsArgs, WaitArgs};
pub(crate) use record::{
    ApprovalScope, ApprovalsCommand, AuditCommand, GainArgs, HistoryArgs, HistoryCommand, ListArgs, StopArgs,
    TrustArgs,
};
pub(crate) use settings::{ConfigCommand, ConfigShowArgs, ForeignAgent, ImportArgs, InitArgs};
pub(crate) use setup::SetupArgs;

pub(crate) use terminal::{AttachArgs, ResizeArgs, SendArgs};

/// The gate that an AI agent's shell commands pass.
#[derive(Debug, Parser)]
#[command(
    name = "shellgate",
    bin_name = "shellgate",
    version,
    arg_required_else_help = true,
    max_term_width = 80
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line of this process.
    ///
    /// # Errors
    /// When it can't be read, or asks for help or the version.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let words: Vec<OsString> = std::env::args_os().collect();
        often::read(&words).unwrap_or_else(|| Self::try_parse_from(words))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command and show its output as it comes
    ///
    /// A single word is text for bash. Several words after `--` are a program and its arguments; no shell reads them.
    ///
    /// Exit code: the command's own; 128+n if signal n ended it, 127 not found, 126 not executable, 125 refused, 124
    /// timed out, 130 canceled.
    #[command(after_help = "\
Examples:
  shellgate run 'cargo test 2>&1 | tail'
  shellgate run --timeout 30s -- rsync -a src/ dst/
  git diff | shellgate run 'wc -l'")]
    Run(RunArgs),
    /// Answer one tool call of an agent
    ///
    /// Standard output is exactly what the model would get. Exit code: 0 answered, 3 refused.
    #[command(after_help = "\
Examples:
  shellgate call '{\"command\": \"ls -la\"}'
  echo '{\"command\": \"sleep 1; date\"}' | shellgate call --events")]
    Call(CallArgs),
    /// Judge a command by the rules without running it
    ///
    /// Numbers the parts of the command and shows the verdict, the rule and the reason for each. Exit code: 0 allow, 10
    /// ask, 20 deny.
    #[command(after_help = "\
Examples:
  shellgate check 'git status && rm -rf build'
  shellgate check --core git --exclude 'git push' --explain 'git -C . push'
  shellgate check --json --file deploy.sh")]
    Check(CheckArgs),
    /// Serve agents over the Model Context Protocol (MCP)
    ///
    /// An agent's settings name this command; it talks to the agent on standard input and output. With `--http`, it
    /// serves clients that have the key.
    #[command(after_help = "\
Examples:
  shellgate mcp --root ~/project
  shellgate mcp --dialect gemini --exclude 'git push'
  shellgate mcp --http 8000")]
    Mcp(McpArgs),
    /// Print the tool declaration for a model's API
    ///
    /// The tool's name, description and parameters as JSON. `call` with the same dialect accepts what it declares.
    #[command(after_help = "\
Examples:
  shellgate schema
  shellgate schema --dialect gemini --for gemini")]
    Schema(SchemaArgs),
    /// List past commands, newest first, or show or forget one
    #[command(after_help = "\
Examples:
  shellgate history --since 2h --status failed
  shellgate history --search 'connection refused'
  shellgate history show 01K9")]
    History(HistoryArgs),
    /// Show what answers cost models in tokens, and what was saved
    ///
    /// Counts answers to commands that ended within their call: those of this session, and of all sessions in the last week.
    /// Tokens are estimated. In a bar, full blocks were paid and light blocks saved.
    Gain(GainArgs),
    /// Verify and export the audit log
    #[command(subcommand)]
    Audit(AuditCommand),
    /// List and answer questions of waiting commands
    ///
    /// Works from any terminal. The first answer counts. Exit code: 4 if no such question is waiting, 6 if it was
    /// answered before.
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// List running commands and those that ended within the hour
    ///
    /// Shows state, age, CPU time, memory, ports and last line of each.
    Jobs(JobsArgs),
    /// Print a job's output; `-f` follows it
    #[command(after_help = "\
Examples:
  shellgate logs 01K9 -f
  shellgate logs 01K9 --since 5m --grep error")]
    Logs(LogsArgs),
    /// Wait until a job ends, prints a line, listens or falls silent
    ///
    /// Exit code: as `run` when the job ended; 0 when another condition was met; 124 after `--timeout`.
    #[command(after_help = "\
Examples:
  shellgate wait 01K9
  shellgate wait 01K9 --port 8000 --timeout 30s
  shellgate wait 01K9 --pattern 'ready in'")]
    Wait(WaitArgs),
    /// Turn a running foreground command into a job
    ///
    /// Its caller is answered at once, and the command keeps running.
    Background(BackgroundArgs),
    /// Stop running commands
    ///
    /// Returns when all their processes have ended. Exit code: 4 if no such command is running.
    Stop(StopArgs),
    /// Type text or keys into a job's terminal
    ///
    /// Text for a shell is judged like a command. Exit code: 3 if the text is refused, 4 if no such job is running.
    #[command(after_help = "\
Examples:
  shellgate send 01K9 'make test'
  shellgate send 01K9 --key C-c
  shellgate send 01K9 --no-newline y")]
    Send(SendArgs),
    /// Connect to a job's terminal; Ctrl-] detaches
    ///
    /// For a job without a terminal, follows its output until Ctrl-C. The job keeps running in both cases.
    Attach(AttachArgs),
    /// Change the size of a job's terminal
    Resize(ResizeArgs),
    /// Trust a project's `.shellgate.toml`
    ///
    /// It is looked for in the root, then in the folders above it up to the repository's top. Shows the file and asks for confirmation. A trusted file may loosen the rules; any other file, and a trusted one
    /// after any change, can only make them stricter.
    Trust(TrustArgs),
    /// Write a starter `.shellgate.toml` for this project
    ///
    /// Looks at the project, shows the file and asks for confirmation. An existing file is never changed.
    #[command(after_help = "\
Examples:
  shellgate init
  shellgate init --print")]
    Init(InitArgs),
    /// Show the settings in force
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Turn another agent's permissions into rules
    ///
    /// Reads permissions of Claude Code, Qwen Code and opencode, rules of Codex, and policies of Gemini CLI. Shows the
    /// rules, and names each entry that has no equal; then asks before it adds them to your settings.
    #[command(after_help = "\
Examples:
  shellgate import ~/.claude/settings.json
  shellgate import --print ~/.codex/rules/default.rules")]
    Import(ImportArgs),
    /// Add shellgate to an agent's settings
    ///
    /// Shows the change and asks for confirmation. Without AGENT, lists the known agents and where shellgate is set up.
    #[command(after_help = "\
Examples:
  shellgate setup
  shellgate setup gemini --shell-off
  shellgate setup codex --dialect gemini -- --exclude 'git push'
  shellgate setup gemini --undo")]
    Setup(SetupArgs),
    /// Check this machine: shell, state folder, kernel, limits
    ///
    /// Exit code: 0 if everything required is available, else 1.
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    Completions {
        /// Shell to print the script for
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start the command as a job and return
    #[arg(long)]
    pub(crate) background: bool,
    /// Text for bash
    #[arg(value_name = "COMMAND", conflicts_with = "argv", required_unless_present = "argv")]
    pub(crate) text: Option<OsString>,
    /// Program and its arguments; a single word is text for bash
    #[arg(last = true, value_name = "WORD")]
    pub(crate) argv: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print events as they happen, one JSON object per line
    #[arg(long)]
    pub(crate) events: bool,
    /// Arguments of the call [default: read standard input, as with `-`]
    #[arg(value_name = "JSON")]
    pub(crate) arguments: Option<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Show which step of the rules decided about each part, and the syntax tree
    #[arg(long)]
    pub(crate) explain: bool,
    /// Judge the text in FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "argv"])]
    pub(crate) file: Option<PathBuf>,
    /// Text for bash; `-` reads it from standard input
    #[arg(value_name = "COMMAND", conflicts_with = "argv", required_unless_present_any = ["argv", "file"])]
    pub(crate) text: Option<OsString>,
    /// Program and its arguments; a single word is text for bash
    #[arg(last = true, value_name = "WORD")]
    pub(crate) argv: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Serve HTTP clients at `/mcp` on this port, or ADDRESS:PORT
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<shellgate_server::Address>,
    /// Tools to list: `common` (all, with common fields), `shell` (only the one that runs commands) or `full` (all fields)
    #[arg(long, value_name = "LIST", default_value = "common", value_parser = tools())]
    pub(crate) tools: shellgate_server::OfferedTools,
}

fn tools() -> impl TypedValueParser<Value = shellgate_server::OfferedTools> {
    PossibleValuesParser::new(shellgate_server::OfferedTools::NAMES)
        .map(|name| shellgate_server::OfferedTools::named(&name).unwrap_or_default())
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Write versions, settings, findings and logs to a new archive (.tar) for a bug report, with secrets hidden
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
    /// Folder whose settings apply [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: record::OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Form of arguments and answers
    #[arg(long, value_name = "D", default_value = "shellgate", value_parser = dialect)]
    pub(crate) dialect: &'static Dialect,
    /// API that the declaration is for
    #[arg(long = "for", value_name = "API", default_value = "mcp", value_parser = envelope())]
    pub(crate) envelope: Envelope,
}

/// Flags of every command that judges or runs something.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Form of arguments and answers
    #[arg(long, value_name = "D", default_value = "shellgate", value_parser = dialect)]
    pub(crate) dialect: &'static Dialect,
    /// Folder that commands run in [default: `workspace.working_directory`, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Session, such as one conversation [default: `$SHELLGATE_SESSION`, else one per root]
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,
    /// Another settings file: TOML, or an agent's `settings.json`; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Allow commands that begin with PREFIX; repeatable
    #[arg(long, value_name = "PREFIX")]
    core: Vec<String>,
    /// Deny commands that begin with PREFIX; repeatable
    #[arg(long, value_name = "PREFIX")]
    exclude: Vec<String>,
    /// What is free where no rule says anything [default: by dialect and sandbox]
    #[arg(long, value_name = "P", value_parser = PossibleValuesParser::new(PresetChoice::NAMES))]
    preset: Option<String>,
    /// Allow commands like PATTERN, with `*` for any words; repeatable
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<String>,
    /// Deny commands like PATTERN; repeatable
    #[arg(long, value_name = "PATTERN")]
    deny: Vec<String>,
    /// Decision for commands that no rule covers
    #[arg(long, value_name = "D", value_parser = PossibleValuesParser::new(Decision::NAMES))]
    default: Option<String>,
    /// What to do when the rules say `ask`. `ask`: a person decides. `deny`: refuse without asking. `allow`: run without
    /// asking
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(ApprovalMode::NAMES))]
    approve: Option<String>,
    /// Where to ask: on this terminal, or in the queue of `shellgate approvals`
    #[arg(long, value_name = "WHERE", value_parser = PossibleValuesParser::new(["terminal", "queue"]))]
    ask: Option<String>,
    /// How to confine commands
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(SandboxMode::NAMES))]
    sandbox: Option<String>,
    /// Whether commands may use the network
    #[arg(long, value_name = "N", value_parser = PossibleValuesParser::new(Network::NAMES))]
    network: Option<String>,
    /// What to do if this machine can't confine as requested
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(OnMissing::NAMES))]
    on_missing: Option<String>,
    /// Time limit, with a unit: `30s`, `5m`, `1500ms`
    #[arg(long, value_name = "T", value_parser = parse_duration, allow_negative_numbers = true)]
    timeout: Option<u64>,
    /// Folder to start in, relative to the root
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use colors; `auto`: on a terminal, unless NO_COLOR is set
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
    /// `--timeout` as the timeout of this call. Unlike a default timeout, it applies to jobs as well.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_millis)
    }

    /// The flags that change settings. Clap has validated the values, so parsing them can't fail here.
    pub(crate) fn flags(&self) -> Flags {
        fn word<T: Word>(text: Option<&String>) -> Option<T> {
            text.and_then(|text| T::from_name(text))
        }
        Flags {
            core: self.core.clone(),
            exclude: self.exclude.clone(),
            preset: word::<PresetChoice>(self.preset.as_ref()),
            allow: self.allow.clone(),
            deny: self.deny.clone(),
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
