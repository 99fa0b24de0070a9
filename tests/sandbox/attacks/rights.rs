//! Rights that a command might bring along or gain: open descriptors, set-user-ID programs, other commands of its session.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Command;

use serde_json::json;

use super::{for_each_user, run, write};
use crate::support::{ORDINARY, is_root, mark, shellgate, wait_until};

/// What a shell does with descriptors that it was given: 7 a file for writing, 8 a folder, 9 a socket's place in `/proc`.
const USES_DESCRIPTORS: [&str; 4] = [
    "echo evil >&7",
    "cat <&7",
    "echo evil > /proc/self/fd/7",
    "python3 -c 'import os; os.close(os.open(\"new\", os.O_CREAT | os.O_WRONLY, dir_fd=8))'",
];

#[test]
fn open_descriptors_are_not_inherited() {
    for_each_user(|place| {
        for attack in USES_DESCRIPTORS {
            let file = write(place, "home/file", "kept");
            let start = "exec 7<>../home/file 8<../home; exec \"$@\"";
            let with_descriptors = |words: &[&str]| {
                let mut bash = place.program("bash");
                bash.args(["-c", start, "bash"]).args(words).output().unwrap()
            };
            // The first command of a session: its keeper comes from this very process.
            place.assert_nothing_is_left();
            let own = shellgate();
            let confined =
                with_descriptors(&[own.to_str().unwrap(), "run", "--sandbox", "workspace", attack]);
            assert_ne!(confined.status.code(), Some(0), "{attack}: {confined:?}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept", "{attack}");
            assert!(!place.home().join("new").exists(), "{attack}");
            let control = with_descriptors(&["bash", "-c", attack]);
            assert!(control.status.success(), "with them: {attack}: {control:?}");
        }
        assert!(place.home().join("new").exists());
        let listed = run(place, "workspace", "ls /proc/self/fd");
        assert_eq!(listed["stdout"], "0\n1\n2\n3\n", "the last one is that of `ls`: {listed}");
    });
}

/// Prints the user that it has become.
const WHO: &str =
    "#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf(\"%u\\n\", geteuid()); return 0; }";

#[test]
fn set_user_id_programs_gain_nothing() {
    assert!(is_root(), "only root can make such a program: run the tests as root");
    for_each_user(|place| {
        let source = write(place, "home/who.c", WHO);
        let (own, other) = match place.user {
            None => (0, ORDINARY),
            Some(user) => (user, 0),
        };
        for program in [place.home().join("who"), place.root().join("who")] {
            assert!(Command::new("cc").arg("-o").arg(&program).arg(&source).status().unwrap().success());
            chown(&program, Some(other), Some(other)).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o6755)).unwrap();
            let command = program.display().to_string();
            for mode in ["workspace", "read-only", "strict"] {
                let answer = run(place, mode, &command);
                if mode == "strict" && !program.starts_with(place.root()) {
                    assert_ne!(answer["exit_code"], 0, "it can't be read: {answer}");
                } else {
                    assert_eq!(answer["stdout"], format!("{own}\n"), "{mode}: {answer}");
                }
            }
            assert_eq!(run(place, "off", &command)["stdout"], format!("{other}\n"), "without a sandbox");
        }
    });
}

/// Commands with different confinements share a pod. The narrower one must not use the view of the wider one.
#[test]
fn a_command_cannot_use_the_view_of_another() {
    for_each_user(|place| {
        write(place, "home/file", "outside");
        let mark = mark();
        let started = run(place, "workspace", &format!("sleep {mark} & echo $!"));
        let wide = started["stdout"].as_str().unwrap().trim().to_owned();
        let path = format!("/proc/{wide}/root{}/file", place.home().display());
        for attack in [
            format!("read line < {path}"),
            format!("read line < /proc/{wide}/cwd/../home/file"),
            format!("cd /proc/{wide}/root"),
            format!("read line < /proc/{wide}/environ"),
            format!("exec 5<>/proc/{wide}/mem"),
        ] {
            let answer = run(place, "strict", &attack);
            assert_eq!(answer["status"], "failed", "{attack}: {answer}");
        }
        assert_eq!(
            run(place, "strict", &format!("kill -0 {wide}"))["status"],
            "completed",
            "they share a pod"
        );
        assert_eq!(run(place, "workspace", &format!("cat {path}"))["stdout"], "outside");
        run(place, "strict", &format!("kill {wide}"));
        wait_until("it is gone", || crate::support::processes_with(&mark).is_empty());
    });
}

#[test]
fn files_made_outside_after_the_start_cannot_be_changed() {
    for_each_user(|place| {
        let waits = "echo > up; until [ -e down ]; do sleep 0.05; done; echo evil >> ../home/later; \
                     echo evil >> ../home/folder/file; rm -r ../home/folder; cat ../home/later";
        let call = json!({"command": waits}).to_string();
        let held = place.start(["call", "--sandbox", "workspace", &call]);
        wait_until("it runs", || place.root().join("up").exists());
        let later = write(place, "home/later", "kept");
        let inner = write(place, "home/folder/file", "kept");
        place.write("down", "");
        let answer: serde_json::Value =
            serde_json::from_slice(&held.wait_with_output().unwrap().stdout).unwrap();
        assert_eq!(answer["stdout"], "kept", "it sees them: {answer}");
        for file in [later, inner] {
            assert_eq!(std::fs::read_to_string(file).unwrap(), "kept");
        }
        assert_eq!(
            run(place, "off", "echo evil >> ../home/later")["status"],
            "completed",
            "without a sandbox"
        );
    });
}
