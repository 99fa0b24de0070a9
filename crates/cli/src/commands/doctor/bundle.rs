//! `shellgate doctor --bundle FILE`: the files of a bug report in one archive.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use shellgate::doctor::BugReport;
use shellgate::{Code, ErrorObject};

use crate::error::CliError;
use crate::output;

/// The folder that the archive unpacks to.
const FOLDER: &str = "shellgate-report";

/// Writes the archive, which must not exist, and says what is in it.
pub(super) fn write(path: &Path, report: &BugReport, checks: usize) -> Result<(), CliError> {
    let failed = |error: io::Error| {
        let message = format!("`{}` can't be written: {error}", path.display());
        CliError::from(ErrorObject::new(Code::Config, message).hint("name a file that doesn't exist yet"))
    };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    if let Err(error) = pack(file, report) {
        // Half an archive is of no use. Where it can't be removed either, the error names it.
        let _ = std::fs::remove_file(path);
        return Err(failed(error));
    }
    let logs = report.files.iter().filter(|file| file.name.starts_with("log/")).count();
    let bytes: usize = report.files.iter().map(|file| file.text.len()).sum();
    let summary = format!(
        "{}: versions, settings, {checks} checks and {logs} logs ({bytes} bytes); secrets and command text are left out\n",
        path.display()
    );
    output::print(&summary)
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
