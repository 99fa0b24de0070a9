//! Attacks on the machine and on processes outside.

use std::process::Command;

use serde_json::json;

use super::{
    assert_attacks_fail, assert_done, assert_stopped, command, for_each_user, install, results, run,
};
use crate::support::{Place, give, kill, mark, wait_until};

/// A command in namespaces of its own, in which the place's user is root.
fn apart(place: &Place, command: &str) -> Command {
    let mut apart = place.program("unshare");
    if place.user.is_some() {
        apart.arg("--map-root-user");
    }
    apart.args(["--mount", "--pid", "--fork", "--uts", "--ipc", "--mount-proc", "--kill-child"]);
    apart.args(["bash", "-c", command]);
    apart
}

#[test]
fn the_machine_cannot_be_changed() {
    for_each_user(|place| {
        install(place, include_str!("kernel.py"), json!({}));
        for mode in ["workspace", "read-only", "strict"] {
            assert_eq!(run(place, "off", &command("fixture"))["status"], "completed");
            assert_stopped(&results(&run(place, mode, &command("attack"))), mode);
        }
        let control = apart(place, &command("control")).output().unwrap();
        assert!(control.status.success(), "{control:?}");
        let text = String::from_utf8_lossy(&control.stdout).into_owned();
        let answer = json!({"status": "completed", "stdout": text});
        assert_done(&results(&answer), "in namespaces of its own");
    });
}

#[test]
fn processes_outside_cannot_be_reached() {
    for_each_user(|place| {
        let mut outside = place.program("sleep").arg(mark()).spawn().unwrap();
        let hold = place.start([
            "run",
            "--sandbox",
            "workspace",
            "echo > up; until [ -e down ]; do sleep 0.05; done",
        ]);
        wait_until("the session has a launcher", || place.root().join("up").exists());
        let memory = format!("/dev/shm/shellgate-{}", mark());
        std::fs::write(&memory, "memory").unwrap();
        give(memory.as_ref(), place.user);
        let known: Vec<u64> = [u64::from(outside.id())].into_iter().chain(place.keepers()).collect();
        let plan = json!({"outside": known, "memory": memory});
        assert_attacks_fail(place, include_str!("processes.py"), &["workspace", "read-only", "strict"], plan);
        std::fs::remove_file(memory).unwrap();
        place.write("down", "");
        assert!(hold.wait_with_output().unwrap().status.success());
        kill(u64::from(outside.id()));
        outside.wait().unwrap();
    });
}
