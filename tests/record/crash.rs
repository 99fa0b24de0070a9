//! `kill -9` at any moment: front ends and keepers die at random while several write to the record at once.
//!
//! `SHELLGATE_CRASH_RUNS` makes more calls than the usual number, `SHELLGATE_CRASH_SEED` repeats a failure.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::json;
use crate::support::{Place, for_each_user, kill, pids, wait_until};

/// Calls for each user, by default.
const RUNS: u64 = 60;
/// Concurrent calls.
const AT_ONCE: u64 = 4;

/// Numbers that are the same for the same seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn in_hundred(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

/// Prints the seed when a test fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("to repeat it: SHELLGATE_CRASH_SEED={}", self.0);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// A call, and the file that its command creates at its end.
struct Call {
    command: String,
    file: String,
    child: Child,
}

fn call(place: &Place, number: u64, random: &mut Random) -> Call {
    let file = format!("f{number}");
    let command = format!("echo m{number}; sleep 0.0{}; echo end > {file}", random.below(7));
    let arguments = serde_json::json!({"command": command, "background": random.in_hundred(25)});
    let session = if random.in_hundred(50) { "a" } else { "b" };
    let mut starting = place.shellgate(["call", "--session", session, &arguments.to_string()]);
    let child = starting.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    Call { command, file, child }
}

/// Processes whose working directory is in this place.
fn left(place: &Place) -> Vec<u64> {
    let root = place.root().canonicalize().unwrap();
    let here = |pid: &u64| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder.starts_with(&root))
    };
    pids().filter(here).collect()
}

#[test]
fn killed_at_any_moment_the_record_is_whole_and_true() {
    let runs = number("SHELLGATE_CRASH_RUNS").unwrap_or(RUNS);
    let by_clock = || u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos());
    let seed = Seed(number("SHELLGATE_CRASH_SEED").unwrap_or_else(by_clock));
    for_each_user(|place| crash(place, runs, &mut Random(seed.0)));
}

fn crash(place: &Place, runs: u64, random: &mut Random) {
    let mut asked = BTreeMap::new();
    let mut answers = Vec::new();
    let mut killed = [0, 0];
    for first in (0..runs).step_by(usize::try_from(AT_ONCE).unwrap()) {
        let batch: Vec<Call> =
            (first..runs.min(first + AT_ONCE)).map(|number| call(place, number, random)).collect();
        // The kills come at a random time, so this doesn't wait for an event.
        std::thread::sleep(Duration::from_micros(random.below(120_000)));
        for call in &batch {
            if random.in_hundred(50) {
                kill(u64::from(call.child.id()));
                killed[0] += 1;
            }
        }
        if random.in_hundred(40) {
            let keepers = place.keepers();
            killed[1] += keepers.len();
            keepers.into_iter().for_each(kill);
        }
        for call in batch {
            let output = call.child.wait_with_output().unwrap();
            // A call that was killed before it had written its whole answer has no answer to compare.
            if let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) {
                answers.push((call.command.clone(), answer));
            }
            asked.insert(call.command, call.file);
        }
    }
    // The next call in each session works.
    for session in ["a", "b"] {
        let arguments = format!(r#"{{"command": "echo after {session}"}}"#);
        let after = place.output(["call", "--session", session, &arguments]);
        assert_eq!(after.status.code(), Some(0), "{after:?}");
        asked.insert(format!("echo after {session}"), "none".to_owned());
    }
    wait_until("no keeper and no command is left", || place.keepers().is_empty() && left(place).is_empty());

    let rows = json(place, &["history", "--limit", "0"]);
    let rows = rows.as_array().unwrap();
    let verified = place.output(["audit", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    let by_id: BTreeMap<&str, &Value> = rows.iter().map(|row| (row["id"].as_str().unwrap(), row)).collect();
    for (command, answer) in &answers {
        let row = by_id.get(answer["id"].as_str().unwrap());
        let row = row.unwrap_or_else(|| panic!("a result is lost: {command}: {answer}"));
        let ended =
            ["completed", "failed", "timed_out", "canceled"].contains(&answer["status"].as_str().unwrap());
        assert!(!ended || row["status"] == answer["status"], "{answer}: the record says {row}");
    }
    let mut seen = BTreeMap::new();
    for row in rows {
        let command = row["command"].as_str().unwrap();
        let file = asked.get(command).unwrap_or_else(|| panic!("no call asked for this command: {row}"));
        assert_eq!(seen.insert(command, row), None, "twice in the record: {row}");
        let made = place.root().join(file).exists();
        match row["status"].as_str().unwrap() {
            "completed" => assert!(
                made || file == "none",
                "it is recorded as completed but didn't create its file: {row}"
            ),
            "failed" | "canceled" | "lost" => {}
            status => panic!("{status} is no end: {row}"),
        }
    }
    // Every command that created its file is in the record.
    for (command, file) in &asked {
        assert!(seen.contains_key(command.as_str()) || !place.root().join(file).exists(), "{command}");
    }
    let count = |status: &str| rows.iter().filter(|row| row["status"] == status).count();
    println!(
        "{runs} calls, {} front ends and {} keepers killed: {} answered, {} completed, {} failed, {} lost",
        killed[0],
        killed[1],
        answers.len(),
        count("completed"),
        count("failed"),
        count("lost")
    );
}
