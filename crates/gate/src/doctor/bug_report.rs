//! What a bug report needs: versions, settings with their origins, the doctor's findings, logs. Without secrets.
//!
//! Left out or hidden:
//!
//! - command text: log lines of level `trace`, the only ones that have it;
//! - values of variables: those in `environment.set`, and every value in our own environment that looks like a secret,
//!   wherever it occurs;
//! - words that look like secrets by the tables that hide variables from commands.

use std::path::{Path, PathBuf};

use serde_json::json;
use shellgate_exec::StateFolder;

use super::{Diagnosis, limits};
use crate::admit::inside::{self, RestrictedAction};
use crate::environment::{hide_secrets, is_secret};
use crate::settings::{Settings, keys};
use crate::{ErrorObject, locations};

/// The most that is read of one log.
const MAX_LOG_BYTES: usize = 8 << 20;

/// A shorter value is a word that occurs by chance.
const MIN_SECRET_BYTES: usize = 6;

/// The files of a bug report.
#[derive(Clone, Debug)]
pub struct BugReport {
    /// The files, in the order in which people read them.
    pub files: Vec<ReportFile>,
}

/// A file of a bug report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile {
    /// Its name, with `/` between folders.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Collects a bug report. `root`: the folder whose settings apply, if not the current one.
///
/// # Errors
/// `denied_by_policy` from inside a command that shellgate runs.
pub fn bug_report(found: &Diagnosis, root: Option<PathBuf>) -> Result<BugReport, ErrorObject> {
    inside::refuse(RestrictedAction::Report)?;
    let secrets = own_secrets();
    let file = |name: &str, text: String| ReportFile { name: name.to_owned(), text: hide(&text, &secrets) };
    let (settings, check) = limits::settings(root);
    let settings = settings.map_or(check.message, |settings| settings_text(&settings));
    let doctor = serde_json::to_string_pretty(&json!(found)).unwrap_or_default();
    let mut files = vec![
        file("versions.txt", versions(found)),
        file("settings.txt", settings),
        file("doctor.json", doctor),
    ];
    if let Ok(state) = locations::state_path(None) {
        let logs = logs_in(&state.join(StateFolder::LOG));
        files.extend(logs.into_iter().map(|(name, text)| file(&format!("log/{name}"), text)));
    }
    Ok(BugReport { files })
}

fn versions(found: &Diagnosis) -> String {
    let system = rustix::system::uname();
    let field = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or("unknown");
    format!(
        "shellgate {}\n{} {} {}\n{}\n",
        found.version,
        field(system.sysname()),
        field(system.release()),
        field(system.machine()),
        name.trim_matches('"'),
    )
}

/// Each key with its value and origin. Variables have only their names.
fn settings_text(settings: &Settings) -> String {
    let value = |key: &keys::Key| match key.path {
        "environment.set" => {
            let names: Vec<&str> = settings.environment.set.keys().map(String::as_str).collect();
            Some(format!("variables: {}", if names.is_empty() { "none".to_owned() } else { names.join(" ") }))
        }
        _ => key.show(settings),
    };
    let line = |key: &keys::Key| {
        let origin = settings.origin(key.path).map(ToString::to_string).unwrap_or_default();
        format!("{} = {}  # {origin}\n", key.path, value(key).unwrap_or_else(|| "not set".to_owned()))
    };
    keys::all().iter().map(line).collect()
}

/// The log files, by name. Lines of level `trace` are left out: they have the text of commands.
fn logs_in(folder: &Path) -> Vec<(String, String)> {
    let mut logs: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(bytes) = std::fs::read(entry.path()) else { continue };
        let kept = bytes.get(bytes.len().saturating_sub(MAX_LOG_BYTES)..).unwrap_or_default();
        let text = String::from_utf8_lossy(kept);
        let lines = text.lines().filter(|line| is_shareable(line));
        logs.push((name, lines.map(|line| format!("{line}\n")).collect()));
    }
    logs.sort();
    logs
}

/// Whether a line of a log has a level, and that is not `trace`.
fn is_shareable(line: &str) -> bool {
    let level = line.split_ascii_whitespace().nth(1);
    matches!(level, Some("ERROR" | "WARN" | "INFO" | "DEBUG"))
}

/// The values in our own environment that look like secrets.
fn own_secrets() -> Vec<String> {
    let values = std::env::vars_os().filter_map(|(name, value)| {
        let secret = is_secret(name.as_encoded_bytes(), value.as_encoded_bytes());
        value.into_string().ok().filter(|value| secret && value.len() >= MIN_SECRET_BYTES)
    });
    values.collect()
}

fn hide(text: &str, secrets: &[String]) -> String {
    let without =
        secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "(hidden)"));
    without.lines().map(|line| hide_secrets(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_level_or_with_command_text_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let text = "2026-11-15T23:54:08.634Z INFO  keeper 7 exec: kept\n\
                    2026-11-15T23:54:08.634Z TRACE keeper 7 exec: command\n\
                    the rest of a line that was cut\n";
        std::fs::write(folder.path().join("keeper.log"), text).unwrap();
        let logs = logs_in(folder.path());
        assert_eq!(logs.len(), 1);
        assert_eq!(
            logs[0],
            ("keeper.log".to_owned(), "2026-11-15T23:54:08.634Z INFO  keeper 7 exec: kept\n".to_owned())
        );
        assert_eq!(logs_in(&folder.path().join("nothing")), []);
    }

    #[test]
    fn values_of_our_own_environment_are_hidden_wherever_they_are() {
        let secrets = ["correct horse".to_owned()];
        assert_eq!(hide("a=correct horse!\nb", &secrets), "a=(hidden)!\nb\n");
    }

    #[test]
    fn settings_have_origins_and_no_values_of_variables() {
        let mut settings = Settings::default();
        let value = crate::settings::Sourced::new("hunter2".to_owned(), crate::settings::Origin::BuiltIn);
        settings.environment.set.insert("NAME".to_owned(), value);
        let text = settings_text(&settings);
        assert!(text.contains("limits.timeout_ms = 600000  # built in\n"), "{text}");
        assert!(
            text.contains("environment.set = variables: NAME  # built in\n") && !text.contains("hunter2"),
            "{text}"
        );
        assert!(text.contains("approval.mode = not set  # built in\n"), "{text}");
    }
}
