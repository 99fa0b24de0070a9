//! Tasks that wait for the answer to a question.

use serde_json::{Value, json};

use super::task_client::{Client, tasks, tasks_and_forms};
use crate::support::for_each_user;

fn yes() -> Value {
    json!({"action": "accept", "content": {"answer": "once"}})
}

/// Makes a task that waits: the client calls, gets the question, and calls again without an answer. Returns the task's id.
fn pending(client: &mut Client, command: &str) -> String {
    let arguments = json!({"command": command, "wait_ms": 50});
    let asked = client.call(&arguments);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let again = json!({"name": "shell", "arguments": arguments, "requestState": asked["requestState"]});
    let task = client.ask("tools/call", again)["result"].clone();
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("input_required")), "{task}");
    task["taskId"].as_str().unwrap().to_owned()
}

#[test]
fn a_question_is_answered_through_its_task() {
    for_each_user(|place| {
        let mut client = Client::strict(place, &[], tasks_and_forms());
        let id = pending(&mut client, "echo >> yes");
        // A response to a form that was never shown doesn't count.
        client.update(&id, &yes());
        let task = client.get(&id);
        let ask = &task["inputRequests"]["approval"];
        assert_eq!(
            (&task["status"], &ask["method"]),
            (&json!("input_required"), &json!("elicitation/create")),
            "{task}"
        );
        assert!(ask["params"]["message"].as_str().unwrap().contains("echo >> yes"), "{task}");
        assert_eq!(
            client.get(&id)["inputRequests"],
            task["inputRequests"],
            "the form stays the same while the question waits"
        );
        let other = json!({"taskId": id, "inputResponses": {"other": yes()}});
        assert_eq!(client.ask("tasks/update", other)["result"]["resultType"], "complete");
        assert!(!place.root().join("yes").exists());
        client.update(&id, &yes());
        let done = client.end(&id);
        let report = &done["result"]["structuredContent"];
        assert_eq!(
            (&done["status"], &report["status"]),
            (&json!("completed"), &json!("completed")),
            "{done}"
        );
        let by = report["verdict"]["approved_by"].as_str().unwrap();
        assert!(by.ends_with("in the agent's program"), "{by}");
        // Further answers change nothing.
        client.update(&id, &yes());
        assert_eq!(client.end(&id), done);
        assert_eq!(std::fs::read_to_string(place.root().join("yes")).unwrap(), "\n");

        let id = pending(&mut client, "touch no");
        client.get(&id);
        client.update(&id, &json!({"action": "decline"}));
        let done = client.end(&id);
        assert_eq!(
            (&done["status"], &done["result"]["isError"]),
            (&json!("completed"), &json!(true)),
            "{done}"
        );
        assert_eq!(done["result"]["structuredContent"]["error"]["code"], "denied_by_user", "{done}");
        client.update(&id, &yes());

        // After an invalid response the question waits in the queue.
        let id = pending(&mut client, "touch queued");
        client.get(&id);
        client.update(&id, &json!({"action": "maybe"}));
        let task = client.get(&id);
        let words = task["statusMessage"].as_str().unwrap();
        assert_eq!(task["status"], "working", "{task}");
        client.update(&id, &yes());
        assert!(!place.root().join("queued").exists());
        let number = words.split("approve ").nth(1).unwrap().split('`').next().unwrap();
        assert!(place.strictly(["approvals", "approve", number]).status().unwrap().success());
        assert_eq!(client.end(&id)["status"], "completed");
        assert!(place.root().join("queued").exists() && !place.root().join("no").exists());

        // A canceled question can't be answered any more.
        let id = pending(&mut client, "touch never");
        client.get(&id);
        client.cancel(&id);
        assert_eq!(client.get(&id)["status"], "cancelled");
        client.update(&id, &yes());
        assert_eq!(client.get(&id)["status"], "cancelled");
        assert!(!place.root().join("never").exists());
        client.talk.leave();
    });
}

#[test]
fn a_client_without_forms_is_told_where_to_answer() {
    for_each_user(|place| {
        let mut client = Client::strict(place, &[], tasks());
        let id = client.begin(&json!({"command": "touch late", "wait_ms": 50}));
        let task = client.get(&id);
        assert_eq!(task["status"], "working", "{task}");
        assert!(task["statusMessage"].as_str().unwrap().contains("shellgate approvals approve"), "{task}");
        // A later request of the same client may declare forms.
        client.can = tasks_and_forms();
        assert_eq!(client.get(&id)["status"], "input_required");
        // When a server is killed, its questions are withdrawn.
        client.talk.server.kill().unwrap();
        client.talk.server.wait().unwrap();
        let mut client = Client::strict(place, &[], tasks_and_forms());
        let task = client.get(&id);
        assert_eq!(task["status"], "cancelled", "{task}");
        assert!(task["statusMessage"].as_str().unwrap().contains("never started"), "{task}");
        client.update(&id, &yes());
        assert!(!place.root().join("late").exists());
        client.talk.leave();
    });
}
