//! What must hold when the load is over: no process is left, the record is whole, and no unfinished file stays.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Soak, marks, processes};

/// How long processes may take to end when nothing needs them any more.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Files that may be in the state folder.
const FILES: &[&str] = &[
    "journal.db",
    "journal.db-shm",
    "journal.db-wal",
    "journal.head",
    "journal.log",
    "mcp-keys",
    "ends/.reserve",
];

/// Notes all that doesn't hold.
pub(super) fn check(soak: &Soak) {
    for process in processes::all(&soak.place) {
        process.signal(Signal::CONT);
    }
    stop_all(soak);
    nothing_runs(soak);
    record_is_whole(soak);
    // A look at the record may start nothing that stays.
    nothing_runs(soak);
    no_file_is_left(soak);
}

/// `shellgate WORDS`, which must succeed. Returns its output.
fn succeed(soak: &Soak, words: &[&str]) -> Option<Vec<u8>> {
    match soak.place.shellgate(words).output() {
        Ok(output) if output.status.success() => Some(output.stdout),
        ended => {
            soak.tally.wrong("ending", format!("{words:?} fails: {ended:?}"));
            None
        }
    }
}

/// Stops the jobs that are left because the process that was to stop them was killed.
fn stop_all(soak: &Soak) {
    if let Some(output) = succeed(soak, &["stop", "--all"]) {
        println!("\nat the end: {}", String::from_utf8_lossy(&output).trim());
    }
}

fn nothing_runs(soak: &Soak) {
    let root = soak.place.root();
    let is_in_root = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder.starts_with(&root))
    };
    let left = || -> Vec<String> {
        let own = processes::all(&soak.place).into_iter().map(|process| process.pid);
        let left = own.chain(processes::pids().filter(is_in_root));
        left.map(|pid| format!("{pid} {}", processes::words(pid).join(" "))).collect()
    };
    let until = Instant::now() + IDLE_TIMEOUT;
    while !left().is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
    }
    for process in left() {
        soak.tally.wrong("ending", format!("a process is left: {process}"));
    }
}

/// Every command that ran is in the record, each has an end, and none that was said not to run has run.
fn record_is_whole(soak: &Soak) {
    if let Some(output) = succeed(soak, &["audit", "verify"]) {
        println!("at the end: {}", String::from_utf8_lossy(&output).trim());
    }
    let ran = marks::all_set(&soak.place.effects());
    for unrun in soak.marks.falsely_unrun(&ran) {
        soak.tally.wrong("ending", format!("it ran though it was said not to: {unrun}"));
    }
    match soak.record.look(soak, "0") {
        Ok(kept) => {
            let bytes = std::fs::metadata(soak.place.state().join("journal.db")).map_or(0, |file| file.len());
            println!(
                "at the end: {kept} commands are kept, {} bytes of the journal each",
                bytes / kept.max(1) as u64
            );
        }
        Err(why) => return soak.tally.wrong("ending", format!("the history can't be read: {why}")),
    }
    println!("at the end: {} commands ran; the record had {:?}", ran.len(), soak.record.statuses());
    for difference in soak.record.differences(&ran) {
        soak.tally.wrong("ending", difference);
    }
}

/// Files in the state folder that nothing needs: sockets, unfinished files, ends that were not taken.
fn no_file_is_left(soak: &Soak) {
    let state = soak.place.state();
    for folder in ["", "ends", "sessions", "spool", "log"] {
        for entry in std::fs::read_dir(state.join(folder)).into_iter().flatten().flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            let name = name.trim_start_matches('/');
            let is_output =
                folder == "spool" && [".stdout", ".stderr", ".tail"].iter().any(|end| name.ends_with(end));
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder && !is_output && !FILES.contains(&name) {
                soak.tally.wrong("ending", format!("a file is left: {name}"));
            }
        }
    }
}
