//! Questions that are answered in the agent's program or from the queue, in time or late.

use serde_json::{Value, json};

use super::talk::{NEWER, Talk};
use crate::support::{Place, for_each_user, wait_until};

pub(crate) fn pending(place: &Place) -> Vec<String> {
    let output = place.strictly(["approvals", "list", "--json"]).output().unwrap();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    list.as_array().unwrap().iter().map(|one| one["id"].to_string()).collect()
}

pub(crate) fn strict(place: &Place, flags: &[&str], capabilities: &Value) -> Talk {
    Talk::begin(place.strictly(["mcp"].iter().chain(flags)), capabilities)
}

pub(crate) fn form() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// Answers the form that is open.
pub(crate) fn answer_form(talk: &mut Talk, result: &Value) -> Value {
    let form = talk.hear(|message| message["method"] == "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": form["id"], "result": result});
    talk.line(answer.to_string().as_bytes());
    form["params"].clone()
}

#[test]
fn a_form_is_answered_yes_and_no() {
    for_each_user(|place| {
        let mut talk = strict(place, &[], &form());
        let id = talk.call(json!({"command": "touch yes", "description": "evil\u{202e}\u{1b}[31m"}));
        let shown = answer_form(&mut talk, &json!({"action": "accept", "content": {"answer": "once"}}));
        let message = shown["message"].as_str().unwrap();
        assert!(message.contains("touch yes") && message.contains("no rule covers `touch`"), "{message}");
        assert!(!message.chars().any(|c| matches!(c, '\u{202e}' | '\u{1b}')), "{message}");
        assert_eq!(
            shown["requestedSchema"]["properties"]["answer"]["enum"][0], "no",
            "Enter alone is no yes"
        );
        let report = talk.answer(id)["result"]["structuredContent"].clone();
        assert_eq!(report["status"], "completed", "{report}");
        let by = report["verdict"]["approved_by"].as_str().unwrap();
        assert!(by.ends_with("in the agent's program"), "{by}");
        assert!(place.root().join("yes").exists());

        for (result, said) in [
            (json!({"action": "decline"}), "the user said no"),
            (json!({"action": "cancel"}), "closed without an answer"),
            (json!({"action": "accept", "content": {"answer": "no", "reason": "use make"}}), "use make"),
        ] {
            let id = talk.call(json!({"command": "touch no"}));
            answer_form(&mut talk, &result);
            let result = talk.answer(id)["result"].clone();
            assert_eq!(
                (&result["isError"], &result["structuredContent"]["error"]["code"]),
                (&json!(true), &json!("denied_by_user"))
            );
            assert!(
                result["structuredContent"]["error"]["message"].as_str().unwrap().contains(said),
                "{result}"
            );
        }
        assert!(!place.root().join("no").exists());
        talk.leave();
    });
}

#[test]
fn a_yes_for_the_session_is_remembered() {
    let place = Place::new(None);
    let mut talk = strict(&place, &[], &form());
    let id = talk.call(json!({"command": "echo again"}));
    answer_form(&mut talk, &json!({"action": "accept", "content": {"answer": "session"}}));
    talk.answer(id);
    assert_eq!(talk.run(json!({"command": "echo again"}))["stdout"], "again\n", "it runs without asking");
}

#[test]
fn the_question_of_a_client_that_can_t_ask_waits_in_the_queue() {
    for_each_user(|place| {
        // The client declares forms, but fails to show one.
        for answer in [
            json!({"error": {"code": -32601, "message": "no"}}),
            json!({"result": {"action": "maybe"}}),
            json!({"result": 5}),
        ] {
            let mut talk = strict(place, &[], &form());
            let id = talk.call(json!({"command": "echo queued"}));
            let form = talk.hear(|message| message["method"] == "elicitation/create");
            let mut message = json!({"jsonrpc": "2.0", "id": form["id"]});
            message.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
            talk.line(message.to_string().as_bytes());
            wait_until("the question waits in the queue", || pending(place).len() == 1);
            assert!(place.strictly(["approvals", "approve", &pending(place)[0]]).status().unwrap().success());
            assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "queued\n");
            talk.leave();
        }
        // The client declares no forms, so none is sent.
        let mut talk = strict(place, &[], &json!({}));
        let id = talk.call(json!({"command": "echo queued"}));
        wait_until("the question waits in the queue", || pending(place).len() == 1);
        assert!(place.strictly(["approvals", "deny", &pending(place)[0]]).status().unwrap().success());
        assert_eq!(talk.answer(id)["result"]["structuredContent"]["error"]["code"], "denied_by_user");
        assert!(talk.heard.is_empty(), "{:?}", talk.heard);
        talk.leave();
    });
}

/// A denied command has no output, so `shell_output` and `logs` give the reason.
#[test]
fn the_output_of_a_denied_command_is_the_reason() {
    let place = Place::new(None);
    let mut talk = strict(&place, &[], &json!({}));
    let report = talk.run(json!({"command": "touch never", "wait_ms": 100}));
    let (job, number) = (report["job"].clone(), report["approval"]["id"].to_string());
    let output = |talk: &mut Talk| {
        let call = json!({"name": "shell_output", "arguments": {"job": job}});
        talk.ask("tools/call", call)["result"]["structuredContent"]["error"].clone()
    };
    let logs = || place.output(["logs", job.as_str().unwrap()]);
    let waits = logs();
    assert_eq!(waits.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&waits.stderr).contains("has not started"), "{waits:?}");
    assert!(
        place.strictly(["approvals", "deny", &number, "--reason", "not today"]).status().unwrap().success()
    );
    let call = json!({"name": "shell_wait", "arguments": {"job": job}});
    let waited = talk.ask("tools/call", call)["result"]["structuredContent"]["error"].clone();
    assert_eq!(waited["code"], "denied_by_user", "{waited}");
    let denied = output(&mut talk);
    assert_eq!(denied["code"], "denied_by_user", "{denied}");
    let message = denied["message"].as_str().unwrap();
    assert!(message.contains("never ran: ") && message.contains("not today"), "{message}");
    let denied = logs();
    assert_eq!(denied.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&denied.stderr).starts_with("denied_by_user: "), "{denied:?}");
    assert!(!place.root().join("never").exists());
    talk.leave();
}

#[test]
fn a_question_outlives_its_call() {
    for_each_user(|place| {
        let mut talk = strict(place, &[], &json!({}));
        let id = talk.call(json!({"command": "touch late", "wait_ms": 100}));
        let result = talk.answer(id)["result"].clone();
        let report = &result["structuredContent"];
        assert_eq!((&report["status"], &result["isError"]), (&json!("queued"), &json!(false)), "{report}");
        assert!(report["job"].is_string() && report["approval"]["id"].is_u64(), "{report}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("shellgate approvals"), "{text}");
        assert!(!place.root().join("late").exists());
        let number = report["approval"]["id"].to_string();
        assert!(place.strictly(["approvals", "approve", &number]).status().unwrap().success());
        wait_until("it runs after all", || place.root().join("late").exists());
        talk.leave();
    });
}

#[test]
fn a_canceled_call_takes_its_question_back() {
    let place = Place::new(None);
    let mut talk = strict(&place, &[], &form());
    let id = talk.call(json!({"command": "touch never"}));
    let form = talk.hear(|message| message["method"] == "elicitation/create");
    talk.tell("notifications/cancelled", json!({"requestId": id}));
    let taken_back = talk.hear(|message| message["method"] == "notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], form["id"]);
    wait_until("nothing waits", || pending(&place).is_empty());
    // The answer comes too late.
    let answer = json!({"jsonrpc": "2.0", "id": form["id"], "result": {"action": "accept", "content": {"answer": "once"}}});
    talk.line(answer.to_string().as_bytes());
    let id = talk.call(json!({"command": "echo next"}));
    answer_form(&mut talk, &json!({"action": "accept", "content": {"answer": "once"}}));
    assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "next\n");
    assert!(!place.root().join("never").exists());
}

#[test]
fn without_a_way_to_ask_the_command_is_refused() {
    let place = Place::new(None);
    let mut talk = strict(&place, &["--ask", "terminal"], &form());
    let report = talk.run(json!({"command": "touch never"}));
    assert_eq!(report["error"]["code"], "approval_unavailable");
    assert!(!place.root().join("never").exists());
}

fn newer(place: &Place) -> (Talk, Value) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    (Talk::with(place.strictly(["mcp"])), meta)
}

#[test]
fn the_newer_generation_asks_between_two_calls() {
    for_each_user(|place| {
        let (mut talk, meta) = newer(place);
        let call = |command: &str, more: Value| {
            let mut call = json!({"name": "shell", "arguments": {"command": command}, "_meta": meta});
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            call
        };
        let yes = json!({"approval": {"action": "accept", "content": {"answer": "once"}}});
        let asked = talk.ask("tools/call", call("touch turn", json!({})))["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let ask = &asked["inputRequests"]["approval"];
        assert_eq!(ask["method"], "elicitation/create");
        assert!(ask["params"]["message"].as_str().unwrap().contains("touch turn"));
        assert!(!place.root().join("turn").exists());
        let state = asked["requestState"].clone();

        // A `requestState` is refused in another call, and is then used up.
        let other = talk
            .ask("tools/call", call("touch other", json!({"inputResponses": yes, "requestState": state})));
        assert_eq!(other["error"]["code"], -32602, "{other}");
        let used =
            talk.ask("tools/call", call("touch turn", json!({"inputResponses": yes, "requestState": state})));
        assert_eq!(used["error"]["code"], -32602, "{used}");
        assert!(!place.root().join("turn").exists() && !place.root().join("other").exists());

        let asked = talk.ask("tools/call", call("touch turn", json!({})))["result"].clone();
        let again = call("touch turn", json!({"inputResponses": yes, "requestState": asked["requestState"]}));
        let done = talk.ask("tools/call", again.clone())["result"].clone();
        assert_eq!(done["structuredContent"]["status"], "completed", "{done}");
        assert!(place.root().join("turn").exists());
        assert_eq!(talk.ask("tools/call", again)["error"]["code"], -32602, "once");

        // The answer after the approval has the handle of the new session.
        let new = json!({"arguments": {"command": "true", "session": "new"}});
        let asked = talk.ask("tools/call", call("", new.clone()))["result"].clone();
        let mut again = call("", json!({"inputResponses": yes, "requestState": asked["requestState"]}));
        again["arguments"] = new["arguments"].clone();
        let done = talk.ask("tools/call", again)["result"].clone();
        assert!(done["structuredContent"]["session"].is_string(), "{done}");

        // A person approves at a terminal before the client calls again: then the second call gets the command's result.
        let asked = talk.ask("tools/call", call("touch queue", json!({})))["result"].clone();
        assert!(place.output(["approvals", "approve", pending(place).last().unwrap()]).status.success());
        crate::support::wait_until("it has run", || place.root().join("queue").exists());
        let again = call("touch queue", json!({"inputResponses": {}, "requestState": asked["requestState"]}));
        let done = talk.ask("tools/call", again)["result"].clone();
        assert_eq!(done["structuredContent"]["status"], "completed", "{done}");

        let asked = talk.ask("tools/call", call("touch no", json!({})))["result"].clone();
        let no = json!({"inputResponses": {"approval": {"action": "decline"}}, "requestState": asked["requestState"]});
        let denied = talk.ask("tools/call", call("touch no", no))["result"].clone();
        assert_eq!(denied["structuredContent"]["error"]["code"], "denied_by_user");
        assert!(!place.root().join("no").exists());
        talk.leave();
    });
}

#[test]
fn what_is_typed_at_a_shell_is_asked_about_too() {
    for_each_user(|place| {
        let mut talk = strict(place, &[], &form());
        let yes = json!({"action": "accept", "content": {"answer": "once"}});
        let id = talk.call(json!({"command": "bash --norc --noprofile -i", "pty": true, "background": true}));
        answer_form(&mut talk, &yes);
        let job = talk.answer(id)["result"]["structuredContent"]["job"].clone();
        for (answer, name, code) in [
            (&yes, "typed", Value::Null),
            (&json!({"action": "decline"}), "untyped", json!("denied_by_user")),
        ] {
            let input =
                json!({"name": "shell_input", "arguments": {"job": job, "text": format!("touch {name}")}});
            let id = talk.send("tools/call", input);
            let shown = answer_form(&mut talk, answer);
            assert!(shown["message"].as_str().unwrap().contains(&format!("touch {name}")), "{shown}");
            let result = talk.answer(id)["result"].clone();
            assert_eq!(result["structuredContent"]["error"]["code"], code, "{result}");
        }
        wait_until("it is typed", || place.root().join("typed").exists());
        assert!(!place.root().join("untyped").exists());
        talk.ask("tools/call", json!({"name": "shell_stop", "arguments": {"job": job}}));
        talk.leave();
    });
}
