//! `shellgate`: the command line.

mod args;
mod commands;
mod error;
mod interruptible_writer;
mod logging;
mod mode_tracker;
mod output;
mod prompt;
mod queue_approver;
mod raw_terminal;
mod signals;
mod table;
mod terminal_session;
mod time;

use std::process::ExitCode;

use crate::logging::Role;

fn main() -> ExitCode {
    // Before anything else: this very program may have been started to be a keeper.
    shellgate::keeper_hook_with_log(logging::start_in_keeper);
    shellgate_sandbox::signals::ignore_file_size_signal();
    let cli = match args::Cli::read() {
        Ok(cli) => cli,
        Err(error) => return error::usage(error),
    };
    let is_server = matches!(cli.command, args::Command::Mcp(_));
    logging::start_by_environment(if is_server { Role::Server } else { Role::FrontEnd });
    commands::dispatch(cli)
}
