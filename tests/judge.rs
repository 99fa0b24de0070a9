//! The judge in `run`, `call` and the library: a refused command doesn't run, and the refusal has the dialect's form.

mod asked;
mod circumstances;
mod dialects;
mod layers;
mod library;
mod substitution;

use std::os::unix::fs::chown;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::Place;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Writes a settings file of the place's user outside the root. Returns its path.
fn settings(place: &Place, name: &str, content: &str) -> String {
    let path = place.home().canonicalize().unwrap().join(name);
    std::fs::write(&path, content).unwrap();
    chown(&path, place.user, place.user).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Whether the command created the file `ran`. Removes the file.
fn has_run(place: &Place) -> bool {
    std::fs::remove_file(place.root().join("ran")).is_ok()
}

/// The answer to a call, and whether its command ran.
struct Called {
    answer: Value,
    ran: bool,
}

impl Called {
    /// The code of the refusal; `ran` if there was none.
    fn code(&self) -> &str {
        match self.answer["error"]["code"].as_str() {
            Some(code) => {
                assert!(!self.ran, "refused, and it ran: {}", self.answer);
                code
            }
            None => {
                assert!(self.ran, "neither refused nor run: {}", self.answer);
                "ran"
            }
        }
    }
}

/// Runs `shellgate call FLAGS` in the native form, with the default approval settings.
fn call(place: &Place, flags: &[&str], arguments: &Value) -> Called {
    let output = place.strictly(["call"]).args(flags).arg(arguments.to_string()).output().unwrap();
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let refused = answer["error"]["code"].is_string();
    assert_eq!(output.status.code(), Some(if refused { 3 } else { 0 }), "{answer}");
    Called { answer, ran: has_run(place) }
}

/// The code of the refusal of `command`, or `ran`.
fn decided(place: &Place, flags: &[&str], command: &str) -> String {
    call(place, flags, &json!({"command": command})).code().to_owned()
}

/// `shellgate run WORDS` without a terminal.
fn run(place: &Place, words: &[&str]) -> Output {
    let mut command = place.program("setsid");
    command.arg("--wait").arg(crate::support::shellgate()).arg("run").args(words);
    command.env("XDG_CONFIG_HOME", place.home().join("nothing")).output().unwrap()
}

/// Compares a text with the snapshot called `name`.
fn assert_text(name: &str, text: &str) {
    insta::with_settings!({ omit_expression => true, filters => vec![(r"20\d\d-\d\d-\d\d", "2026-11-15"), (r"\d\d:\d\d", "20:43")] }, {
        insta::assert_snapshot!(name, text);
    });
}
