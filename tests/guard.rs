//! Rules that hold for every program that a process of a command starts, by effects: the file is still there, and it is gone
//! where nothing forbids that.

mod allowlist;
mod changes;
mod debuggers;
mod disguises;
mod foretold;
mod observation;
mod race;
mod trees;
mod vectors;
mod without_ptrace;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, for_each_user_below, give};

/// A folder that all users can write and that no mode lets commands write.
const OUTSIDE: &str = "/var/tmp";

/// Runs a program of Python that the judge can't see into, with flags.
fn run_script(place: &Place, flags: &[&str], script: &str) -> Value {
    place.write("script.py", script);
    place.call_with(flags, &json!({"command": "python3 script.py", "timeout_ms": 120_000}))
}

/// Compiles a program of C without shared libraries into the root.
fn compile_static(place: &Place, name: &str, source: &str) {
    let source = place.write(&format!("{name}.c"), source);
    let program = place.root().join(name);
    let status = Command::new("cc").args(["-static", "-o"]).arg(&program).arg(source).status();
    assert!(status.unwrap().success());
    give(&program, place.user);
}

/// A folder beside the root, with a file, both of the user.
fn folder_outside(place: &Place) -> PathBuf {
    let outside = place.root().with_file_name("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "kept").unwrap();
    give(&outside, place.user);
    give(&outside.join("file"), place.user);
    outside
}

fn for_each_user(test: impl Fn(&Place)) {
    for_each_user_below(Path::new(OUTSIDE), test);
}

/// The programs that an answer says were refused: their argument lists and rules.
fn refused(answer: &Value) -> Vec<(String, String)> {
    let denials = answer["denials"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let programs = denials.iter().filter(|denial| denial["operation"] == "run");
    let text = |denial: &Value| {
        let words = denial["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        (words.collect::<Vec<_>>().join(" "), denial["rule"].as_str().unwrap().to_owned())
    };
    programs.map(text).collect()
}
