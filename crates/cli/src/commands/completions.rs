//! `shellgate completions`

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::output;

pub(super) fn completions(shell: clap_complete::Shell) -> ExitCode {
    // Not straight to standard output: the generator panics when that can't be written.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::args::Cli::command(), "shellgate", &mut script);
    let mut out = std::io::stdout().lock();
    match out.write_all(&script).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_message(&format!("the script can't be written: {error}"));
            ExitCode::FAILURE
        }
    }
}
