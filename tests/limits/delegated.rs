//! An ordinary user with groups of their own, as a systemd user session gives them.

use std::io::Write as _;
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{assert_ended_by, groups_called, id, limit, run};
use crate::support::{ORDINARY, Place, is_root, wait_until};

/// Groups that belong to the ordinary user, below our own.
struct Delegated(Vec<PathBuf>);

impl Delegated {
    /// In every hierarchy where root itself gets a group.
    fn new(place: &Place) -> Self {
        limit(place, "memory_mb = 500\nprocesses = 100\ncpu_s = 60");
        let answer = place.call(&json!({"command": "sleep 3600", "background": true}));
        let parents = groups_called(id(&answer)).into_iter().map(|group| group.parent().unwrap().to_owned());
        let made = Self(parents.map(|own| own.join(format!("delegated-{}", std::process::id()))).collect());
        place.output(["stop", id(&answer)]);
        for group in &made.0 {
            std::fs::create_dir(group).unwrap();
            let files = std::fs::read_dir(group).unwrap().map(|entry| entry.unwrap().path());
            files
                .chain([group.clone()])
                .for_each(|path| chown(path, Some(ORDINARY), Some(ORDINARY)).unwrap());
        }
        made
    }

    /// What `shellgate ARGS` prints, started in these groups.
    fn shellgate(&self, place: &Place, args: &[&str]) -> Value {
        let mut command = place.program("/bin/sh");
        command.args(["-c", "read go; exec \"$0\" \"$@\""]).arg(crate::support::shellgate()).args(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        for group in &self.0 {
            std::fs::write(group.join("cgroup.procs"), child.id().to_string()).unwrap();
        }
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
    }
}

impl Drop for Delegated {
    fn drop(&mut self) {
        self.0.iter().for_each(|group| drop(std::fs::remove_dir(group)));
    }
}

#[test]
fn an_ordinary_user_uses_the_groups_that_are_theirs() {
    if !is_root() {
        // Only root can give control groups to another user.
        return;
    }
    let delegated = Delegated::new(&Place::new(None));
    let place = Place::new(Some(ORDINARY));
    let found = delegated.shellgate(&place, &["doctor", "--json"]);
    let held = found["limits"].as_array().unwrap().iter();
    let held = held.filter(|limit| limit["mechanism"].as_str().unwrap().starts_with("cgroup")).count();
    assert_eq!(held > 0, !delegated.0.is_empty(), "{found}");
    limit(&place, "memory_mb = 100\nprocesses = 50\ncpu_s = 2");
    let hog =
        json!({"command": "cat /proc/self/cgroup; python3 -c 'x = b\"a\" * (900 << 20)'; true"}).to_string();
    let answer = delegated.shellgate(&place, &["call", &hog]);
    let groups = answer["stdout"].as_str().unwrap();
    assert_eq!(groups.matches(&format!("/shellgate-{}", id(&answer))).count(), delegated.0.len(), "{groups}");
    assert_ended_by(&answer, "memory_mb", 100, "used more than 100 MB of memory");
    for group in &delegated.0 {
        wait_until("the group is empty, and the keeper has ended", || std::fs::remove_dir(group).is_ok());
    }
    // Outside these groups, a command runs without one.
    let answer = run(&place, "cat /proc/self/cgroup");
    assert!(!answer["stdout"].as_str().unwrap().contains("/shellgate-"), "{answer}");
    place.assert_nothing_is_left();
}
