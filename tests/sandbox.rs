//! What confined commands can reach, by effects: the file is absent or unchanged, and present where it is allowed.
//!
//! The places are not in the folder for temporary files, which the mode `workspace` lets commands write.

mod attacks;
mod denials;
mod everyday;
mod files;
mod grants;
mod kills;
mod processes;
mod settings;
mod ssh;
mod tricks;
mod work;

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Place, for_each_user_below};

/// A folder that all users can write and that no mode lets commands write.
const OUTSIDE: &str = "/var/tmp";

fn for_each_user(test: impl Fn(&Place)) {
    for_each_user_below(Path::new(OUTSIDE), test);
}

/// Runs a command in a mode.
fn run(place: &Place, mode: &str, command: &str) -> Value {
    place.call_with(&["--sandbox", mode], &json!({"command": command}))
}

/// Asserts that a command succeeds, and returns what it printed.
fn succeeds(place: &Place, mode: &str, command: &str) -> String {
    let answer = run(place, mode, command);
    assert_eq!(answer["status"], "completed", "{mode}: {answer}");
    answer["stdout"].as_str().unwrap().to_owned()
}

/// Asserts that a command fails in a sandbox. Returns the answer.
fn is_refused(place: &Place, mode: &str, command: &str) -> Value {
    let answer = run(place, mode, command);
    assert_eq!(answer["status"], "failed", "{mode}: {answer}");
    answer
}

/// Asserts that a command fails in a sandbox, and succeeds without one.
fn fails_confined(place: &Place, mode: &str, command: &str) {
    is_refused(place, mode, command);
    let control = run(place, "off", command);
    assert_eq!(control["status"], "completed", "without a sandbox: {control}");
}

/// Writes a file beside the root, for the place's user.
fn write(place: &Place, path: &str, text: &str) -> PathBuf {
    let path = place.root().parent().unwrap().join(path);
    let mut missing: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
    missing.reverse();
    for folder in missing {
        std::fs::create_dir(folder).unwrap();
        chown(folder, place.user, place.user).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    chown(&path, place.user, place.user).unwrap();
    path
}
