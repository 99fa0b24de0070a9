//! `shellgate`: the command line.

mod args;
mod commands;
mod error;
mod interruptible_writer;
mod mode_tracker;
mod output;
mod output_escaper;
mod picture;
mod prompt;
mod queue_approver;
mod raw_terminal;
mod signals;
mod table;
mod terminal_session;
mod time;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    // Before anything else: this very program may have been started to be a keeper.
    shellgate::keeper_hook();
    shellgate_sandbox::signals::ignore_file_size_signal();
    let cli = match args::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return error::usage(error),
    };
    commands::dispatch(cli)
}
