//! `shellgate trust`: lets a project's settings file loosen the rules, after a person has read it.

use std::process::ExitCode;

use serde_json::json;
use shellgate::inside::{self, RestrictedAction};
use shellgate::{ErrorObject, Gate, ProjectFile, RecordStore};

use super::confirm::confirm;
use crate::args::TrustArgs;
use crate::error::{self, CliError};
use crate::output::{self, escape};

pub(super) fn trust(args: &TrustArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(trusted(args))
}

fn trusted(args: &TrustArgs) -> Result<(), CliError> {
    inside::refuse(RestrictedAction::Trust)?;
    let mut builder = Gate::builder();
    if let Some(root) = &args.root {
        builder = builder.root(root);
    }
    let Some(file) = builder.project_file()? else {
        let error = ErrorObject::invalid("this project has no `.shellgate.toml`, in its root or above");
        return Err(error.hint("name the project with `--root`").into());
    };
    let shown = page(&file);
    let question = format!("{shown}While its content is exactly this, it may loosen the rules. Trust it?");
    if !args.yes && !confirm(&question, "read the file, then use `--yes`")? {
        output::print_message("not trusted; nothing was changed");
        return Err(CliError::Reported(error::CALL_REFUSED));
    }
    RecordStore::open(None)?.trust(&file)?;
    let (path, sha256) = (file.path().display().to_string(), file.sha256());
    if args.shown.json {
        return output::print_json(&json!({"path": path, "sha256": sha256}));
    }
    // With `--yes` the file was not shown before.
    let shown = if args.yes { shown } else { String::new() };
    output::print(&format!("{shown}trusted: `{}`, sha256 {sha256}\n", escape(&path)))
}

/// The file, escaped, with a bar before each line so that no line of it looks like ours.
fn page(file: &ProjectFile) -> String {
    let mut page = format!("`{}` says:\n", escape(&file.path().display().to_string()));
    for line in file.text().lines() {
        page.push_str(&format!("  | {}\n", escape(line)));
    }
    page
}
