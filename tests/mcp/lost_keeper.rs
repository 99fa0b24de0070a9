//! A keeper is killed while the server that started its jobs lives.

use serde_json::{Value, json};

use super::talk::Talk;
use super::task_client::Client;
use crate::support::{Place, for_each_user, is_alive, mark, processes_with, wait_until};

fn kill_keeper(place: &Place) {
    let keepers = place.keepers();
    assert_eq!(keepers.len(), 1);
    crate::support::kill(keepers[0]);
    wait_until("the keeper is gone", || !is_alive(keepers[0]));
}

/// Runs `shellgate WORDS`. Returns its output and exit code.
fn run(place: &Place, args: &[&str]) -> (String, Option<i32>) {
    let output = place.output(args);
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

fn tool(talk: &mut Talk, name: &str, job: &str) -> Value {
    let answer = talk.ask("tools/call", json!({"name": name, "arguments": {"job": job}}));
    answer["result"]["structuredContent"].clone()
}

#[test]
fn a_job_ends_with_its_keeper_although_its_server_lives() {
    for_each_user(|place| {
        // Each way of asking is the first to look at one of the jobs.
        for first in ["wait", "shell_wait", "shell_output", "shell_stop", "history"] {
            let mark = mark();
            let mut talk = Talk::new(place);
            let command = format!("echo printed; exec sleep {mark}");
            let job = talk.run(json!({"command": command, "background": true}));
            let id = job["job"].as_str().unwrap().to_owned();
            kill_keeper(place);
            match first {
                "wait" => {
                    let output = place.output(["wait", &id]);
                    let error = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert_eq!(output.status.code(), Some(125), "{error}");
                    assert!(error.contains("keeper"), "{error}");
                }
                "history" => {
                    let story = run(place, &["history", "show", &id]).0;
                    assert!(story.contains("the keeper was lost"), "{story}");
                }
                name => {
                    let answer = tool(&mut talk, name, &id);
                    assert_eq!(answer["status"], "failed", "{name}: {answer}");
                }
            }
            let answer = tool(&mut talk, "shell_wait", &id);
            assert_eq!(
                (&answer["reason"], &answer["status"], &answer["error"]["code"]),
                (&json!("ended"), &json!("failed"), &json!("keeper_lost")),
                "{answer}"
            );
            wait_until("no process of the job is left", || processes_with(&mark).is_empty());
            assert_eq!(run(place, &["logs", &id]).0, "printed\n");
            // The server goes on with another keeper.
            assert_eq!(talk.run(json!({"command": "echo again"}))["stdout"], "again\n");
            talk.leave();
        }
        assert_eq!(run(place, &["audit", "verify"]).1, Some(0));
    });
}

#[test]
fn a_task_ends_with_its_keeper() {
    for_each_user(|place| {
        let mut client = Client::new(place, &[]);
        let id = client.begin(&json!({"command": "echo out; sleep 1000", "wait_ms": 50}));
        kill_keeper(place);
        let done = client.get(&id);
        assert_eq!(done["status"], "completed", "{done}");
        let report = &done["result"]["structuredContent"];
        assert_eq!(report["error"]["code"], "keeper_lost", "{done}");
        client.cancel(&id);
        assert_eq!(client.get(&id), done, "it has ended");
        client.talk.leave();
    });
}

#[test]
fn a_wait_that_lasts_ends_with_the_keeper() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        let job = talk.run(json!({"command": "sleep 1000", "background": true}));
        let id = job["job"].as_str().unwrap().to_owned();
        let waiting =
            talk.send("tools/call", json!({"name": "shell_wait", "arguments": {"job": id, "port": 1}}));
        let waits = place.start(["wait", &id]);
        kill_keeper(place);
        let answer = talk.answer(waiting)["result"]["structuredContent"].clone();
        assert_eq!(
            (&answer["reason"], &answer["error"]["code"]),
            (&json!("ended"), &json!("keeper_lost")),
            "{answer}"
        );
        assert_eq!(waits.wait_with_output().unwrap().status.code(), Some(125));
        talk.leave();
    });
}

/// Between the record's entry and the keeper there is a moment in which no keeper holds the execution. Its caller lives.
#[test]
fn an_execution_that_no_keeper_has_taken_yet_is_not_lost() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    assert_eq!(talk.run(json!({"command": "true"}))["status"], "completed");
    let journal = shellgate::journal::Journal::open(&place.state()).unwrap();
    let asked = journal.history(&shellgate::journal::Query::default()).unwrap()[0].asked.clone().unwrap();
    let started = shellgate::journal::RecordedStart { caller: asked.asker.clone(), ..Default::default() };
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let step = shellgate::journal::Step::Started(started);
    journal.begin(id, &place.root().display().to_string(), asked, vec![step]).unwrap();
    drop(journal);
    let status = |place: &Place| {
        let list: Value = serde_json::from_str(&run(place, &["history", "--json"]).0).unwrap();
        list.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap()["status"].clone()
    };
    assert_eq!(status(&place), "running");
    assert_eq!(run(&place, &["wait", id, "--timeout", "50ms"]).1, Some(124), "it has not ended");
    // The keeper notes that it has answered the call. Then no caller records the end.
    std::fs::write(place.state().join(format!("ends/.job-{id}")), "").unwrap();
    assert_eq!(status(&place), "lost");
    assert!(!place.state().join(format!("ends/.job-{id}")).exists());
    talk.leave();
}
