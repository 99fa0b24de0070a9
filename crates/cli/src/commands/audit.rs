//! `shellgate audit`: verifies and exports the audit log.

use std::io;
use std::process::ExitCode;

use serde_json::json;
use shellgate::RecordStore;
use shellgate::journal::{Break, Difference, Error, Head, Verification};

use super::unreadable;
use crate::args::AuditCommand;
use crate::error::{self, CliError};
use crate::output::{self, escape};

pub(super) fn audit(command: AuditCommand) -> ExitCode {
    error::finish(match command {
        AuditCommand::Verify { head, shown } => {
            output::choose_color(shown.color);
            verify(head, shown.json)
        }
        AuditCommand::Head { shown } => {
            output::choose_color(shown.color);
            head(shown.json)
        }
        // Its lines are JSON even without `--json`.
        AuditCommand::Export { shown } => {
            output::choose_color(shown.color);
            export()
        }
    })
}

fn verify(anchor: Option<Head>, json: bool) -> Result<(), CliError> {
    let verified = RecordStore::for_audit(None).and_then(|journal| match anchor {
        Some(head) => journal.verify_with_head(head),
        None => journal.verify(),
    });
    let verified = match verified {
        // A file that is there was once a journal.
        Err(error @ (Error::NotAJournal { .. } | Error::Damaged { .. })) => {
            Verification::Broken(Break { seq: 1, what: Difference::File(error.to_string()) })
        }
        verified => verified.map_err(unreadable)?,
    };
    match verified {
        Verification::Intact(intact) if json => output::print_json(&json!({
            "intact": true,
            "entries": intact.entries,
            "forgotten": intact.forgotten,
            "head": intact.head.to_string(),
            "pruned_through": intact.pruned.map(|head| head.to_string()),
        })),
        Verification::Intact(intact) => {
            let forgotten = match intact.forgotten {
                0 => String::new(),
                count => format!(", {count} of them forgotten"),
            };
            let pruned = intact.pruned.map(|head| format!("pruned through: {head}\n")).unwrap_or_default();
            output::print(&format!(
                "\x1b[32mintact\x1b[0m: {} entries{forgotten}\nhead: {}\n{pruned}",
                intact.entries, intact.head
            ))
        }
        Verification::Broken(broken) => {
            if json {
                let broken = json!({"seq": broken.seq, "message": broken.what.to_string()});
                output::print_json(&json!({"intact": false, "broken": broken}))?;
            } else {
                output::print(&format!("\x1b[31mbroken\x1b[0m: {}\n", escape(&broken.to_string())))?;
            }
            Err(CliError::Reported(error::BROKEN))
        }
    }
}

fn head(json: bool) -> Result<(), CliError> {
    let head = RecordStore::for_audit(None).and_then(|journal| journal.head()).map_err(unreadable)?;
    match json {
        true => output::print_json(&json!({"seq": head.seq, "hash": head.hash, "head": head.to_string()})),
        false => output::print(&format!("{head}\n")),
    }
}

fn export() -> Result<(), CliError> {
    let journal = RecordStore::for_audit(None).map_err(unreadable)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    match journal.export(&mut out) {
        Ok(_) => Ok(()),
        Err(Error::Export(error)) => Err(CliError::write_failed(&error)),
        Err(error) => Err(unreadable(error)),
    }
}
