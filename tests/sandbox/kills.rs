//! Processes of shellgate are killed at random moments: no process of the session, no mount and no file is left.
//!
//! `SHELLGATE_KILLS=N` tries each kill more often, `SHELLGATE_KILLS_SEED=N` repeats a run.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{for_each_user, succeeds, write};
use crate::support::dice::{Dice, number};
use crate::support::{Place, is_alive, kill, mark, pids, processes_with, wait_until};

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    FrontEnd,
    /// Processes with this short name.
    Process(&'static str),
}

const KEEPER: &str = "shellgate-keep";
const LAUNCHER: &str = "shellgate-launc";
const BROKER: &str = "shellgate-broke";
const FIRST_PROCESS: &str = "shellgate-pod";

/// How often each victim is killed.
const KILLS: u64 = 10;

/// The longest time from the start of the command to the kill. A first command takes about half of it.
const LONGEST_WAIT_MS: u64 = 200;

/// The living processes with the environment of this place, with their short names: shellgate's, and those of commands.
fn processes_of(place: &Place) -> Vec<(u64, String)> {
    let mark = format!("SHELLGATE_HOME={}\0", place.state().display());
    let named = |pid: u64| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let is_of_place = environment.windows(mark.len()).any(|part| part == mark.as_bytes());
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        (is_of_place && is_alive(pid)).then(|| (pid, name.trim().to_owned()))
    };
    pids().filter_map(named).collect()
}

fn mounts() -> BTreeSet<String> {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().map(ToOwned::to_owned).collect()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Starts a command, kills the victim after a while, and ends what is then left of the session. `None`: as soon as it is
/// there. Returns whether there was a victim by then.
fn kill_once(place: &Place, victim: Victim, wait: Option<Duration>) -> bool {
    let mark = mark();
    let command = format!(
        "(setsid sleep {mark} &) ; sleep {mark} & echo x > tracked; for i in $(seq 1000); do touch new; rm new; done; sleep {mark}"
    );
    let mut front_end = place.start(["run", "--sandbox", "workspace", &command]);
    let find = || -> Vec<u64> {
        match victim {
            Victim::FrontEnd => vec![u64::from(front_end.id())],
            Victim::Process(wanted) => {
                let all = processes_of(place);
                all.iter().filter(|(_, name)| name == wanted).map(|(pid, _)| *pid).collect()
            }
        }
    };
    match wait {
        Some(wait) => std::thread::sleep(wait),
        None => wait_until("the victim is there", || !find().is_empty()),
    }
    let victims = find();
    victims.iter().copied().for_each(kill);
    if victim == Victim::Process(KEEPER) && !victims.is_empty() {
        // Nothing of ours ends them: the kernel does. Those that have ended have no environment: some wait for the
        // machine's first process to reap them.
        wait_until("the pod has ended with its keeper", || {
            !processes_of(place)
                .iter()
                .any(|(_, name)| [LAUNCHER, BROKER, FIRST_PROCESS].contains(&name.as_str()))
        });
    }
    place.output(["stop", "--all", "--now"]);
    // A front end that had not yet reached its keeper starts another one.
    let _ = front_end.kill();
    let _ = front_end.wait();
    place.output(["stop", "--all", "--now"]);
    wait_until("no process of the session is left", || {
        processes_with(&mark).is_empty() && processes_of(place).is_empty()
    });
    !victims.is_empty()
}

fn kill_often(victim: Victim) {
    let seed = number("SHELLGATE_KILLS_SEED", u64::from(std::process::id()));
    for_each_user(|place| {
        println!("seed {seed}");
        let mut dice = Dice(seed);
        write(place, "root/.git/config", "kept");
        write(place, "root/kept", "kept");
        let before = mounts();
        let mut was_killed = false;
        let moments = number("SHELLGATE_KILLS", KILLS);
        for moment in 1..=moments {
            // On a busy machine the victim may be there at none of the first moments.
            let wait =
                (was_killed || moment < moments).then(|| Duration::from_millis(dice.below(LONGEST_WAIT_MS)));
            was_killed |= kill_once(place, victim, wait);
            let mut found = names(&place.root());
            // What the command itself made.
            for made in ["tracked", "new"] {
                found.remove(made);
                let _ = std::fs::remove_file(place.root().join(made));
            }
            assert_eq!(found, [".git", "kept"].map(str::to_owned).into(), "{victim:?}");
            assert_eq!(names(&place.root().join(".git")), ["config".to_owned()].into(), "{victim:?}");
        }
        assert_eq!(mounts(), before, "{victim:?}");
        assert!(was_killed, "{victim:?} was there at none of the moments");
        assert_eq!(succeeds(place, "workspace", "echo on"), "on\n", "the next session");
    });
}

#[test]
fn a_killed_front_end_leaves_nothing() {
    kill_often(Victim::FrontEnd);
}

#[test]
fn a_killed_keeper_leaves_nothing() {
    kill_often(Victim::Process(KEEPER));
}

#[test]
fn a_killed_launcher_leaves_nothing() {
    kill_often(Victim::Process(LAUNCHER));
}

#[test]
fn a_killed_broker_leaves_nothing() {
    kill_often(Victim::Process(BROKER));
}

#[test]
fn a_killed_first_process_leaves_nothing() {
    kill_often(Victim::Process(FIRST_PROCESS));
}

/// The kernel starts nothing in a pod whose first process was killed, before anybody can see that it is dead.
#[test]
fn a_call_while_the_pod_ends_is_started_in_the_next_one() {
    for_each_user(|place| {
        for _ in 0..8 {
            let mark = mark();
            let many = json!({"command": format!("for i in {{1..150}}; do sleep {mark} & done; wait"), "background": true});
            assert_eq!(place.call(&many)["status"], "running");
            wait_until("there are many processes", || processes_with(&mark).len() >= 150);
            let first = processes_of(place).into_iter().find(|(_, name)| name == FIRST_PROCESS).unwrap();
            kill(first.0);
            let answer = place.call(&json!({"command": "echo on"}));
            assert_eq!(answer["stdout"], "on\n", "{answer}");
            wait_until("the pod has ended", || processes_with(&mark).is_empty());
        }
    });
}
