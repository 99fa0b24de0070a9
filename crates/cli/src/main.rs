//! `shellgate`: the command line.

mod args;
mod commands;
mod error;
mod modes;
mod outlet;
mod output;
mod picture;
mod prompt;
mod queue_approver;
mod seat;
mod signals;
mod sitting;
mod table;
mod time;
mod visible;

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
