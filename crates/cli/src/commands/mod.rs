//! The commands, one file each.

mod approvals;
mod attach;
mod audit;
mod background;
mod call;
mod check;
mod completions;
mod config;
mod confirm;
mod doctor;
mod gain;
mod history;
mod import;
mod init;
mod jobs;
mod logs;
mod mcp;
mod resize;
mod run;
mod schema;
mod send;
mod setup;
mod stop;
mod trust;
mod wait;

use std::io;
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;
use shellgate::request::{Action, Stdin, Words};
use shellgate::settings::{Notice, Settings};
use shellgate::{Code, ErrorObject, Gate, GateBuilder, Request};

use crate::args::{Cli, Command, Common};
use crate::error::CliError;
use crate::logging;
use crate::output::{escape, print_note};

/// Runs the command of the command line.
pub(crate) fn dispatch(cli: Cli) -> ExitCode {
    match cli.command {
        Command::Run(args) => run::run(args),
        Command::Call(args) => call::call(args),
        Command::Check(args) => check::check(&args),
        Command::Mcp(args) => mcp::mcp(args),
        Command::Schema(args) => schema::schema(&args),
        Command::History(args) => history::history(args),
        Command::Gain(args) => gain::gain(args),
        Command::Audit(command) => audit::audit(command),
        Command::Approvals(command) => approvals::approvals(command),
        Command::Jobs(args) => jobs::jobs(&args),
        Command::Logs(args) => logs::logs(&args),
        Command::Wait(args) => wait::wait(&args),
        Command::Background(args) => background::background(&args),
        Command::Stop(args) => stop::stop(&args),
        Command::Send(args) => send::send(&args),
        Command::Attach(args) => attach::attach(&args),
        Command::Resize(args) => resize::resize(&args),
        Command::Trust(args) => trust::trust(&args),
        Command::Init(args) => init::init(&args),
        Command::Config(command) => config::config(&command),
        Command::Import(args) => import::import(&args),
        Command::Setup(args) => setup::setup(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completions { shell } => completions::completions(shell),
    }
}

/// The gate for one call. Its keeper is forked from this process.
fn gate(common: &Common) -> Result<Gate, ErrorObject> {
    builder(common).one_shot().log_with(logging::start_by_settings).build()
}

fn builder(common: &Common) -> GateBuilder {
    let dialect = common.dialect;
    let builder = Gate::builder().flags(common.flags());
    let builder = builder.default_root(dialect.default_root).default_preset(dialect.default_preset);
    let mut builder = builder.default_approval(dialect.default_approval);
    if let Some(root) = &common.root {
        builder = builder.root(root);
    }
    if let Some(session) = &common.session {
        builder = builder.session(session);
    }
    for file in &common.config {
        builder = builder.config(file);
    }
    builder
}

/// Names the settings that have no effect, on standard error.
fn show_notices(settings: &Settings) {
    for line in Notice::lines(&settings.notices) {
        print_note(&escape(&line));
    }
}

/// The request for an action in the command line's dialect. A dialect without a shell reads it like a call of its tool.
fn request(common: &Common, action: Action) -> Result<Request, ErrorObject> {
    let dialect = common.dialect;
    let request = match dialect.words {
        Words::Free => dialect.restrict(Request { action, ..Request::default() }),
        Words::InScope => {
            let words = match action {
                Action::Shell(text) => vec![text],
                Action::Program(words) => words,
            };
            let (command, parameters) = words.split_first().unzip();
            dialect.read(&json!({"command": command, "parameters": parameters}).to_string())?
        }
    };
    Ok(Request { directory: common.directory.clone(), ..request })
}

/// Our standard input, if it is a pipe or a file. A command doesn't read our terminal.
fn own_stdin() -> Stdin {
    let stdin = io::stdin();
    if io::IsTerminal::is_terminal(&stdin) {
        return Stdin::Closed;
    }
    stdin
        .as_fd()
        .try_clone_to_owned()
        .map_or(Stdin::Closed, |descriptor| Stdin::Descriptor(Arc::new(descriptor)))
}

/// The error for a record that can't be read.
fn unreadable(error: shellgate::journal::Error) -> CliError {
    ErrorObject::new(Code::Config, error.to_string()).into()
}
