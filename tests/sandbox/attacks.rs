//! Attacks from inside the sandbox. Each is tried confined and must fail; and without confinement, where it must succeed.
//!
//! The attacks are small Python functions in `attacks/*.py`, run by `attacks/common.py`. A new one is a function there.

mod files;
mod git;
mod kernel;
mod links;
mod network;
mod rights;
mod together;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{for_each_user, run, write};
use crate::support::{Place, give, program_file};

const COMMON: &str = include_str!("attacks/common.py");

/// What became of each attack: `done`, or what stopped it.
type Results = BTreeMap<String, String>;

/// The number of the place's user.
fn user(place: &Place) -> u32 {
    place.user.unwrap_or_else(|| rustix::process::geteuid().as_raw())
}

/// The command that runs attacks. The interpreter's own path can be read in the mode `strict`, too.
fn command(what: &str) -> String {
    let python = std::fs::canonicalize(program_file("python3")).unwrap();
    format!("{} attacks.py {what}", python.display())
}

/// Gives all folders of a place to its user, so that without a sandbox the user can change all of them.
fn give_folders(place: &Place) {
    let folder = place.root().parent().unwrap().to_owned();
    for folder in [folder, place.home().join(".config"), place.home().join(".config/shellgate")] {
        give(&folder, place.user);
    }
}

/// Puts a file of attacks into the root, with what they need to know.
fn install(place: &Place, attacks: &str, plan: Value) {
    give_folders(place);
    place.write("attacks.py", &format!("{COMMON}\n\n{attacks}"));
    let mut whole = json!({"user": user(place), "watched": []});
    whole.as_object_mut().unwrap().extend(plan.as_object().unwrap().clone());
    place.write("plan.json", &whole.to_string());
}

/// What each line of the output says of an attack.
fn results(answer: &Value) -> Results {
    assert_eq!(answer["status"], "completed", "{answer}");
    let lines = answer["stdout"].as_str().unwrap().lines();
    let results: Results = lines
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, result)| (name.to_owned(), result.to_owned()))
        .collect();
    assert!(!results.is_empty(), "{answer}");
    results
}

/// What stops an attack. Other errors, as `EEXIST`, are those of an attack that doesn't attack.
const STOPPED: [&str; 14] = [
    "refused",
    "EPERM",
    "EACCES",
    "EROFS",
    "EXDEV",
    "EBUSY",
    "ENOENT",
    "ESRCH",
    "ENOSYS",
    "ENOTSUP",
    "EOPNOTSUPP",
    "EAFNOSUPPORT",
    "ECONNREFUSED",
    "ENETUNREACH",
];

/// Asserts that every attack was stopped.
fn assert_stopped(results: &Results, context: &str) {
    let wrong: Vec<_> = results.iter().filter(|(_, result)| !STOPPED.contains(&result.as_str())).collect();
    assert!(wrong.is_empty(), "{context}: {wrong:#?}");
}

/// Asserts that every attack was done.
fn assert_done(results: &Results, context: &str) {
    let wrong: Vec<_> = results.iter().filter(|(_, result)| *result != "done").collect();
    assert!(wrong.is_empty(), "{context}: {wrong:#?}");
}

/// Asserts that all attacks fail in each mode and change nothing, and that all succeed without a sandbox.
fn assert_attacks_fail(place: &Place, attacks: &str, modes: &[&str], plan: Value) {
    install(place, attacks, plan);
    let snapshot = || {
        let answer = run(place, "off", &command("snapshot"));
        let lines = answer["stdout"].as_str().unwrap().lines().map(ToOwned::to_owned);
        lines.collect::<BTreeSet<String>>()
    };
    for mode in modes {
        let fixture = run(place, "off", &command("fixture"));
        assert_eq!(fixture["status"], "completed", "{fixture}");
        let before = snapshot();
        let answer = run(place, mode, &command("attack"));
        assert_stopped(&results(&answer), &format!("{mode}: {}", answer["stderr"]));
        let after = snapshot();
        let changed: Vec<_> = after.symmetric_difference(&before).collect();
        assert!(changed.is_empty(), "{mode}: {changed:#?}");
    }
    assert_done(&results(&run(place, "off", &command("control"))), "without a sandbox");
}
