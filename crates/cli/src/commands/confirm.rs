//! A question that a person answers with yes or no, on the terminal.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};

use shellgate::{Code, ErrorObject};

use crate::error::CliError;

/// Whether a person says yes. `otherwise`: what to do where nobody can be asked.
pub(super) fn confirm(question: &str, otherwise: &str) -> Result<bool, CliError> {
    let nobody = |_| {
        let error = ErrorObject::new(Code::ApprovalUnavailable, "there is no terminal to ask you on");
        CliError::from(error.hint(otherwise))
    };
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(nobody)?;
    terminal.write_all(format!("{question} [y/N] ").as_bytes()).map_err(nobody)?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer).map_err(nobody)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
