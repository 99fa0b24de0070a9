//! Limits hold for jobs and for leftover processes.

use serde_json::{Value, json};

use super::{assert_ended_by, assert_no_trace, limit};
use crate::support::{for_each_user, mark, processes_with, wait_until};

#[test]
fn a_job_that_exceeds_a_limit_is_ended_and_names_it() {
    for_each_user(|place| {
        limit(place, "memory_mb = 100");
        let mark = mark();
        place.write("wait", "");
        let command = format!(
            "echo begun; (setsid sleep {mark} &); while [ -e wait ]; do sleep 0.02; done; \
             python3 -c 'x = b\"a\" * (900 << 20)'; sleep {mark}"
        );
        let answer = place.call(&json!({"command": command, "background": true}));
        let id = answer["id"].as_str().unwrap();
        assert_eq!((&answer["status"], &answer["error"]), (&json!("running"), &Value::Null), "{answer}");
        assert!(!processes_with(&mark).is_empty(), "as long as it keeps to it, it runs");
        std::fs::remove_file(place.root().join("wait")).unwrap();
        let output = place.output(["wait", id, "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_ended_by(&answer, "memory_mb", 100, "used more than 100 MB of memory");
        assert_eq!((&answer["stdout"], processes_with(&mark)), (&json!("begun\n"), vec![]));
        assert_no_trace(place, id);
        let story = place.output(["history", "show", id]);
        let story = String::from_utf8_lossy(&story.stdout).into_owned();
        assert!(story.contains("used more than 100 MB of memory and was stopped"), "{story}");
        // The record keeps the reason.
        let output = place.output(["wait", id, "--json"]);
        let again: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(again["error"], answer["error"]);
    });
}

#[test]
fn leftover_processes_stay_limited() {
    for_each_user(|place| {
        limit(place, "cpu_s = 1");
        let mark = mark();
        let left = format!("(setsid bash -c 'while :; do :; done; : {mark}' >/dev/null 2>&1 &)");
        let answer = place.call(&json!({"command": format!("{left}; echo left")}));
        assert_eq!(
            (&answer["status"], &answer["stdout"]),
            (&json!("completed"), &json!("left\n")),
            "{answer}"
        );
        assert_eq!(answer["background"].as_array().unwrap().len(), 1, "{answer}");
        wait_until("it is ended", || processes_with(&mark).is_empty());
        place.assert_nothing_is_left();
        assert_no_trace(place, answer["id"].as_str().unwrap());
    });
}
