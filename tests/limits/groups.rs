//! Control groups: a command enters its group before its program runs. The group is removed after the end, even if the keeper
//! was killed.

use serde_json::{Value, json};

use super::{
    assert_ended_by, assert_no_trace, assert_untouched, groups_called, id, limit, mechanism, notes, run,
};
use crate::support::{for_each_user, is_alive, kill, mark, processes_with, wait_until};

/// The keys of limits that a group can hold, the controller by which `/proc` lists it, and enough of each.
const GROUPED: [(&str, &str, &str); 3] = [
    ("memory_mb", "memory", "memory_mb = 500"),
    ("processes", "pids", "processes = 100"),
    ("cpu_s", "cpuacct", "cpu_s = 60"),
];

#[test]
fn a_command_is_in_the_groups_that_doctor_names() {
    for_each_user(|place| {
        for (key, controller, setting) in GROUPED {
            limit(place, setting);
            let answer = run(place, "cat /proc/self/cgroup");
            assert_eq!(answer["status"], "completed", "{answer}");
            let own = format!("/shellgate-{}", id(&answer));
            let lines: Vec<&str> = answer["stdout"].as_str().unwrap().lines().collect();
            let inside: Vec<&&str> = lines.iter().filter(|line| line.ends_with(&own)).collect();
            let is_of = |line: &str, name: &str| {
                line.split(':').nth(1).is_some_and(|names| names.split(',').any(|found| found == name))
            };
            match mechanism(place, key).as_str() {
                "cgroup_v2" => assert!(inside.len() == 1 && inside[0].starts_with("0::"), "{key}: {lines:?}"),
                "cgroup_v1" => {
                    assert!(inside.len() == 1 && is_of(inside[0], controller), "{key}: {lines:?}");
                }
                _ => assert!(inside.is_empty(), "{key}: {lines:?}"),
            }
            assert_no_trace(place, id(&answer));
        }
        limit(place, "");
        let answer = run(place, "cat /proc/self/cgroup");
        assert!(
            !answer["stdout"].as_str().unwrap().contains("/shellgate-"),
            "without a limit in none: {answer}"
        );
    });
}

#[test]
fn groups_of_a_killed_keeper_are_removed_at_the_next_call() {
    for_each_user(|place| {
        limit(place, "memory_mb = 500\nprocesses = 100\ncpu_s = 60");
        let mark = mark();
        let command = json!({"command": format!("sleep {mark}; true"), "background": true});
        let answer = place.call(&command);
        let job = id(&answer).to_owned();
        let grouped = GROUPED.iter().any(|(key, _, _)| mechanism(place, key).starts_with("cgroup"));
        assert_eq!(!groups_called(&job).is_empty(), grouped, "a running job has a group");
        assert_eq!(notes(&place.state()).len(), 1);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", answer["host_pid"])).unwrap();
        let keeper: u64 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap();
        kill(keeper);
        wait_until("the keeper and the job have ended", || {
            !is_alive(keeper) && processes_with(&mark).is_empty()
        });
        assert_eq!(!groups_called(&job).is_empty(), grouped, "no keeper is left to remove it");
        let output = place.output(["doctor", "--json"]);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = found["checks"].as_array().unwrap();
        let leftovers = checks.iter().find(|check| check["name"] == "leftovers").unwrap();
        assert_eq!(leftovers["status"], "warning", "{leftovers}");
        place.output(["jobs"]);
        assert_no_trace(place, &job);
    });
}

/// Only with control groups: without them the inner command would run outside the watched tree, with its own limits.
#[test]
fn a_shellgate_inside_a_group_stays_in_it() {
    for_each_user(|place| {
        // A sandbox hides the state folder from a `shellgate` inside.
        let off = "\n[sandbox]\nmode = \"off\"";
        limit(place, &format!("memory_mb = 100{off}"));
        if !mechanism(place, "memory_mb").starts_with("cgroup") {
            return;
        }
        let binary = crate::support::shellgate();
        // A command inside can't be approved, so the inner command uses only builtins, which need no rule. It ends by itself
        // at some 500 MB.
        let inner = |doublings: u32| {
            let text = format!("x=a; for i in {{1..{doublings}}}; do x=$x$x; done");
            format!("{} run '{text}'", binary.display())
        };
        assert_untouched(&run(place, &inner(20)), "");
        let answer = run(place, &inner(28));
        assert_ended_by(&answer, "memory_mb", 100, "used more than 100 MB of memory");
        // The inner keeper was killed too, and left its socket behind.
        place.output(["jobs"]);
        assert_no_trace(place, id(&answer));
        limit(place, off);
        assert_untouched(&run(place, &inner(28)), "");
    });
}
