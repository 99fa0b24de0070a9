//! Many jobs whose front ends and keepers are killed: every job is in the record, every byte that it printed is kept, and no
//! process is left.
//!
//! `SHELLGATE_CHAOS_JOBS=200` runs more jobs, `SHELLGATE_CHAOS_SEED=N` repeats a run.

use std::time::Duration;

use serde_json::json;

use super::{json_of, run};
use crate::support::dice::{Dice, number};
use crate::support::{Place, for_each_user, kill, mark, processes_with, wait_until};

#[test]
fn jobs_survive_their_starters_and_end_with_their_keepers() {
    let seed = number("SHELLGATE_CHAOS_SEED", u64::from(std::process::id()));
    for_each_user(|place| {
        println!("seed {seed}");
        chaos(place, Dice(seed), number("SHELLGATE_CHAOS_JOBS", 24));
    });
}

fn chaos(place: &Place, mut dice: Dice, jobs: u64) {
    let mark = mark();
    // After each line, a job writes to a file how many lines it has printed.
    let writer = "import os, sys, time\nn = 0\nwhile n < int(sys.argv[3]):\n  os.write(1, b'%06d\\n' % n); n += 1\n  open(sys.argv[2], 'w').write('%d %d' % (n, os.getpid()))\n  time.sleep(float(sys.argv[1]))\n";
    place.write("writer.py", writer);
    let config = place.write("limits.toml", "[limits]\njobs_per_session = 256\n");
    for at in 0..jobs {
        let session = format!("s{}", at % 4);
        let command = format!("exec python3 writer.py 0.0{} count.{at} 4000 {mark}", 1 + dice.below(9));
        let arguments = json!({"command": command, "background": true}).to_string();
        let mut starter =
            place.start(["call", "--session", &session, "--config", config.to_str().unwrap(), &arguments]);
        if dice.below(2) == 0 {
            std::thread::sleep(Duration::from_millis(dice.below(60)));
            let _ = starter.kill();
        }
        let _ = starter.wait();
        if dice.below(12) == 0 {
            let alive = place.keepers();
            if let Some(keeper) = alive.get(usize::try_from(dice.below(4)).unwrap()) {
                kill(*keeper);
            }
        }
    }
    wait_until("all that run have printed", || {
        let list = json_of(place, &["jobs", "--json"]);
        let mut running = list["jobs"].as_array().unwrap().iter().filter(|job| job["status"] == "running");
        running.all(|job| job["stdout_bytes"].as_u64() > Some(0))
    });
    // Kills one of the remaining keepers, then stops the jobs of the others by their ids.
    if let Some(keeper) = place.keepers().first() {
        kill(*keeper);
    }
    let list = json_of(place, &["jobs", "--json"]);
    for job in list["jobs"].as_array().unwrap().iter().filter(|job| job["status"] == "running") {
        run(place, &["stop", "--now", job["id"].as_str().unwrap()]);
    }
    wait_until("no process of a job is left", || processes_with(&mark).is_empty());
    place.assert_nothing_is_left();
    // Every job that ran is in the record with an end, and its log has all the lines that it counted.
    let history = json_of(place, &["history", "--json", "--limit", "0"]);
    let history = history.as_array().or_else(|| history["executions"].as_array()).unwrap();
    let mut ran = 0;
    for at in 0..jobs {
        let count = std::fs::read_to_string(place.root().join(format!("count.{at}"))).unwrap_or_default();
        let printed: usize = count.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        let entry = history.iter().find(|entry| {
            entry["command"]
                .as_str()
                .or_else(|| entry["text"].as_str())
                .is_some_and(|text| text.contains(&format!("count.{at} ")))
        });
        let Some(entry) = entry else {
            assert_eq!(printed, 0, "job {at} ran without a record");
            continue;
        };
        assert!(!matches!(entry["status"].as_str(), Some("running" | "asked") | None), "{entry}");
        if printed == 0 {
            continue;
        }
        ran += 1;
        let id = entry["id"].as_str().unwrap();
        let log = run(place, &["logs", id]).0;
        let kept = log.len() / 7;
        assert!(kept >= printed, "job {at} printed {printed} lines, {kept} are kept: {entry}");
        let expected: String = (0..kept).map(|n| format!("{n:06}\n")).collect();
        assert_eq!(log, expected, "job {at}");
    }
    assert!(ran * 4 > jobs, "most ran: {ran} of {jobs}");
    let head = run(place, &["audit", "verify"]);
    assert_eq!(head.1, Some(0), "{}", head.0);
}
