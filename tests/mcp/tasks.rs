//! Tasks: long calls of clients with the tasks extension.

use serde_json::{Value, json};

use super::talk::Talk;
use super::task_client::{Client, tasks};
use crate::support::{Place, for_each_user, mark, processes_with, wait_until};

/// A command that ends when the file `go` exists.
const SLOW: &str = "echo out; echo err >&2; while [ ! -e go ]; do sleep 0.02; done; echo made > made; exit 7";

/// A result without the parts that differ from call to call.
fn plain(result: &Value) -> Value {
    let report = &result["structuredContent"];
    let id = report["id"].as_str().unwrap();
    let mut text = result.to_string().replace(id, "ID");
    for field in ["pid", "host_pid", "duration_ms"] {
        let number = &report[field];
        // The fields are also in the JSON of the text.
        for (quote, end) in [("\"", [",", "}"]), ("\\\"", [",", "}"])] {
            for end in end {
                let found = format!("{quote}{field}{quote}:{number}{end}");
                text = text.replace(&found, &format!("{quote}{field}{quote}:0{end}"));
            }
        }
    }
    let mut plain: Value = serde_json::from_str(&text).unwrap();
    // How often a command slept differs.
    without_programs(&mut plain["structuredContent"]);
    let shown =
        plain["content"][0]["text"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(mut shown) = shown.filter(Value::is_object) {
        without_programs(&mut shown);
        plain["content"][0]["text"] = shown;
    }
    // In Markdown they are words.
    if let Some(text) = plain["content"][0]["text"].as_str().filter(|text| !text.starts_with('{')) {
        let is_timed = |line: &&str| [" in ", "ms", ", directory `"].iter().any(|word| line.contains(word));
        let lines: Vec<&str> = text.lines().filter(|line| !is_timed(line)).collect();
        plain["content"][0]["text"] = json!(lines);
    }
    plain
}

/// A report without the programs that its command started.
fn without_programs(report: &mut Value) {
    if let Some(effects) = report.get_mut("effects").and_then(Value::as_object_mut) {
        effects.retain(|name, _| name != "programs" && name != "omitted");
    }
}

#[test]
fn a_slow_call_is_a_task_with_the_result_of_a_quick_one() {
    for_each_user(|place| {
        let mut client = Client::new(place, &["--core", "*"]);
        let discovered = client.ask("server/discover", json!({}))["result"]["capabilities"].clone();
        assert_eq!(discovered["extensions"]["io.modelcontextprotocol/tasks"], json!({}), "{discovered}");
        for more in [
            json!({}),
            json!({"format": "markdown", "artifacts": ["made"]}),
            json!({"detail": "full", "args": ["-c", SLOW], "command": "bash"}),
            json!({"timeout_ms": 300, "command": "echo out; exec sleep 1000"}),
        ] {
            let mut arguments = json!({"command": SLOW, "wait_ms": 50});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let begun = client.call(&arguments);
            assert_eq!(
                (&begun["resultType"], &begun["status"]),
                (&json!("task"), &json!("working")),
                "{begun}"
            );
            assert!(begun.get("content").is_none() && begun["pollIntervalMs"].is_u64(), "{begun}");
            assert_eq!(begun["ttlMs"], 30_u64 * 86_400_000, "as long as the record is kept");
            let id = begun["taskId"].as_str().unwrap();
            wait_until("it has printed", || {
                std::fs::read_dir(place.state().join("spool")).unwrap().flatten().any(|file| {
                    file.file_name().to_str() == Some(&format!("{id}.stdout"))
                        && file.metadata().is_ok_and(|metadata| metadata.len() > 0)
                })
            });
            if more.get("timeout_ms").is_none() {
                let on = client.get(id);
                assert_eq!(on["status"], "working", "{on}");
                assert!(on["statusMessage"].as_str().unwrap().contains("the last line: "), "{on}");
                assert_eq!(on["createdAt"], begun["createdAt"]);
            }
            place.write("go", "");
            let done = client.end(id);
            assert_eq!(done["status"], "completed", "{done}");
            assert!(done["lastUpdatedAt"].as_str().unwrap() > done["createdAt"].as_str().unwrap());
            assert_eq!(client.get(id)["result"], done["result"], "the result can be read several times");
            arguments["wait_ms"] = json!(60_000);
            let direct = client.call(&arguments);
            assert_eq!(direct["resultType"], "complete", "{direct}");
            assert_eq!(plain(&done["result"]), plain(&direct));
            std::fs::remove_file(place.root().join("go")).unwrap();
        }
        client.talk.leave();
    });
}

#[test]
fn a_task_outlives_the_server() {
    for_each_user(|place| {
        let mut client = Client::new(place, &["--core", "*"]);
        let (ends, goes_on) = (
            client.begin(
                &json!({"command": "while [ ! -e go ]; do sleep 0.02; done; echo ended", "wait_ms": 50}),
            ),
            client.begin(&json!({"command": SLOW.replace("go", "gone"), "wait_ms": 50})),
        );
        client.talk.server.kill().unwrap();
        client.talk.server.wait().unwrap();
        place.write("go", "");
        // One command ends while no server runs.
        let output = place.output(["wait", &ends]);
        assert!(output.status.success(), "{output:?}");
        let mut client = Client::new(place, &["--core", "*", "--dialect", "gemini"]);
        let done = client.get(&ends);
        let report = &done["result"]["structuredContent"];
        assert_eq!((&done["status"], &report["stdout"]), (&json!("completed"), &json!("ended\n")), "{done}");
        let text = done["result"]["content"][0]["text"].as_str().unwrap();
        assert_eq!(text, "ended\n[exit 0]", "in the form of the call, not of the server");
        assert_eq!(client.get(&goes_on)["status"], "working");
        place.write("gone", "");
        let done = client.end(&goes_on);
        assert_eq!(done["result"]["structuredContent"]["exit_code"], 7, "{done}");
        client.talk.leave();
    });
}

#[test]
fn a_task_does_not_wait_for_leftover_processes() {
    for_each_user(|place| {
        let mut client = Client::new(place, &[]);
        let long = mark();
        let command = format!("sleep {long} & while [ ! -e go ]; do sleep 0.02; done; exit 3");
        let id = client.begin(&json!({"command": command, "wait_ms": 50}));
        assert_eq!(client.get(&id)["status"], "working");
        place.write("go", "");
        let done = client.end(&id);
        let report = &done["result"]["structuredContent"];
        assert_eq!((&report["status"], &report["exit_code"]), (&json!("failed"), &json!(3)), "{done}");
        assert_eq!(report["background"][0]["command"], format!("sleep {long}"), "{done}");
        assert_eq!((&report["job"], &done["taskId"]), (&json!(id), &json!(id)), "{done}");
        // The task has ended, so canceling it changes nothing.
        client.cancel(&id);
        assert!(!processes_with(&long).is_empty(), "{done}");
        client.ask("tools/call", json!({"name": "shell_stop", "arguments": {"job": id}}));
        assert!(processes_with(&long).is_empty());
        // The task's result stays the same.
        let still = client.end(&id);
        let report = &still["result"]["structuredContent"];
        assert_eq!((&report["status"], &report["exit_code"]), (&json!("failed"), &json!(3)), "{still}");
        client.talk.leave();
    });
}

#[test]
fn canceling_ends_all_of_it() {
    for_each_user(|place| {
        let mut client = Client::new(place, &[]);
        let (one, other) = (mark(), mark());
        let command = format!("echo said; setsid sleep {one} & sleep {other}");
        let id = client.begin(&json!({"command": command, "wait_ms": 50}));
        wait_until("both run", || !processes_with(&one).is_empty() && !processes_with(&other).is_empty());
        client.cancel(&id);
        assert!(processes_with(&one).is_empty() && processes_with(&other).is_empty());
        let task = client.end(&id);
        assert_eq!((&task["status"], task.get("result")), (&json!("cancelled"), None), "{task}");
        assert!(task["statusMessage"].as_str().unwrap().contains("shell_output"), "{task}");
        client.cancel(&id);
        // Canceling a task that has ended changes nothing.
        let id = client.begin(&json!({"command": SLOW, "wait_ms": 50}));
        place.write("go", "");
        let done = client.end(&id);
        client.cancel(&id);
        assert_eq!(client.get(&id), done);
        client.talk.leave();
    });
}

#[test]
fn a_client_without_the_extension_gets_no_task() {
    let place = Place::new(None);
    let mut client = Client::new(&place, &[]);
    client.can = json!({});
    let answer = client.call(&json!({"command": SLOW, "wait_ms": 50}));
    let report = &answer["structuredContent"];
    assert_eq!(
        (&answer["resultType"], &report["status"]),
        (&json!("complete"), &json!("running")),
        "{answer}"
    );
    let job = report["job"].clone();
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let error = client.ask(method, json!({"taskId": job, "inputResponses": {}}))["error"].clone();
        assert_eq!(error["code"], -32021, "{method}: {error}");
        assert_eq!(error["data"]["requiredCapabilities"], tasks(), "{error}");
    }
    // Every request declares its own capabilities, so the next request of the same client may have the extension.
    client.can = tasks();
    assert_eq!(client.get(job.as_str().unwrap())["status"], "working", "any job of the session is a task");
    assert_eq!(client.ask("tasks/get", json!({"task": job}))["error"]["code"], -32602);
    client.cancel(job.as_str().unwrap());

    // Capabilities in the `initialize` of the older protocol don't count.
    let mut older = Talk::begin(place.shellgate(["mcp"]), &tasks());
    let report = older.run(json!({"command": "sleep 1000", "wait_ms": 50}));
    assert_eq!(report["status"], "running", "{report}");
    assert_eq!(older.ask("tasks/get", json!({"taskId": report["job"]}))["error"]["code"], -32601);
    older.ask("tools/call", json!({"name": "shell_stop", "arguments": {"job": report["job"]}}));
    let mut other = Talk::silent(&place, &[]);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    let answer = other.ask("initialize", hello);
    assert!(answer["result"]["capabilities"].get("extensions").is_none(), "{answer}");
}

#[test]
fn a_job_that_the_model_works_with_is_no_task() {
    let place = Place::new(None);
    let mut client = Client::new(&place, &[]);
    for arguments in [
        json!({"command": "sleep 1000", "background": true}),
        json!({"command": "sleep 1000", "pty": true, "wait_ms": 50}),
        json!({"command": "sleep 1000", "session": "new", "wait_ms": 50}),
    ] {
        let answer = client.call(&arguments);
        let report = &answer["structuredContent"];
        assert_eq!(
            (&answer["resultType"], &report["status"]),
            (&json!("complete"), &json!("running")),
            "{answer}"
        );
        client.cancel(report["job"].as_str().unwrap());
    }
    // The result has the dialect of its call.
    let mut qwen = Client::new(&place, &["--dialect", "qwen"]);
    let arguments =
        json!({"command": "while [ ! -e go ]; do sleep 0.02; done; echo hi", "is_background": true});
    let answer = qwen.ask("tools/call", json!({"name": "run_shell_command", "arguments": arguments}));
    let job = answer["result"]["structuredContent"]["job"].as_str().unwrap().to_owned();
    place.write("go", "");
    let text = qwen.end(&job)["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("Command: ") && text.contains("\nStdout: hi\n"), "{text}");
    assert!(text.contains("\nExit Code: 0\n"), "{text}");
}

#[test]
fn a_task_of_another_session_is_like_an_unknown_one() {
    for_each_user(|place| {
        let mut client = Client::new(place, &[]);
        let long = mark();
        let id = client.begin(&json!({"command": format!("sleep {long}"), "wait_ms": 50}));
        let mut foreign = Client::new(place, &["--session", "other"]);
        let never = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let refusal = foreign.ask("tasks/get", json!({"taskId": never}))["error"].clone();
        assert_eq!(refusal["code"], -32602, "{refusal}");
        for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
            for name in [&*id, id.get(..20).unwrap(), &id.to_lowercase(), never, "", "../x", "%"] {
                let params = json!({"taskId": name, "inputResponses": {"approval": {"action": "decline"}}});
                assert_eq!(foreign.ask(method, params.clone())["error"], refusal, "{method} {name}");
                if name != id {
                    assert_eq!(client.ask(method, params)["error"], refusal, "{method} {name}, its owner");
                }
            }
        }
        assert!(!processes_with(&long).is_empty(), "it still runs");
        client.cancel(&id);
        assert!(processes_with(&long).is_empty());
        client.talk.leave();
        foreign.talk.leave();
    });
}
