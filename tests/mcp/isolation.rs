//! Two clients of one HTTP server: neither can reach, stop or learn of what belongs to the other.

use serde_json::{Value, json};

use super::site::{Site, add_key};
use super::task_client::tasks;
use crate::support::{Place, mark, processes_with, wait_until};

/// An id that no execution has.
const UNKNOWN: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// A server with two clients, where `touch` needs approval.
struct Clients {
    site: Site,
    ann: String,
    bob: String,
}

impl Clients {
    fn new(place: &Place) -> Self {
        let (ann, bob) = ("a".repeat(64), "b".repeat(64));
        add_key(place, "ann", &ann);
        add_key(place, "bob", &bob);
        let rules = "[[policy.rule]]\nprefix = [\"touch\"]\ndecision = \"ask\"\n";
        let config = place.write("rules.toml", rules);
        let flags = ["--default", "allow", "--approve", "ask", "--config", config.to_str().unwrap()];
        Self { site: Site::new(place, &flags), ann, bob }
    }

    fn ask(&self, key: &str, method: &str, params: Value) -> Value {
        self.site.newer_that_can(&tasks(), key, method, params).message()
    }

    fn call(&self, key: &str, tool: &str, arguments: &Value) -> Value {
        self.ask(key, "tools/call", json!({"name": tool, "arguments": arguments}))
    }

    fn start(&self, key: &str, arguments: &Value) -> String {
        let answer = self.call(key, "shell", arguments);
        let report = &answer["result"]["structuredContent"];
        let id = report["job"].as_str().or(report["id"].as_str()).or(answer["result"]["taskId"].as_str());
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Every way to reach an execution by its id, with the answer.
    fn reach(&self, key: &str, id: &str) -> Vec<(String, Value)> {
        let mut answers = Vec::new();
        for name in ["job", "id", "job_id"] {
            for (tool, more) in [
                ("shell_output", json!({})),
                ("shell_wait", json!({"timeout_ms": 1})),
                ("shell_input", json!({"text": "x", "wait_ms": 1})),
            ] {
                let mut arguments = more;
                arguments[name] = json!(id);
                answers.push((format!("{tool} {name}"), self.call(key, tool, &arguments)["result"].clone()));
            }
        }
        for uri in ["jobs/{}/stdout", "jobs/{}/stderr", "history/{}"] {
            let uri = format!("shellgate://{}", uri.replace("{}", id));
            let read = self.ask(key, "resources/read", json!({"uri": uri, "name": uri}));
            answers.push((uri.replace(id, "ID"), read));
        }
        for method in ["tasks/get", "tasks/update"] {
            let params = json!({"taskId": id, "inputResponses": {"approval": {"action": "decline"}}});
            answers.push((method.to_owned(), self.ask(key, method, params)));
        }
        answers
    }

    /// The ways to stop it.
    fn stop(&self, key: &str, id: &str) -> Vec<(String, Value)> {
        vec![
            ("shell_stop".to_owned(), self.call(key, "shell_stop", &json!({"job": id}))["result"].clone()),
            ("tasks/cancel".to_owned(), self.ask(key, "tasks/cancel", json!({"taskId": id}))),
        ]
    }

    fn lists(&self, key: &str) -> String {
        let jobs = self.call(key, "shell_jobs", &json!({}));
        let resources = self.ask(key, "resources/list", json!({}));
        format!("{jobs}{resources}")
    }
}

/// The answers without the id, to compare them with the answers about another id.
fn without(id: &str, answers: Vec<(String, Value)>) -> Vec<(String, String)> {
    answers.into_iter().map(|(way, answer)| (way, answer.to_string().replace(id, "ID"))).collect()
}

#[test]
fn a_client_can_not_reach_stop_or_learn_of_another_s_jobs() {
    let place = Place::new(None);
    let clients = Clients::new(&place);
    let (ann, bob) = (clients.ann.as_str(), clients.bob.as_str());
    let mark = mark();
    let running = clients
        .start(ann, &json!({"command": format!("echo secret; exec sleep {mark}"), "background": true}));
    let ended = clients.start(ann, &json!({"command": "echo secret"}));
    let asked = clients.start(ann, &json!({"command": "touch secret", "wait_ms": 1}));
    wait_until("it runs", || !processes_with(&mark).is_empty());

    for id in [&running, &ended, &asked] {
        let lower = id.to_ascii_lowercase();
        for spelling in [id.as_str(), &lower, &id[..25], &id[..10], &id[..2]] {
            let unknown = &UNKNOWN[..spelling.len()];
            let unknown = if spelling == lower { unknown.to_ascii_lowercase() } else { unknown.to_owned() };
            let about_unknown = without(&unknown, clients.reach(bob, &unknown));
            assert_eq!(without(spelling, clients.reach(bob, spelling)), about_unknown, "{spelling}");
            let about_unknown = without(&unknown, clients.stop(bob, &unknown));
            assert_eq!(without(spelling, clients.stop(bob, spelling)), about_unknown, "{spelling}");
        }
    }
    let seen = clients.lists(bob);
    for word in [running.as_str(), &ended, &asked, "secret", "http-ann"] {
        assert!(!seen.contains(word), "{word}: {seen}");
    }
    // It can't act in a session of the other client either.
    for session in ["http-ann", "http-ann/x", "../http-ann", "/http-ann"] {
        let answer = clients.call(bob, "shell", &json!({"command": "true", "session": session}));
        let code = &answer["result"]["structuredContent"]["error"]["code"];
        assert_eq!(code, "invalid_input", "{session}: {answer}");
    }

    // The executions are unchanged, and their owner reaches them in each of these ways.
    assert!(!processes_with(&mark).is_empty());
    let seen = clients.lists(ann);
    for id in [&running, &ended, &asked] {
        assert!(seen.contains(id.as_str()) || id == &ended, "{id}: {seen}");
    }
    for (way, answer) in clients.reach(ann, &running) {
        // The execution has no terminal, which is another error than an unknown job.
        let error = answer["structuredContent"]["error"]["code"].as_str();
        assert!(
            error.is_none_or(|code| way.starts_with("shell_input") && code != "unknown_job"),
            "{way}: {answer}"
        );
        assert!(answer.get("error").is_none(), "{way}: {answer}");
    }
    let output = clients.call(ann, "shell_output", &json!({"job": &ended[..25]}));
    assert_eq!(output["result"]["structuredContent"]["stdout"], "secret\n", "{output}");
    let waits = clients.call(ann, "shell_wait", &json!({"job": asked, "timeout_ms": 1}));
    assert_eq!(waits["result"]["structuredContent"]["status"], "queued", "{waits}");
    for (way, answer) in clients.stop(ann, &running).into_iter().chain(clients.stop(ann, &asked)) {
        assert!(answer.get("error").is_none(), "{way}: {answer}");
    }
    assert!(processes_with(&mark).is_empty());
    assert!(!place.root().join("secret").exists());
}

#[test]
fn another_s_jobs_are_not_in_the_way() {
    let place = Place::new(None);
    let clients = Clients::new(&place);
    let theirs = clients.start(&clients.ann, &json!({"command": "echo theirs"}));
    let own = clients.start(&clients.bob, &json!({"command": "echo own"}));
    // Ids begin with the time, so both begin alike.
    let alike = own.bytes().zip(theirs.bytes()).take_while(|(one, other)| one == other).count();
    assert!(alike > 2, "{own} {theirs}");
    let found = clients.call(&clients.bob, "shell_output", &json!({"job": &own[..alike]}));
    assert_eq!(found["result"]["structuredContent"]["stdout"], "own\n", "{found}");
    // A beginning that two of its own jobs share is ambiguous.
    let other = clients.start(&clients.bob, &json!({"command": "echo other"}));
    let alike = own.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let found = clients.call(&clients.bob, "shell_output", &json!({"job": &own[..alike]}));
    assert_eq!(found["result"]["structuredContent"]["error"]["code"], "invalid_input", "{found}");
}
