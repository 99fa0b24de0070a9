//! Every system call may fail. Each scenario is run again and again, with another call of one of its processes failing or
//! killing it. Afterwards nothing false was said, nothing hangs or is left behind, the record is whole and the next call works.
//!
//! The sample that runs with the other tests is a small part. `SHELLGATE_FAULTS=all` tries every call with every fault:
//! `SHELLGATE_FAULTS=all cargo nextest run -p shellgate-cli faults:: --no-capture`.

mod front_end;
mod inject;
mod keeper;

use std::process::Output;

use crate::support::Place;

/// What came of a run with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// All went well nevertheless.
    Success,
    /// It failed and said so.
    HonestError,
}

/// Counts of all runs of a scenario.
#[derive(Debug, Default)]
struct Tally {
    tried: usize,
    success: usize,
    honest: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, fault: &str, came: Result<Verdict, String>) {
        self.tried += 1;
        match came {
            Ok(Verdict::Success) => self.success += 1,
            Ok(Verdict::HonestError) => self.honest += 1,
            Err(why) => self.wrong.push(format!("{fault}: {why}")),
        }
    }

    fn assert_none_is_wrong(&self, scenario: &str) {
        println!(
            "faults {scenario}: {} tried, {} honest errors, {} successes, {} wrong",
            self.tried,
            self.honest,
            self.success,
            self.wrong.len()
        );
        assert!(self.tried > 0, "{scenario}: nothing was tried");
        assert!(self.wrong.is_empty(), "{scenario}:\n{}", self.wrong.join("\n"));
    }
}

/// What must hold after any fault: the record is whole, and the next call works.
fn afterwards(place: &Place) -> Result<(), String> {
    let next = place.output(["call", r#"{"command": "echo next"}"#]);
    let answer = String::from_utf8_lossy(&next.stdout);
    if !answer.contains(r#""stdout":"next\n""#) {
        return Err(format!("the next call fails: {answer} {}", String::from_utf8_lossy(&next.stderr)));
    }
    let verified = place.output(["audit", "verify"]);
    if verified.status.code() != Some(0) {
        return Err(format!("the record is broken: {verified:?}"));
    }
    // A look at the record settles what was left open.
    place.output(["history"]);
    let left = left_behind(place);
    if left.is_empty() { Ok(()) } else { Err(format!("left behind: {left:?}")) }
}

/// Files in the state folder that nothing needs.
fn left_behind(place: &Place) -> Vec<String> {
    let names = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(place.state().join(folder)).into_iter().flatten().flatten();
        entries.map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy())).collect()
    };
    let in_top = names(".").into_iter().filter(|name| name.contains(".new-"));
    let in_ends = names("ends").into_iter().filter(|name| name != "ends/.reserve");
    in_top.chain(in_ends).collect()
}

/// The error that a failed run told, or why it is none.
fn honest(output: &Output) -> Result<Verdict, String> {
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    // Rust's runtime panics by itself when it can't set up its stacks, before `main`.
    if said.contains("panicked") && !said.contains("fatal runtime error") {
        return Err(format!("it panicked: {said}"));
    }
    // Without memory the runtime ends the process; a killed process says nothing.
    let was_killed = output.status.code().is_none_or(|code| code >= 128);
    // An answer for a program has its error in it.
    if said.contains(r#""error":{"code":"#) {
        return Ok(Verdict::HonestError);
    }
    match output.status.success() || (said.trim().is_empty() && !was_killed) {
        true => Err(format!("no error is told: {output:?}")),
        false => Ok(Verdict::HonestError),
    }
}
