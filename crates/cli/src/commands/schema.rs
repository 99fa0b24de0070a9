//! `shellgate schema`: prints the declaration of a dialect's tool.

use std::io::Write as _;
use std::process::ExitCode;

use crate::args::SchemaArgs;
use crate::output;

pub(super) fn schema(args: &SchemaArgs) -> ExitCode {
    // The alternate form is indented.
    let declaration = format!("{:#}\n", args.dialect.schema(args.envelope));
    let mut out = std::io::stdout().lock();
    match out.write_all(declaration.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_message(&format!("the declaration can't be written: {error}"));
            ExitCode::FAILURE
        }
    }
}
