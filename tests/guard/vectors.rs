//! The judge's vectors about `rm`, run for real behind its back, with `rm` denied.

use super::{refused, run_script};
use crate::support::Place;

const VECTORS: &str = include_str!("../../crates/policy/tests/vectors/policy.jsonl");

/// Runs each line in a fresh copy of the vectors' folder, and prints whether `x` is still there.
const RUNNER: &str = include_str!("vectors.py");

/// Lines in which another program removes the file by its own system calls. The sandbox stops these: `read-only`.
const BY_OWN_CALLS: [&str; 1] = ["python3 -c '__import__(\"os\").unlink(\"x\")'"];

/// Runs all lines about `rm`, and returns those after which `x` is gone, and how many there were.
fn removing(place: &Place, flags: &[&str]) -> (Vec<String>, usize, serde_json::Value) {
    place.write("policy.jsonl", VECTORS);
    let answer = run_script(place, flags, RUNNER);
    assert_eq!(answer["exit_code"], 0, "{answer}");
    let lines: Vec<(String, bool)> =
        answer["stdout"].as_str().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let all = lines.len();
    (lines.into_iter().filter(|(_, survives)| !survives).map(|(line, _)| line).collect(), all, answer)
}

/// As an ordinary user only: the lines mean to destroy.
#[test]
fn no_spelling_of_rm_removes_the_file() {
    let user = crate::support::is_root().then_some(12345);
    let place = Place::below(std::path::Path::new(super::OUTSIDE), user);
    let flags = ["--sandbox", "workspace", "--network", "deny"];
    let (control, all, _) = removing(&place, &flags);
    assert!(all > 180 && control.len() > 120, "{} of {all}", control.len());
    let (guarded, _, answer) = removing(&place, &[&flags[..], &["--exclude", "rm"]].concat());
    assert_eq!(guarded, BY_OWN_CALLS, "{answer}");
    assert!(refused(&answer).len() > 10, "{answer}");
    let (read_only, _, _) = removing(&place, &["--sandbox", "read-only", "--exclude", "rm"]);
    assert_eq!(read_only, Vec::<String>::new());
    println!("{} of {all} lines remove the file; with the rule {}", control.len(), guarded.len());
    place.assert_nothing_is_left();
}
