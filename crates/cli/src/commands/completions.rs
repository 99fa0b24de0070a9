//! `shellgate completions`

use std::process::ExitCode;

use clap::CommandFactory as _;

pub(super) fn completions(shell: clap_complete::Shell) -> ExitCode {
    clap_complete::generate(shell, &mut crate::args::Cli::command(), "shellgate", &mut std::io::stdout());
    ExitCode::SUCCESS
}
