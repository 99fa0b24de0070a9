//! Limits on memory, processes, processor time and disk, counted over a command's whole process tree.
//!
//! Numbers are small, so that nothing here can hurt the machine that it runs on.

mod delegated;
mod doctor;
mod groups;
mod jobs;
mod tree;

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Place;

/// Sets limits in the user's settings.
fn limit(place: &Place, limits: &str) {
    let file = place.home().join(".config/shellgate/config.toml");
    std::fs::write(&file, format!("[approval]\nmode = \"allow\"\n[limits]\n{limits}\n")).unwrap();
    chown(&file, place.user, place.user).unwrap();
}

/// Runs `command` to its answer.
fn run(place: &Place, command: &str) -> Value {
    place.call(&json!({"command": command}))
}

/// Asserts that the command and all its processes were ended for this limit.
fn assert_ended_by(answer: &Value, key: &str, limit: u64, says: &str) {
    let error = &answer["error"];
    assert_eq!((&answer["status"], &error["code"]), (&json!("failed"), &json!("limit_exceeded")), "{answer}");
    assert_eq!(error["message"], format!("the command {says} and was stopped (limits.{key})"));
    assert_eq!(error["rule"], format!("limits.{key} = {limit}"));
    assert!(error["hint"].is_string() && answer["background"] == json!([]), "{answer}");
}

/// Asserts that the command ran as without a limit.
fn assert_untouched(answer: &Value, stdout: &str) {
    assert_eq!(
        (&answer["status"], &answer["error"], &answer["stdout"]),
        (&json!("completed"), &Value::Null, &json!(stdout)),
        "{answer}"
    );
}

/// The mechanism that `doctor` reports for a limit.
fn mechanism(place: &Place, key: &str) -> String {
    let output = place.output(["doctor", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let limits = found.get("limits").unwrap().as_array().unwrap();
    let limit = limits.iter().find(|limit| limit["limit"] == key).unwrap();
    limit["mechanism"].as_str().unwrap().to_owned()
}

/// All control groups, in all hierarchies, whose names end in this.
fn groups_called(end: &str) -> Vec<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let of_groups = mounts.lines().filter(|line| line.contains(" - cgroup"));
    let mut folders: Vec<PathBuf> =
        of_groups.filter_map(|line| line.split(' ').nth(4).map(PathBuf::from)).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("shellgate-") && name.ends_with(end) {
            found.push(folder.clone());
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(below.map(|entry| entry.path()));
    }
    found
}

/// Asserts that no control group of an execution is left, and no note of one.
fn assert_no_trace(place: &Place, id: &str) {
    assert_eq!(groups_called(id), Vec::<PathBuf>::new());
    assert_eq!(notes(&place.state()), Vec::<String>::new());
}

fn notes(state: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(state.join("ends")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".groups-")).collect()
}

fn id(answer: &Value) -> &str {
    answer["id"].as_str().unwrap()
}
