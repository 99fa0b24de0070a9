//! The commands, a file each.

mod call;
mod completions;
mod run;
mod schema;

use std::process::ExitCode;

use shellgate::{ErrorObject, Gate};

use crate::args::{Cli, Command, Common};

/// Runs what was typed.
pub(crate) fn dispatch(cli: Cli) -> ExitCode {
    match cli.command {
        Command::Run(args) => run::run(args),
        Command::Call(args) => call::call(args),
        Command::Schema(args) => schema::schema(&args),
        Command::Completions { shell } => completions::completions(shell),
    }
}

/// The gate for one call: its keeper is forked off this process.
fn gate(common: &Common) -> Result<Gate, ErrorObject> {
    let mut builder =
        Gate::builder().flags(common.flags()).default_root(common.dialect.default_root).one_shot();
    if let Some(root) = &common.root {
        builder = builder.root(root);
    }
    if let Some(session) = &common.session {
        builder = builder.session(session);
    }
    for file in &common.config {
        builder = builder.config(file);
    }
    builder.build()
}
