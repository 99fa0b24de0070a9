//! What a bug report needs: versions, settings with their origins, the doctor's findings, logs. Without secrets.
//!
//! Left out or hidden:
//!
//! - command text: log lines of level `trace`, the only ones that have it;
//! - values of variables: those in `environment.set`, and every value in our own environment that looks like a secret,
//!   wherever it occurs, also escaped;
//! - words that look like secrets by the tables that hide variables from commands, and in rules what follows the name of a
//!   secret;
//! - strings that an error in the settings repeats.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::json;
use shellgate_exec::StateFolder;

use super::{Check, Diagnosis, limits};
use crate::admit::inside::{self, RestrictedAction};
use crate::environment::{hide_arguments, hide_secrets, is_secret};
use crate::settings::{Prefix, Settings, Sourced, keys};
use crate::{ErrorObject, locations};

/// The most that is read of one log.
const MAX_LOG_BYTES: u64 = 8 << 20;

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
    let settings =
        settings.map_or_else(|| without_strings(&check.message), |settings| settings_text(&settings));
    let checks = found.checks.iter().map(shareable).collect();
    let found = Diagnosis { checks, ..found.clone() };
    let doctor = serde_json::to_string_pretty(&json!(found)).unwrap_or_default();
    let mut files = vec![
        file("versions.txt", versions(&found)),
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

/// A check without the strings that an error in the settings repeats.
fn shareable(check: &Check) -> Check {
    match check.name {
        limits::SETTINGS => Check {
            message: without_strings(&check.message),
            hint: check.hint.as_deref().map(without_strings),
            ..check.clone()
        },
        _ => check.clone(),
    }
}

/// A text with the content of its quoted strings replaced.
fn without_strings(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '"' if !escaped => {
                in_string = !in_string;
                shown.push_str(if in_string { "\"(hidden)" } else { "\"" });
            }
            _ if !in_string => shown.push(c),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    shown
}

/// Each key with its value and origin. Variables have only their names, and rules stand in lines of their own.
fn settings_text(settings: &Settings) -> String {
    let value = |key: &keys::Key| match key.path {
        "environment.set" => {
            let names: Vec<&str> = settings.environment.set.keys().map(String::as_str).collect();
            Some(format!("variables: {}", if names.is_empty() { "none".to_owned() } else { names.join(" ") }))
        }
        "policy.core" => Some(commands(settings.policy.core.iter().flatten())),
        "policy.exclude" => Some(commands(&settings.policy.exclude)),
        "policy.allow" => Some(commands(&settings.policy.allow)),
        "policy.ask" => Some(commands(&settings.policy.ask)),
        "policy.deny" => Some(commands(&settings.policy.deny)),
        _ => key.show(settings),
    };
    let line = |key: &keys::Key| {
        let origin = settings.origin(key.path).map(ToString::to_string).unwrap_or_default();
        let rules = if key.path == "policy.rule" { rule_lines(settings) } else { String::new() };
        let value = value(key).unwrap_or_else(|| "not set".to_owned());
        format!("{} = {value}  # {origin}\n{rules}", key.path)
    };
    keys::all().iter().map(line).collect()
}

/// Each rule with its prefix, decision and origin.
fn rule_lines(settings: &Settings) -> String {
    let line = |rule: &crate::settings::Rule| {
        let prefix = hide_arguments(&rule.prefix.to_string());
        format!("    {}: {prefix}  # {}\n", rule.decision.name(), rule.origin)
    };
    let by_effect = |rule: &crate::settings::EffectRule| {
        let targets = rule.targets.join(" ");
        format!("    {}: {} {targets}  # {}\n", rule.decision.name(), rule.effect, rule.origin)
    };
    let policy = &settings.policy;
    policy.rules.iter().map(line).chain(policy.effect_rules.iter().map(by_effect)).collect()
}

/// A list of commands as it is written in a file, with secrets in each hidden.
fn commands<'a>(entries: impl IntoIterator<Item = &'a Sourced<Prefix>>) -> String {
    let quoted = |entry: &Sourced<Prefix>| {
        toml_edit::Value::from(hide_arguments(&entry.value.to_string())).to_string()
    };
    let quoted: Vec<String> = entries.into_iter().map(quoted).collect();
    format!("[{}]", quoted.join(", "))
}

/// The log files, by name. Lines of level `trace` are left out: they have the text of commands.
fn logs_in(folder: &Path) -> Vec<(String, String)> {
    let mut logs: Vec<(String, String)> = Vec::new();
    // A link to a folder of another user is not followed, as no log is written there either.
    if std::fs::metadata(folder).is_ok_and(|found| found.uid() != rustix::process::geteuid().as_raw()) {
        return logs;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(bytes) = end_of(&entry.path()) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().filter(|line| is_shareable(line));
        logs.push((name, lines.map(|line| format!("{line}\n")).collect()));
    }
    logs.sort();
    logs
}

/// The last bytes of a regular file. Anything else, such as a FIFO that would block, is an error.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    let mut file = File::options().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it isn't a regular file"));
    }
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(MAX_LOG_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(MAX_LOG_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a line of a log has a level, and that is not `trace`. A line that was cut may have another one behind it.
fn is_shareable(line: &str) -> bool {
    let level = line.split_ascii_whitespace().nth(1);
    matches!(level, Some("ERROR" | "WARN" | "INFO" | "DEBUG")) && !line.contains(" TRACE ")
}

/// The values in our own environment that look like secrets.
fn own_secrets() -> Vec<String> {
    let values = std::env::vars_os().filter_map(|(name, value)| {
        let secret = is_secret(name.as_encoded_bytes(), value.as_encoded_bytes());
        let value = value.to_string_lossy().trim().to_owned();
        (secret && value.len() >= MIN_SECRET_BYTES).then_some(value)
    });
    let mut forms: Vec<String> = values.flat_map(|value| written_forms(&value)).collect();
    // A long form may contain a short one.
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms
}

/// A value as it is, and as JSON, TOML and our own messages and logs write it, also one within the other.
fn written_forms(value: &str) -> Vec<String> {
    let json = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned()
    };
    let debug = |text: &str| text.escape_debug().to_string();
    let mut forms = vec![value.to_owned(), json(value), debug(value), value.replace('\\', "\\\\")];
    // What doctor.json and the log have is escaped once more.
    forms.extend(forms.clone().iter().flat_map(|form| [json(form), debug(form)]));
    forms.retain(|form| form.len() >= MIN_SECRET_BYTES);
    forms
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
    fn what_is_no_regular_file_is_left_out_and_a_glued_line_counts_as_command_text() {
        let folder = tempfile::tempdir().unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("a.log"), 0o600.into()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("b.log")).unwrap();
        std::fs::create_dir(folder.path().join("c.log")).unwrap();
        let line = "2026-11-15T23:54:08.634Z INFO  keeper 7 exec: cu";
        std::fs::write(folder.path().join("d.log"), format!("{line}{}\n", line.replace("INFO ", "TRACE")))
            .unwrap();
        assert_eq!(logs_in(folder.path()), [("d.log".to_owned(), String::new())]);
    }

    #[test]
    fn values_of_our_own_environment_are_hidden_in_every_form() {
        for value in ["pw\"q\\z-1234567", "päss\twörd 1234567", "two\nlines-of-it"] {
            let forms = written_forms(value);
            let texts = [
                value.to_owned(),
                serde_json::to_string(value).unwrap(),
                format!("{value:?}"),
                serde_json::to_string(&format!("found {value:?}")).unwrap(),
                toml_edit::Value::from(value).to_string(),
            ];
            let mut forms: Vec<String> = forms;
            forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
            for text in texts {
                let hidden = hide(&text, &forms);
                assert!(!hidden.contains("1234567") && !hidden.contains("lines"), "{text}: {hidden}");
            }
        }
    }

    #[test]
    fn strings_that_an_error_repeats_are_hidden() {
        assert_eq!(
            without_strings(r#"a.toml:1:2: x must be a list, found the string "DBPASS=hu\"nter2"."#),
            r#"a.toml:1:2: x must be a list, found the string "(hidden)"."#
        );
        assert_eq!(
            without_strings("write it as a list: [\"hunter2\"]"),
            "write it as a list: [\"(hidden)\"]"
        );
        assert_eq!(without_strings("nothing"), "nothing");
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
