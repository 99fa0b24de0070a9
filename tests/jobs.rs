//! Jobs: starting, listing, reading, waiting for and stopping them from any process.

mod chaos;
mod descriptors;
mod full_disk;
mod logs;
mod lost;
mod tools;
mod waits;

use serde_json::{Value, json};

use crate::support::{Place, for_each_user, is_alive, mark, processes_with, wait_until};

/// Starts a job. Returns its id.
fn start(place: &Place, command: &str) -> String {
    start_with(place, &json!({"command": command, "background": true}))
}

fn start_with(place: &Place, arguments: &Value) -> String {
    let answer = place.call(arguments);
    assert_eq!(answer["error"], Value::Null, "{answer}");
    answer["id"].as_str().unwrap().to_owned()
}

/// Runs `shellgate WORDS`. Returns its output and exit code.
fn run(place: &Place, args: &[&str]) -> (String, Option<i32>) {
    let output = place.output(args);
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

fn json_of(place: &Place, args: &[&str]) -> Value {
    let (text, _) = run(place, args);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
}

/// The entry of a job in the list.
fn listed(place: &Place, id: &str) -> Option<Value> {
    let list = json_of(place, &["jobs", "--json"]);
    list["jobs"].as_array().unwrap().iter().find(|job| job["id"] == id).cloned()
}

#[test]
fn a_job_is_listed_read_waited_for_and_its_end_is_kept() {
    for_each_user(|place| {
        place.write("go", "");
        let id = start(place, "echo begun; while [ -e go ]; do sleep 0.02; done; echo oops >&2; exit 7");
        let job = listed(place, &id).unwrap();
        assert_eq!((&job["status"], &job["kind"]), (&json!("running"), &json!("job")), "{job}");
        assert!(
            job["host_pid"].as_u64().is_some_and(is_alive) && job["memory_bytes"].as_u64() > Some(100_000),
            "{job}"
        );
        wait_until("it says so", || run(place, &["logs", &id]).0 == "begun\n");
        assert_eq!(listed(place, &id).unwrap()["last_line"], "begun");
        let waiting = place.start(["wait", &id]);
        std::fs::remove_file(place.root().join("go")).unwrap();
        assert_eq!(waiting.wait_with_output().unwrap().status.code(), Some(7), "as `run` would");
        let job = listed(place, &id).unwrap();
        assert_eq!(
            (&job["status"], &job["exit_code"], &job["last_line"]),
            (&json!("failed"), &json!(7), &json!("oops"))
        );
        assert_eq!(run(place, &["wait", &id]).1, Some(7), "and again, long after");
        let (table, _) = run(place, &["jobs"]);
        assert!(table.contains(&id) && table.contains("failed 7"), "{table}");
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_slow_call_becomes_a_job_and_keeps_its_clock() {
    for_each_user(|place| {
        let mark = mark();
        let answer = place.call(
            &json!({"command": format!("echo slow; exec sleep {mark}"), "wait_ms": 100, "timeout_ms": 1500}),
        );
        assert_eq!((&answer["status"], &answer["job"]), (&json!("running"), &answer["id"]), "{answer}");
        assert_eq!(answer["stdout"], "slow\n");
        let id = answer["job"].as_str().unwrap();
        assert_eq!(run(place, &["wait", id]).1, Some(124), "the job's own timeout has ended it");
        assert!(processes_with(&mark).is_empty());
        let answer = place.call(&json!({"command": "echo quick", "wait_ms": 60_000}));
        assert_eq!((&answer["status"], &answer["job"]), (&json!("completed"), &Value::Null));
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_foreground_command_is_sent_to_the_background_and_outlives_its_terminal() {
    for_each_user(|place| {
        let mark = mark();
        place.write("go", "");
        let mut front =
            place.start(["run", &format!("echo {mark}; while [ -e go ]; do sleep 0.02; done; echo end")]);
        let find = || {
            let list = json_of(place, &["jobs", "--json"]);
            let job = list["jobs"]
                .as_array()
                .unwrap()
                .iter()
                .find(|job| job["last_line"] == mark.as_str())
                .cloned();
            job.map(|job| (job["id"].as_str().unwrap().to_owned(), job["kind"].clone()))
        };
        wait_until("it prints", || find().is_some());
        let (id, kind) = find().unwrap();
        assert_eq!(kind, "foreground");
        assert_eq!(run(place, &["background", &id]).1, Some(0));
        assert_eq!(front.wait().unwrap().code(), Some(0), "the waiting caller gets an answer");
        assert_eq!(listed(place, &id).unwrap()["kind"], "job");
        std::fs::remove_file(place.root().join("go")).unwrap();
        assert_eq!(run(place, &["wait", &id]).1, Some(0));
        assert_eq!(run(place, &["logs", &id]).0, format!("{mark}\nend\n"));
        place.assert_nothing_is_left();
    });
}

#[test]
fn leftover_processes_are_a_job_too() {
    for_each_user(|place| {
        let mark = mark();
        let answer = place
            .call(&json!({"command": format!("(while sleep 0.05; do echo still {mark}; done) & echo done")}));
        assert_eq!((&answer["status"], &answer["job"]), (&json!("completed"), &answer["id"]));
        let id = answer["job"].as_str().unwrap();
        assert_eq!(listed(place, id).unwrap()["kind"], "leftover");
        wait_until("it goes on printing", || run(place, &["logs", id]).0.matches("still").count() > 2);
        assert_eq!(run(place, &["stop", id]).1, Some(0));
        assert!(processes_with(&mark).is_empty(), "all are gone when it returns");
        assert_eq!(run(place, &["wait", id]).1, Some(0), "its command had ended well");
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_daemon_is_followed_and_stopped() {
    for_each_user(|place| {
        let mark = mark();
        let daemon = format!("setsid -f bash -c 'exec >/dev/null 2>&1; sleep {mark}; true'");
        let answer = place.call(&json!({"command": daemon, "background": true}));
        assert_eq!(answer["status"], "running", "the tree is the job: {answer}");
        let id = answer["job"].as_str().unwrap();
        assert!(listed(place, id).unwrap()["processes"].as_u64() >= Some(1));
        assert_eq!(run(place, &["stop", id]).1, Some(0));
        assert!(processes_with(&mark).is_empty());
        assert_eq!(run(place, &["wait", id]).1, Some(130));
        place.assert_nothing_is_left();
    });
}

#[test]
fn an_early_failure_is_told_as_one() {
    for_each_user(|place| {
        let answer = place.call(&json!({"command": "echo why >&2; exit 9", "background": true}));
        assert_eq!(
            (&answer["status"], &answer["exit_code"], &answer["stderr"]),
            (&json!("failed"), &json!(9), &json!("why\n"))
        );
        assert_eq!(answer["job"], Value::Null);
    });
}

#[test]
fn a_session_has_only_so_many_jobs() {
    for_each_user(|place| {
        let mark = mark();
        let config = place.write("limits.toml", "[limits]\njobs_per_session = 2\n");
        let config = config.to_str().unwrap();
        let call = |arguments: Value| place.call_with(&["--config", config], &arguments);
        let job = json!({"command": format!("exec sleep {mark}"), "background": true});
        assert_eq!(call(job.clone())["status"], "running");
        assert_eq!(call(job.clone())["status"], "running");
        let refused = call(job);
        assert_eq!((&refused["error"]["code"], &refused["pid"]), (&json!("busy"), &Value::Null), "{refused}");
        assert_eq!(processes_with(&mark).len(), 2);
        assert_eq!(
            call(json!({"command": "echo fine"}))["stdout"],
            "fine\n",
            "a foreground command isn't one"
        );
        assert_eq!(run(place, &["stop", "--all"]).1, Some(0));
        place.assert_nothing_is_left();
    });
}

/// Starts that are not answered yet count too, so concurrent calls can't exceed the limit.
#[test]
fn a_session_has_only_so_many_jobs_at_once_too() {
    for_each_user(|place| {
        let mark = mark();
        let config = place.write("limits.toml", "[limits]\njobs_per_session = 4\n");
        let flags = ["call", "--config", config.to_str().unwrap()];
        let job = json!({"command": format!("exec sleep {mark}"), "background": true}).to_string();
        let starters: Vec<_> =
            (0..12).map(|_| place.start(flags.iter().copied().chain([job.as_str()]))).collect();
        let answers: Vec<Value> = starters
            .into_iter()
            .map(|starter| serde_json::from_slice(&starter.wait_with_output().unwrap().stdout).unwrap())
            .collect();
        let (running, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer["status"] == "running");
        assert_eq!((running.len(), refused.len()), (4, 8), "{answers:?}");
        for answer in refused {
            assert_eq!(
                (&answer["error"]["code"], &answer["error"]["rule"], &answer["pid"]),
                (&json!("busy"), &json!("limits.jobs_per_session = 4"), &Value::Null)
            );
        }
        assert_eq!(processes_with(&mark).len(), 4);
        // A foreground command that becomes a job when its caller stops waiting is not refused.
        let patient = json!({"command": format!("exec sleep {mark}"), "wait_ms": 50}).to_string();
        let starters: Vec<_> =
            (0..2).map(|_| place.start(flags.iter().copied().chain([patient.as_str()]))).collect();
        for starter in starters {
            let answer: Value = serde_json::from_slice(&starter.wait_with_output().unwrap().stdout).unwrap();
            assert_eq!(answer["status"], "running", "{answer}");
        }
        assert_eq!(run(place, &["stop", "--all"]).1, Some(0));
        place.assert_nothing_is_left();
    });
}

#[test]
fn an_unknown_job_is_exit_code_4() {
    let place = Place::new(None);
    for command in ["logs", "wait", "background", "stop"] {
        let output = place.output([command, "01K9"]);
        assert_eq!(output.status.code(), Some(4), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("unknown_job: "), "{command}");
    }
}

#[test]
fn a_timeout_on_the_command_line_counts_for_jobs_too() {
    for_each_user(|place| {
        let mark = mark();
        let command = format!("exec sleep {mark}");
        let (started, _) = run(place, &["run", "--background", "--json", "--timeout", "500ms", &command]);
        let started: Value = serde_json::from_str(&started).unwrap();
        assert_eq!(run(place, &["wait", started["job"].as_str().unwrap()]).1, Some(124), "{started}");
        assert!(processes_with(&mark).is_empty());
    });
}

#[test]
fn all_that_ended_lately_are_listed() {
    let place = Place::new(None);
    let ids: Vec<String> = (0..40).map(|_| start(&place, "sleep 0.4")).collect();
    ids.iter().for_each(|id| drop(run(&place, &["wait", id])));
    let list = json_of(&place, &["jobs", "--json"])["jobs"].clone();
    assert_eq!(list.as_array().unwrap().len(), ids.len());
}

#[test]
fn run_names_the_job_of_leftover_processes() {
    let place = Place::new(None);
    let mark = mark();
    let output = place.output(["run", &format!("sleep {mark} & echo left")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let job = said.split("shellgate stop ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    assert_eq!(run(&place, &["stop", job]).1, Some(0), "{said}");
    assert!(processes_with(&mark).is_empty());
}
