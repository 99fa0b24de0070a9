//! Settings as they work through the command line: layers, the environment of commands, limits, the state folder.

mod environment;
mod files;
mod finding;
mod importing;
mod layers;
mod limits;
mod queue;
mod state;

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::Place;

/// Writes a settings file that belongs to the place's user.
fn write_file(place: &Place, path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    if place.user.is_some() {
        chown(path, place.user, place.user).unwrap();
    }
}

/// The path of the user's settings file in a place: see [`shellgate`].
fn user_file(place: &Place) -> PathBuf {
    place.home().join("config/shellgate/config.toml")
}

fn project_file(place: &Place) -> PathBuf {
    place.root().join(".shellgate.toml")
}

/// `shellgate WORDS` with a `XDG_CONFIG_HOME`.
fn shellgate<S: AsRef<OsStr>>(place: &Place, words: impl IntoIterator<Item = S>) -> Command {
    let mut words = words.into_iter();
    let mut command = place.shellgate(words.next());
    command.args(["--approve", "allow"]).args(words);
    command.env("XDG_CONFIG_HOME", place.home().join("config"));
    command
}

/// Runs `shellgate call FLAGS`. Returns the answer and the exit code.
fn call(place: &Place, flags: &[&str], arguments: &Value) -> (Value, Option<i32>) {
    let arguments = arguments.to_string();
    let output =
        shellgate(place, ["call"].iter().chain(flags).chain(&[arguments.as_str()])).output().unwrap();
    (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The text without blanks at the ends of lines, which snapshots must not have.
fn tidy(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Compares texts with the snapshot called `name`; places differ from run to run.
fn assert_texts(name: &str, texts: &[String]) {
    let filters = vec![
        (r#"[^\s`"]*/shellgate-test-\w+"#, "[PLACE]"),
        (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "[ID]"),
        (r"user \d+", "user [UID]"),
    ];
    insta::with_settings!({ filters => filters, omit_expression => true }, {
        insta::assert_snapshot!(name, tidy(&texts.join("\n")));
    });
}
