//! `shellgate doctor --bundle FILE`: the files of a bug report in one archive.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use shellgate::doctor::{BugReport, Diagnosis};
use shellgate::{Code, ErrorObject};

use crate::error::CliError;

/// The folder that the archive unpacks to.
const FOLDER: &str = "shellgate-report";

/// Writes the archive, which must not exist.
pub(super) fn write(path: &Path, report: &BugReport) -> Result<(), CliError> {
    if path == Path::new("-") {
        let message = "an archive can't be written to standard output";
        return Err(ErrorObject::invalid(message).hint("name a file: `--bundle report.tar`").into());
    }
    let failed = |error: io::Error| {
        let message = format!("`{}` can't be written: {error}", path.display());
        let failed = ErrorObject::new(Code::Config, message);
        CliError::from(match error.kind() {
            io::ErrorKind::AlreadyExists => failed.hint("name a file that doesn't exist yet"),
            _ => failed.hint("name a file in a folder where you can write"),
        })
    };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    if let Err(error) = pack(file, report) {
        // Half an archive is of no use. Where it can't be removed either, the error names it.
        let _ = std::fs::remove_file(path);
        return Err(failed(error));
    }
    Ok(())
}

/// What is in the archive, in a line.
pub(super) fn summary(path: &Path, report: &BugReport, found: &Diagnosis) -> String {
    let logs = report.files.iter().filter(|file| file.name.starts_with("log/")).count();
    format!(
        "{}: versions, settings, {} checks and {logs} logs ({} bytes)\n\
         Log lines with command text are left out, and what looks like a secret is hidden. Look at it before you send it.\n",
        path.display(),
        found.checks.len(),
        bytes(report),
    )
}

/// The same for programs: what `doctor --json` prints, and the archive.
pub(super) fn description(path: &Path, report: &BugReport, found: &Diagnosis) -> Value {
    let mut description = json!(found);
    if let Some(fields) = description.as_object_mut() {
        let names: Vec<&str> = report.files.iter().map(|file| file.name.as_str()).collect();
        let bundle = json!({"file": path.display().to_string(), "files": names, "bytes": bytes(report)});
        fields.insert("bundle".to_owned(), bundle);
    }
    description
}

fn bytes(report: &BugReport) -> usize {
    report.files.iter().map(|file| file.text.len()).sum()
}

fn pack(file: File, report: &BugReport) -> io::Result<()> {
    let mut archive = tar::Builder::new(file);
    for file in &report.files {
        let mut header = tar::Header::new_ustar();
        header.set_size(file.text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(u64::try_from(crate::time::now() / 1000).unwrap_or(0));
        archive.append_data(&mut header, format!("{FOLDER}/{}", file.name), file.text.as_bytes())?;
    }
    archive.into_inner()?.sync_all()
}
