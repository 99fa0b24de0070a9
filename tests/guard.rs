//! Rules that hold for every program that a process of a command starts, by effects: the file is still there, and it is gone
//! where nothing forbids that.

mod allowlist;
mod disguises;
mod observation;
mod race;
mod trees;
mod vectors;

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, for_each_user_below};

/// A folder that all users can write and that no mode lets commands write.
const OUTSIDE: &str = "/var/tmp";

/// Runs a program of Python that the judge can't see into, with flags.
fn run_script(place: &Place, flags: &[&str], script: &str) -> Value {
    place.write("script.py", script);
    place.call_with(flags, &json!({"command": "python3 script.py", "timeout_ms": 120_000}))
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
