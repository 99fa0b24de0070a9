//! Every system call may fail. Each scenario is run again and again, with another call of one of its processes failing or
//! killing it. Afterwards nothing false was said, nothing hangs or is left behind, the record is whole and the next call works.
//!
//! The sample that runs with the other tests is a small part; `scripts/faults` runs more and prints the table.
//! `SHELLGATE_FAULTS` is the size of the sample, or `sites` (every fault at every place that makes a system call),
//! or `all` (at every call), or `inject=…`: a single fault, as a failed run names it.

mod broker;
mod front_end;
mod keeper;
mod plan;
mod questions;
mod results;
mod server;
mod server_jobs;
mod sites;
mod standby;
mod trace;
mod turns;

use std::process::Output;
use std::sync::Mutex;

use crate::support::{Place, pids, wait_until};

/// What came of a run with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// All went well nevertheless.
    Success,
    /// It failed and said so.
    HonestError,
}

/// Tries the faults of a process in a scenario. `run` runs it in a new place with `strace ARGUMENTS` at that process; it
/// succeeds without a fault.
fn try_all(scenario: &str, process: &str, run: impl Fn(&Place, &[&str]) -> Result<Verdict, String> + Sync) {
    let (row, effort) = (format!("{scenario} / {process}"), plan::Effort::from_environment());
    let log = tempfile::tempdir().unwrap();
    let Some(turn) = turns::Turn::wait() else { return };
    let file = log.path().join("log");
    let logging = ["-y", "--output-separately", "-o", file.to_str().unwrap()];
    let came = try_one(&run, &logging);
    assert_eq!(came, Ok(Verdict::Success), "{row}: without faults");
    drop(turn);
    let faults = plan::plan(&sites::read(log.path(), effort.grain()), &row, &effort);
    let results = results::Results::load(&row);
    let todo: Vec<_> = faults.into_iter().filter(|fault| !results.is_known(fault)).collect();
    let (todo, results) = (Mutex::new(todo.into_iter()), Mutex::new(results));
    let work = || {
        let next = || todo.lock().unwrap().next();
        while let Some((turn, fault)) = turns::Turn::wait().and_then(|turn| Some((turn, next()?))) {
            let came = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                try_one(&run, &["-o", "/dev/null", "-e", &fault.inject])
            }));
            let came = came.unwrap_or_else(|panic| Err(format!("{:?}", panic.downcast_ref::<String>())));
            results.lock().unwrap().add(&fault, came);
            drop(turn);
        }
    };
    std::thread::scope(|scope| (0..turns::WORKERS).for_each(|_| drop(scope.spawn(work))));
    results.into_inner().unwrap().assert_none_is_wrong();
}

/// One run, and what must hold after any fault.
fn try_one(
    run: impl Fn(&Place, &[&str]) -> Result<Verdict, String>,
    strace: &[&str],
) -> Result<Verdict, String> {
    let place = Place::new(None);
    let came = run(&place, strace)?;
    let stopped = trace::bounded(&place, &["stop", "--all", "--now"]);
    if trace::hangs(&stopped) {
        return Err("`stop --all` hangs".to_owned());
    }
    afterwards(&place)?;
    Ok(came)
}

/// What must hold after any fault: the next call works, the record is whole and nothing is left behind.
fn afterwards(place: &Place) -> Result<(), String> {
    let next = trace::bounded(place, &["call", r#"{"command": "echo next"}"#]);
    let answer = stdout(&next);
    if !answer.contains(r#""stdout":"next\n""#) {
        return Err(format!("the next call fails: {answer} {}", String::from_utf8_lossy(&next.stderr)));
    }
    let verified = place.output(["audit", "verify"]);
    if verified.status.code() != Some(0) {
        return Err(format!("the record is broken: {verified:?}"));
    }
    place.assert_nothing_is_left();
    wait_until("no process of it is left", || processes_of(place).is_empty());
    // A look at the record settles what was left open.
    let history = stdout(&place.output(["history", "--json"]));
    let unsettled = ["queued", "starting", "running"].map(|status| format!(r#""status":"{status}""#));
    if unsettled.iter().any(|status| history.contains(status)) {
        return Err(format!("the record says that it goes on: {history}"));
    }
    if place.root().join("made").exists() && !history.contains("made") {
        return Err(format!("it ran without a record: {history}"));
    }
    let left = left_behind(place);
    if left.is_empty() { Ok(()) } else { Err(format!("left behind: {left:?}")) }
}

/// Processes that a command of this place has left, or that hold its files: keepers, standby processes.
fn processes_of(place: &Place) -> Vec<u64> {
    let is_below = |pid: u64| {
        let directory = std::fs::read_link(format!("/proc/{pid}/cwd"));
        directory.is_ok_and(|directory| directory.starts_with(place.root()))
    };
    let helpers = ["shellgate-keep", "shellgate-stby"].into_iter().flat_map(|name| place.holders(name));
    let own = u64::from(std::process::id());
    pids()
        .filter(|pid| *pid != own && crate::support::is_alive(*pid) && is_below(*pid))
        .chain(helpers)
        .collect()
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

/// The verdict on a run that is right or else must have told an error.
fn right_or_honest(is_right: bool, output: &Output) -> Result<Verdict, String> {
    if is_right { Ok(Verdict::Success) } else { honest(output) }
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
    // An answer for a program has its error in it, or says that output is missing.
    if said.contains(r#""error":{"code":"#) || said.contains(r#""stdout_truncated":true"#) {
        return Ok(Verdict::HonestError);
    }
    match output.status.success() || (said.trim().is_empty() && !was_killed) {
        true => Err(format!("no error is told: {output:?}")),
        false => Ok(Verdict::HonestError),
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether the command of a scenario has made its file.
fn made(place: &Place) -> bool {
    place.root().join("made").exists()
}

/// The id in the answer to a call.
fn id_of(output: &Output) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(answer["id"].as_str()?.to_owned())
}
