//! Calls behind the first, which the transport reads itself: nothing differs but the time that they take.

use regex::Regex;
use serde_json::{Value, json};

use super::talk::Talk;
use crate::support::{Place, for_each_user, mark, processes_with, wait_until};

/// The answer to a call, without its id and that of its execution.
fn answer(talk: &mut Talk, params: &Value) -> String {
    let mut answer = talk.ask("tools/call", params.clone());
    answer.as_object_mut().unwrap().remove("id");
    let id = Regex::new(r"\b[0-9A-HJKMNP-TV-Z]{26}\b").unwrap();
    id.replace_all(&answer.to_string(), "ID").into_owned()
}

#[test]
fn later_calls_are_answered_as_the_first() {
    let shell = |arguments: Value| json!({"name": "shell", "arguments": arguments});
    for params in [
        shell(json!({"command": "echo hi; echo no >&2; exit 3", "detail": "minimal"})),
        shell(json!({"commands": "echo hi"})),
        shell(json!("echo hi")),
        json!({"name": "shell_jobs", "arguments": {}}),
        json!({"name": "nothing", "arguments": {}}),
        json!({"name": "shell"}),
        json!({"arguments": {}}),
    ] {
        let place = Place::new(None);
        let mut talk = Talk::new(&place);
        let first = answer(&mut talk, &params);
        // Whatever the first was, now the server knows its client.
        talk.run(json!({"command": "true"}));
        assert_eq!(answer(&mut talk, &params), first, "{params}");
        talk.leave();
    }
}

#[test]
fn a_later_call_is_canceled_with_its_whole_tree() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        talk.run(json!({"command": "true"}));
        let (one, other) = (mark(), mark());
        let id = talk.call(json!({"command": format!("setsid sleep {one} & sleep {other}")}));
        wait_until("both run", || !processes_with(&one).is_empty() && !processes_with(&other).is_empty());
        talk.tell("notifications/cancelled", json!({"requestId": id}));
        wait_until("both are gone", || processes_with(&one).is_empty() && processes_with(&other).is_empty());
        assert_eq!(talk.run(json!({"command": "echo next"}))["stdout"], "next\n");
        assert!(!talk.heard.iter().any(|message| message["id"] == id));
        talk.leave();
    });
}

#[test]
fn the_id_of_a_later_call_under_way_can_not_be_used() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    talk.run(json!({"command": "true"}));
    let long = mark();
    let id = talk.call(json!({"command": format!("exec sleep {long}")}));
    wait_until("it runs", || !processes_with(&long).is_empty());
    for arguments in [json!({"command": "touch made"}), json!({"command": "touch made", "pty": true})] {
        let again = json!({"name": "shell", "arguments": arguments});
        talk.line(
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": again})
                .to_string()
                .as_bytes(),
        );
        let answer = talk.answer(id);
        assert!(answer["error"]["message"].as_str().unwrap().contains("is under way"), "{answer}");
    }
    assert!(!place.root().join("made").exists());
    talk.leave();
}

#[test]
fn later_calls_with_progress_get_it() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    talk.run(json!({"command": "true"}));
    let params = json!({
        "name": "shell", "arguments": {"command": "echo begun; sleep 1"}, "_meta": {"progressToken": "token"},
    });
    let id = talk.send("tools/call", params);
    let progress = talk.hear(|message| message["method"] == "notifications/progress");
    assert_eq!(progress["params"]["progressToken"], "token", "{progress}");
    assert!(talk.answer(id)["result"]["isError"] == false);
    talk.leave();
}

#[test]
fn a_client_that_begins_anew_is_asked_by_what_it_says_then() {
    let place = Place::new(None);
    let mut talk = Talk::begin(place.strictly(["mcp"]), &json!({}));
    let asked = json!({"command": "touch made"});
    talk.run(json!({"command": "true"}));
    let hello = json!({
        "protocolVersion": super::talk::OLDER, "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "0"},
    });
    talk.ask("initialize", hello);
    let id = talk.call(asked);
    let form = talk.hear(|message| message["method"] == "elicitation/create");
    let no = json!({"jsonrpc": "2.0", "id": form["id"], "result": {"action": "decline"}});
    talk.line(no.to_string().as_bytes());
    let answer = talk.answer(id);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    talk.leave();
}
