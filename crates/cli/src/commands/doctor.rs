//! `shellgate doctor`: checks what this machine provides, and collects what a bug report needs.

mod bundle;

use std::process::ExitCode;

use serde_json::json;
use shellgate::doctor::{self, Check, Diagnosis, Health, LimitCheck};
use shellgate::text::layout::wrap;

use crate::args::DoctorArgs;
use crate::error::{self, CliError};
use crate::output::{self, escape};
use crate::table;

/// Exit code: something required is missing.
const EXIT_UNFIT: u8 = 1;

/// The column in which messages begin.
const MESSAGE_COLUMN: usize = 32;

pub(super) fn doctor(args: &DoctorArgs) -> ExitCode {
    output::choose_color(args.shown.color);
    error::finish(show(args))
}

fn show(args: &DoctorArgs) -> Result<(), CliError> {
    let found = doctor::examine(None, args.root.clone());
    if let Some(file) = &args.bundle {
        let report = doctor::bug_report(&found, args.root.clone())?;
        bundle::write(file, &report)?;
        match args.shown.json {
            true => output::print_json(&bundle::description(file, &report, &found))?,
            false => output::print(&bundle::summary(file, &report, &found))?,
        }
    } else if args.shown.json {
        output::print_json(&json!(found))?;
    } else {
        output::print(&text(&found, table::width()))?;
    }
    if found.ok { Ok(()) } else { Err(CliError::Reported(EXIT_UNFIT)) }
}

fn text(found: &Diagnosis, width: Option<usize>) -> String {
    let mut text = format!("shellgate {}, user {}\n\n", found.version, found.user);
    found.checks.iter().for_each(|check| text.push_str(&line_of_check(check, width)));
    text.push_str("\n\x1b[1mHow limits would be enforced\x1b[0m\n\n");
    found.limits.iter().for_each(|limit| text.push_str(&line_of_limit(limit, width)));
    let end = match found.ok {
        true => "\nEverything required is available.\n",
        false => "\n\x1b[31mSomething required is missing.\x1b[0m\n",
    };
    text.push_str(end);
    text
}

fn line_of_check(check: &Check, width: Option<usize>) -> String {
    let hint = check.hint.as_ref().map(|hint| format!(" Hint: {hint}.")).unwrap_or_default();
    row(check.status.name(), color(check.status), check.name, &format!("{}{hint}", check.message), width)
}

fn line_of_limit(limit: &LimitCheck, width: Option<usize>) -> String {
    let value = match limit.value {
        0 => "Not set.".to_owned(),
        value => format!("Set to {value}."),
    };
    row(limit.mechanism, "\x1b[36m", limit.limit, &format!("{value} {}", limit.message), width)
}

const fn color(health: Health) -> &'static str {
    match health {
        Health::Ok => "\x1b[32m",
        Health::Warning => "\x1b[33m",
        Health::Missing => "\x1b[31m",
    }
}

/// Three columns; the message wraps within its own.
fn row(state: &str, color: &str, name: &str, message: &str, width: Option<usize>) -> String {
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(MESSAGE_COLUMN).max(20));
    let lines = wrap(&escape(message), room).join(&format!("\n{}", " ".repeat(MESSAGE_COLUMN)));
    format!("{color}{state:<14}\x1b[0m{name:<18}{lines}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wrap_within_their_column() {
        let shown = row("ok", "", "bash", "It is there and reads the commands.", Some(52));
        let shown = anstream::adapter::strip_str(&shown).to_string();
        let indent = " ".repeat(MESSAGE_COLUMN);
        assert_eq!(
            shown,
            format!("ok            bash              It is there and\n{indent}reads the commands.\n")
        );
    }
}
