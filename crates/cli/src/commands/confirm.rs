//! Asks a person on the terminal to confirm something.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};

use shellgate::{Code, ErrorObject};

use crate::error::CliError;

/// Whether the person confirms. `otherwise`: the hint when there is no terminal to ask on.
pub(super) fn confirm(question: &str, otherwise: &'static str) -> Result<bool, CliError> {
    let no_terminal = |_| {
        let error =
            ErrorObject::new(Code::ApprovalUnavailable, "there is no terminal to ask for confirmation on");
        CliError::from(error.hint(otherwise))
    };
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(no_terminal)?;
    terminal.write_all(format!("{question} [y/N] ").as_bytes()).map_err(no_terminal)?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer).map_err(no_terminal)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
