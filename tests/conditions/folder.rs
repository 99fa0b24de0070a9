//! The state folder is read-only, full, deleted or in memory.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Value, json};

use super::{assert_it_works_again, said};
use crate::mcp::talk::Talk;
use crate::support::{Place, for_each_user, shellgate, wait_until};

/// Runs a script in a mount namespace. In it, `sg` is shellgate and prints its exit code afterwards.
fn in_own_mounts(place: &Place, script: &str) -> String {
    let script = format!("sg() {{ {} \"$@\" 2>&1; echo \"code $?\"; }}\n{script}", shellgate().display());
    let mut command = place.program("unshare");
    command.args(["--user", "--map-root-user", "--mount", "bash", "-c", &script]);
    said(&command.output().unwrap()).1
}

#[test]
fn nothing_runs_with_a_read_only_state_folder() {
    for_each_user(|place| {
        place.output(["run", "echo before"]);
        let text = in_own_mounts(
            place,
            "mount --bind \"$SHELLGATE_HOME\" \"$SHELLGATE_HOME\" || exit 99
mount -o remount,bind,ro \"$SHELLGATE_HOME\" || exit 99
sg run 'touch made'
sg jobs
sg stop --all
sg audit verify",
        );
        let refused =
            "config: the command can't be recorded: the journal can't be written: it is read-only\n";
        assert!(text.contains(refused) && text.contains("code 125\n"), "{text}");
        let unread = "config: the journal can't be written: it is read-only\n";
        assert_eq!(text.matches(unread).count(), 1, "jobs doesn't know: {text}");
        let unstopped =
            "config: no execution was found to stop, but: the journal can't be written: it is read-only\n";
        assert!(text.contains(unstopped), "stop has asked the keepers: {text}");
        assert_eq!(text.matches("code 2\n").count(), 2, "{text}");
        assert!(text.contains("intact: ") && text.ends_with("code 0\n"), "reading is possible: {text}");
        assert!(!place.root().join("made").exists());
        assert_it_works_again(place);
    });
}

#[test]
fn nothing_runs_with_a_full_state_folder_until_there_is_space() {
    for_each_user(|place| {
        let text = in_own_mounts(
            place,
            "mount -t tmpfs -o size=600k,mode=700 none \"$SHELLGATE_HOME\" || exit 99
sg run 'echo in memory'
cat /dev/zero > \"$SHELLGATE_HOME/fill\" 2> /dev/null
sg run 'touch made'
sg history
sg audit verify
rm \"$SHELLGATE_HOME/fill\"
sg run 'echo next'
sg audit verify",
        );
        let codes: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("code ")).collect();
        assert_eq!(codes, ["0", "125", "0", "0", "0", "0"], "{text}");
        let refused =
            "config: the command can't be recorded: the journal can't be written: the disk is full\n";
        assert!(text.contains(refused) && text.contains("next\n"), "{text}");
        assert!(!place.root().join("made").exists());
    });
}

/// Opening the journal shows only that it can be read.
#[test]
fn doctor_says_that_the_state_folder_is_full() {
    for_each_user(|place| {
        let text = in_own_mounts(
            place,
            "mount -t tmpfs -o size=600k,mode=700 none \"$SHELLGATE_HOME\" || exit 99
sg run 'echo in memory'
cat /dev/zero > \"$SHELLGATE_HOME/fill\" 2> /dev/null
sg doctor
sg doctor --json
rm \"$SHELLGATE_HOME/fill\"
sg doctor",
        );
        let (full, freed) = text.split_once("{\"").unwrap_or_else(|| panic!("{text}"));
        assert!(full.contains("can't be written: No space left on device."), "{full}");
        assert!(full.contains("Commands can't be recorded, so none runs"), "{full}");
        assert!(full.contains("Something required is missing.") && full.ends_with("code 1\n"), "{full}");
        assert!(freed.starts_with("ok\":false") && freed.contains("code 1\n"), "{freed}");
        assert!(freed.contains("The journal can be written"), "and when there is space, it is: {freed}");
        assert!(!place.state().join(".doctor").exists());
    });
}

/// A server has its record open. What it wrote to a removed file would be lost.
#[test]
fn a_server_whose_state_folder_is_deleted_runs_nothing_unrecorded() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        assert_eq!(talk.run(json!({"command": "echo before"}))["stdout"], "before\n");
        remove_while_in_use(&place.state());
        for _ in 0..3 {
            let report = talk.run(json!({"command": "touch made"}));
            let error = &report["error"];
            assert_eq!(error["code"], "config", "{report}");
            assert!(
                error["message"].as_str().unwrap().contains("No such file or directory")
                    || error["message"].as_str().unwrap().contains("there is no journal"),
                "{report}"
            );
        }
        assert!(!place.root().join("made").exists());
        // Once the folder is there again, the server records in the new journal.
        std::fs::create_dir(place.state()).unwrap();
        crate::support::give(&place.state(), place.user);
        assert_eq!(said(&place.output(["run", "echo other"])), (Some(0), "other\n".to_owned()));
        let report = talk.run(json!({"command": "touch made"}));
        assert_eq!((&report["status"], &report["error"]), (&json!("completed"), &Value::Null), "{report}");
        assert!(place.root().join("made").exists());
        talk.leave();
        let history = said(&place.output(["history"])).1;
        assert!(history.contains("touch made") && history.contains("echo other"), "{history}");
        assert_it_works_again(place);
    });
}

/// The keeper holds the folder, not its name.
#[test]
fn the_end_of_a_command_is_not_lost_when_the_state_folder_is_renamed_meanwhile() {
    for_each_user(|place| {
        let away = place.state().with_extension("away");
        // A job, and a command whose caller can't record its end.
        let until_go = "touch begun; until [ -e go ]; do sleep 0.01; done; exit 7";
        for is_job in [true, false] {
            let foreground = if is_job {
                assert!(place.output(["run", "--background", until_go]).status.success());
                None
            } else {
                Some(place.start(["run", until_go]))
            };
            wait_until("it runs", || place.root().join("begun").exists());
            std::fs::rename(place.state(), &away).unwrap();
            place.write("go", "");
            match foreground {
                Some(mut caller) => assert_eq!(caller.wait().unwrap().code(), Some(7)),
                None => wait_until("its end is stored", || has_an_end(&away.join("ends"))),
            }
            std::fs::rename(&away, place.state()).unwrap();
            wait_until("it has its end", || last_status(place) == json!("failed"));
            for name in ["begun", "go"] {
                std::fs::remove_file(place.root().join(name)).unwrap();
            }
        }
        assert_it_works_again(place);
    });
}

/// Its name leads to a record that knows nothing of the job.
#[test]
fn a_job_is_told_of_when_another_folder_has_taken_the_name_of_the_state_folder() {
    for_each_user(|place| {
        let (away, other) = (place.state().with_extension("away"), place.state().with_extension("other"));
        std::fs::create_dir(&other).unwrap();
        crate::support::give(&other, place.user);
        let mark = crate::support::mark();
        let is_running = || !crate::support::processes_with(&mark).is_empty();
        let start = || {
            assert!(place.output(["run", "--background", &format!("sleep {mark}")]).status.success());
            wait_until("it runs", is_running);
            std::fs::rename(place.state(), &away).unwrap();
            std::fs::rename(&other, place.state()).unwrap();
            assert_eq!(said(&place.output(["run", "echo other"])), (Some(0), "other\n".to_owned()));
        };
        start();
        let keeper = format!("process id {}", keeper_of(&mark));
        for words in [&["jobs"][..], &["jobs", "--json"]] {
            let (code, text) = said(&place.output(words));
            assert!(code != Some(0) && text.contains(&keeper), "{words:?}: {code:?} {text}");
        }
        // The job goes on, and is there again with its folder.
        std::fs::rename(place.state(), &other).unwrap();
        std::fs::rename(&away, place.state()).unwrap();
        let (code, text) = said(&place.output(["jobs"]));
        assert!(code == Some(0) && text.contains(&mark), "{code:?} {text}");
        assert_eq!(said(&place.output(["stop", "--all"])), (Some(0), "stopped 1 execution\n".to_owned()));
        start();
        let (code, text) = said(&place.output(["stop", "--all"]));
        assert!(code != Some(0) && text.contains("was killed"), "{code:?} {text}");
        wait_until("it has ended", || !is_running());
        assert_it_works_again(place);
    });
}

/// The keeper of the command with this mark.
fn keeper_of(mark: &str) -> u64 {
    let pids = crate::support::processes_with(mark);
    let status = |pid: u64| std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let parent = |pid: &u64| {
        let text = status(*pid);
        text.lines().find_map(|line| line.strip_prefix("PPid:\t"))?.parse().ok().filter(|parent| *parent != 0)
    };
    let mut ancestors = std::iter::successors(pids.first().copied(), parent);
    ancestors.find(|pid| status(*pid).starts_with("Name:\tshellgate-keep\n")).unwrap()
}

#[test]
fn the_end_of_a_job_is_not_lost_when_the_folder_for_ends_was_removed() {
    for_each_user(|place| {
        let started = place.output(["run", "--background", "until [ -e go ]; do sleep 0.01; done; exit 7"]);
        assert!(started.status.success());
        std::fs::remove_dir_all(place.state().join("ends")).unwrap();
        place.write("go", "");
        wait_until("its end is stored", || has_an_end(&place.state().join("ends")));
        assert_eq!(last_status(place), "failed");
        std::fs::remove_file(place.root().join("go")).unwrap();
        assert_it_works_again(place);
    });
}

/// Whether a keeper has stored an end. The names of other files begin with a dot.
fn has_an_end(ends: &Path) -> bool {
    let names = std::fs::read_dir(ends).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| !name.to_string_lossy().starts_with('.'))
}

fn last_status(place: &Place) -> Value {
    let history = place.output(["history", "--json"]);
    let history: Value = serde_json::from_slice(&history.stdout).unwrap();
    history[0]["status"].clone()
}

/// The server's keeper may make a file while the folder is being removed: then it isn't empty yet.
fn remove_while_in_use(folder: &Path) {
    while let Err(error) = std::fs::remove_dir_all(folder) {
        match error.kind() {
            ErrorKind::DirectoryNotEmpty => {}
            ErrorKind::NotFound if !folder.exists() => return,
            ErrorKind::NotFound => {}
            _ => panic!("{}: {error}", folder.display()),
        }
    }
}

/// No keeper can work where `/dev/null` can't be opened. It is tried some times, not a thousand.
#[test]
fn a_keeper_that_can_t_work_is_started_a_few_times() {
    let place = Place::new(None);
    let text = in_own_mounts(
        &place,
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")' || exit 99
mount --bind sock /dev/null || exit 99
SHELLGATE_LOG=info sg run 'touch made'
grep -c 'starts a keeper' \"$SHELLGATE_HOME/log/front-end.log\"",
    );
    assert!(text.contains("the keeper can't be started") && text.contains("code 125\n"), "{text}");
    let starts: usize = text.lines().last().unwrap().parse().unwrap();
    assert!((2..50).contains(&starts), "{text}");
    assert!(!place.root().join("made").exists());
    assert_it_works_again(&place);
}
