//! The record through the command line: history, audit, approvals from another terminal, stopping, trust, and what a
//! command that shellgate runs may not do.

mod approvals;
mod audit;
mod crash;
mod grants;
mod history;
mod inside;
mod namespaces;
mod protected;
mod stop;
mod trust;

use std::process::Output;

use serde_json::Value;

use crate::support::Place;

/// `shellgate WORDS --json`, to its answer.
fn json(place: &Place, words: &[&str]) -> Value {
    let output = place.output(words.iter().copied().chain(["--json"]));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}: {output:?}"))
}

/// Standard output as text.
fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Standard error as text.
fn complaint(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The names of the executions that `shellgate history FLAGS` lists.
fn commands(place: &Place, flags: &[&str]) -> Vec<String> {
    let words: Vec<&str> = ["history"].iter().chain(flags).copied().collect();
    let list = json(place, &words);
    list.as_array().unwrap().iter().map(|one| one["command"].as_str().unwrap_or("?").to_owned()).collect()
}

/// The name of the newest execution.
fn newest(place: &Place) -> String {
    json(place, &["history", "--limit", "1"])[0]["id"].as_str().unwrap().to_owned()
}
