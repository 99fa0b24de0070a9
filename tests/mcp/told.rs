//! What clients are told: text and structured content agree, progress, and error messages.

use serde_json::{Value, json};

use super::talk::Talk;
use crate::support::{Place, mark, processes_with};

/// Every dialect, with a call that leaves a process running.
fn leaving(mark: &str) -> Vec<(&'static str, &'static str, Value)> {
    let command = format!("sleep {mark} & echo said");
    let script = format!("sleep {mark} &\n");
    vec![
        ("shellgate", "shell", json!({"command": command, "format": "markdown"})),
        ("shellgate", "shell", json!({"command": command})),
        ("asimi", "run_shell_command", json!({"command": command})),
        ("gemini", "run_shell_command", json!({"command": command})),
        ("qwen", "run_shell_command", json!({"command": command, "is_background": false})),
        (
            "agent-world",
            "shell_cmd",
            json!({"command": "./left", "output_format": "json", "script": script, "output_detail": "full"}),
        ),
    ]
}

#[test]
fn the_text_names_the_job_of_leftover_processes() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new(None);
    let mark = mark();
    for (dialect, tool, mut arguments) in leaving(&mark) {
        if let Some(script) = arguments.as_object_mut().unwrap().remove("script") {
            let left = place.write("left", &format!("#!/bin/bash\n{}", script.as_str().unwrap()));
            std::fs::set_permissions(left, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let root = place.root().display().to_string();
        let command = place.shellgate(["mcp", "--dialect", dialect, "--root", &root]);
        let mut talk = Talk::begin(command, &json!({}));
        let answer = talk.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let (text, facts) = (
            answer["result"]["content"][0]["text"].as_str().unwrap(),
            &answer["result"]["structuredContent"],
        );
        let job = facts["job"].as_str().unwrap_or_else(|| panic!("{dialect}: {answer}"));
        assert!(text.contains(job), "{dialect}: {text}");
        assert!(text.contains(&facts["background"][0]["pid"].to_string()), "{dialect}: {text}");
        talk.ask("tools/call", json!({"name": "shell_stop", "arguments": {"job": job}}));
        assert!(processes_with(&mark).is_empty());
        talk.leave();
    }
}

fn next_progress(talk: &mut Talk) -> Value {
    talk.hear(|message| message["method"] == "notifications/progress")["params"]["message"].clone()
}

#[test]
fn progress_is_what_a_reader_would_see() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let command = r"printf '\033[31mred\033[0m\r50%%\r100%%\n'; while [ ! -e go ]; do sleep 0.01; done";
    let call = json!({"name": "shell", "_meta": {"progressToken": 1}, "arguments": {"command": command}});
    let id = talk.send("tools/call", call);
    assert_eq!(next_progress(&mut talk), "100%\n");
    place.write("go", "");
    talk.answer(id);
}

#[test]
fn the_progress_of_a_wait_has_the_job_s_output() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let command = "while [ ! -e go ]; do echo printed; sleep 0.05; done";
    let job = talk.run(json!({"command": command, "background": true}))["job"].clone();
    let call = json!({"name": "shell_wait", "_meta": {"progressToken": 1}, "arguments": {"job": job}});
    let id = talk.send("tools/call", call);
    let told = next_progress(&mut talk);
    assert!(told.as_str().unwrap().starts_with("printed\n"), "{told}");
    place.write("go", "");
    assert_eq!(talk.answer(id)["result"]["structuredContent"]["status"], "completed");
}

#[test]
fn a_refusal_is_an_error_also_in_the_answer_to_a_wait() {
    let place = Place::new(None);
    let mut talk = Talk::begin(place.strictly(["mcp"]), &json!({}));
    let queued = talk.run(json!({"command": "touch never", "wait_ms": 50}));
    let jobs = talk.ask("tools/call", json!({"name": "shell_jobs", "arguments": {}}));
    let listed = &jobs["result"]["structuredContent"]["jobs"][0];
    assert_eq!((&listed["id"], &listed["status"]), (&queued["job"], &json!("queued")), "{jobs}");
    let number = queued["approval"]["id"].to_string();
    assert!(place.strictly(["approvals", "deny", &number]).status().unwrap().success());
    let wait = json!({"name": "shell_wait", "arguments": {"job": queued["job"]}});
    let result = talk.ask("tools/call", wait)["result"].clone();
    assert_eq!(result["structuredContent"]["error"]["code"], "denied_by_user", "{result}");
    assert_eq!(result["isError"], true, "{result}");
}

#[test]
fn the_refusal_says_that_too_many_questions_wait() {
    let place = Place::new(None);
    let mut talk = Talk::begin(place.strictly(["mcp"]), &json!({}));
    let ids: Vec<u64> = (0..65).map(|_| talk.call(json!({"command": "touch never", "wait_ms": 1}))).collect();
    let answers: Vec<Value> = ids.into_iter().map(|id| talk.answer(id)).collect();
    let refused: Vec<&Value> =
        answers.iter().filter(|answer| answer["result"]["isError"] == json!(true)).collect();
    assert_eq!(refused.len(), 1, "64 may wait");
    let error = &refused[0]["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "approval_unavailable");
    assert!(error["message"].as_str().unwrap().contains("too many other questions"), "{error}");
}

#[test]
fn errors_say_what_is_wrong() {
    let place = Place::new(None);
    let mut talk = Talk::silent(&place, &[]);
    let early = talk.ask("tools/list", json!({}))["error"].clone();
    assert_eq!(early["code"], -32602);
    assert!(early["message"].as_str().unwrap().contains("initialize"), "{early}");
    talk.leave();
    let mut talk = Talk::new(&place);
    let unknown = talk.ask("roots/list", json!({}))["error"].clone();
    assert_eq!(
        (&unknown["code"], &unknown["message"]),
        (&json!(-32601), &json!("there is no method `roots/list`"))
    );
    for line in [
        json!({"jsonrpc": "1.0", "id": 70, "method": "ping"}),
        json!({"id": 70, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 70, "method": 5}),
    ] {
        talk.line(line.to_string().as_bytes());
        let answer = talk.answer(70);
        assert_eq!(answer["error"]["code"], -32600, "{line}: {answer}");
    }
    talk.line(b"5");
    let answer = talk.hear(|message| message.get("id").is_none());
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(said.contains("expected an object"), "{said}");
    let nope = talk.ask("tools/call", json!({"name": "shell_output", "arguments": {"job": "nope"}}));
    let hint = nope["result"]["structuredContent"]["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("`shell_jobs`"), "{hint}");
}
