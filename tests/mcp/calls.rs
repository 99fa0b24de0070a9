//! Calls and their answers.

use serde_json::{Value, json};

use super::talk::{NEWER, Talk};
use crate::support::{Place, for_each_user, mark, processes_with, wait_until};

#[test]
fn text_and_structured_content_say_the_same() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        let id = talk.call(json!({"command": "echo out; echo err >&2; exit 7"}));
        let result = talk.answer(id)["result"].clone();
        assert_eq!(result["isError"], false, "a command that ran is an answer: {result}");
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1);
        assert_eq!(content[0]["text"], "out\n[stderr]\nerr\n[exit 7; stdout 1 line, stderr 1 line]");
        let facts = &result["structuredContent"];
        assert_eq!(
            (&facts["exit_code"], &facts["stdout"], &facts["stderr"], &facts["status"]),
            (&json!(7), &json!("out\n"), &json!("err\n"), &json!("failed")),
            "all facts were asked for"
        );
        let id = talk.call(json!({"command": "echo out; echo err >&2; exit 7", "detail": "minimal"}));
        let facts = talk.answer(id)["result"]["structuredContent"].clone();
        assert_eq!(facts, json!({"exit_code": 7, "stdout": "out\n", "stderr": "err\n"}));
        assert!(talk.leave().success());
    });
}

#[test]
fn refusals_are_errors_of_the_tool() {
    let place = Place::new(None);
    let mut talk = Talk::begin(place.shellgate(["mcp", "--exclude", "rm"]), &json!({}));
    let id = talk.call(json!({"command": "touch made; rm made"}));
    let result = talk.answer(id)["result"].clone();
    assert_eq!(result["isError"], true);
    assert_eq!(result["structuredContent"]["error"]["code"], "denied_by_policy");
    assert!(!place.root().join("made").exists());
    for (arguments, code) in [
        (json!({"command": "no-such-program", "args": []}), "spawn_failed"),
        (json!({"program": "ls"}), "invalid_input"),
        (json!({"command": "ls", "directory": "/etc"}), "out_of_scope"),
    ] {
        let id = talk.call(arguments);
        let result = talk.answer(id)["result"].clone();
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["error"]["code"]),
            (&json!(true), &json!(code))
        );
    }
    // With a repeated key, the approving program may have read another value than the server.
    talk.line(br#"{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{"name":"shell","arguments":{"command":"true","command":"touch made"}}}"#);
    let answer = talk.hear(|message| message["id"] == "twice");
    assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "invalid_input", "{answer}");
    assert!(!place.root().join("made").exists());
    let answer = talk.ask("tools/call", json!({"name": "sh", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(talk.run(json!({"command": "touch made"}))["status"], "completed");
    assert!(place.root().join("made").exists());
}

#[test]
fn a_resource_counts_what_it_leaves_out() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let id = talk.run(json!({"command": "seq 1 8000000; echo END"}))["id"].clone();
    let uri = format!("shellgate://jobs/{}/stdout", id.as_str().unwrap());
    let read = talk.ask("resources/read", json!({"uri": uri}))["result"].clone();
    let text = read["contents"][0]["text"].as_str().unwrap();
    let marker = text.lines().find(|line| line.starts_with("[… ")).unwrap();
    let shown = text.len() - marker.len() - 1;
    assert!(marker.starts_with(&format!("[… {} bytes left out", 62_888_900 - shown)), "{shown}: {marker}");
    talk.leave();
}

#[test]
fn many_starts_at_once_are_no_way_around_the_limit_of_jobs() {
    let place = Place::new(None);
    let mark = mark();
    let config = place.write("limits.toml", "[limits]\njobs_per_session = 4\n");
    let command = place.shellgate(["mcp", "--config", config.to_str().unwrap()]);
    let mut talk = Talk::begin(command, &json!({}));
    let job = json!({"command": format!("exec sleep {mark}"), "background": true});
    let calls: Vec<u64> = (0..12).map(|_| talk.call(job.clone())).collect();
    let mut refused = 0;
    for id in calls {
        let report = talk.answer(id)["result"]["structuredContent"].clone();
        match report["status"].as_str() {
            Some("running") => {}
            _ => {
                assert_eq!(report["error"]["code"], "busy", "{report}");
                refused += 1;
            }
        }
    }
    assert_eq!((refused, processes_with(&mark).len()), (8, 4));
    talk.leave();
    assert!(place.output(["stop", "--all"]).status.success());
    place.assert_nothing_is_left();
}

#[test]
fn a_burst_of_calls_begins_in_order() {
    let place = Place::new(None);
    // With one command at a time, the keeper runs them in the order in which they were started.
    let config = place.write("limits.toml", "[limits]\nmax_running = 1\n");
    let command = place.shellgate(["mcp", "--config", config.to_str().unwrap()]);
    let mut talk = Talk::begin(command, &json!({}));
    let numbers: Vec<String> = (0..60).map(|n| n.to_string()).collect();
    // Long texts take longer to judge, and keep their place.
    let calls: Vec<u64> = numbers
        .iter()
        .map(|n| {
            let padding = if n.ends_with('0') { " ".repeat(20_000) } else { String::new() };
            talk.call(json!({"command": format!("echo {n}{padding} >> order")}))
        })
        .collect();
    for id in calls {
        let report = talk.answer(id)["result"]["structuredContent"].clone();
        assert_eq!(report["status"], "completed", "{report}");
    }
    let order = std::fs::read_to_string(place.root().join("order")).unwrap();
    assert_eq!(order.lines().collect::<Vec<_>>(), numbers);
    talk.leave();
}

#[test]
fn every_dialect_answers_with_one_text_and_the_facts() {
    let place = Place::new(None);
    for (dialect, tool, arguments) in [
        ("shellgate", "shell", json!({"command": "echo hi", "format": "markdown"})),
        ("asimi", "run_shell_command", json!({"command": "echo hi"})),
        ("gemini", "run_shell_command", json!({"command": "echo hi", "wait_for_previous": true})),
        ("qwen", "run_shell_command", json!({"command": "echo hi", "is_background": false})),
        ("agent-world", "shell_cmd", json!({"command": "echo", "parameters": ["hi"]})),
    ] {
        let root = place.root();
        let command = place.shellgate(["mcp", "--dialect", dialect, "--root", root.to_str().unwrap()]);
        let mut talk = Talk::begin(command, &json!({}));
        let tools = talk.ask("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!(tools[0]["name"], tool);
        // Written with blanks it must be less than 10 kB, too.
        assert!(tools.to_string().len() < 9_450, "{dialect}: {} bytes", tools.to_string().len());
        let result = talk.ask("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone();
        assert_eq!(result["structuredContent"]["stdout"], "hi\n", "{dialect}: {result}");
        let content = result["content"].as_array().unwrap();
        assert!(
            content.len() == 1 && content[0]["text"].as_str().unwrap().contains("hi"),
            "{dialect}: {result}"
        );
    }
}

#[test]
fn a_canceled_call_ends_the_whole_tree_and_keeps_the_output() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        let (one, other) = (mark(), mark());
        let id = talk.call(json!({"command": format!("echo begun; setsid sleep {one} & sleep {other}")}));
        wait_until("both run", || !processes_with(&one).is_empty() && !processes_with(&other).is_empty());
        // Cancellations of a request that was never made, and of one that has been answered.
        talk.tell("notifications/cancelled", json!({"requestId": 9999}));
        talk.tell("notifications/cancelled", json!({"requestId": 1}));
        talk.tell("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
        wait_until("both are gone", || processes_with(&one).is_empty() && processes_with(&other).is_empty());
        // The canceled call gets no answer, and the server still works.
        assert_eq!(talk.run(json!({"command": "echo next"}))["stdout"], "next\n");
        assert!(!talk.heard.iter().any(|message| message["id"] == id));
        wait_until("the record has its end", || {
            let history = place.output(["history", "--json"]);
            let history: Value = serde_json::from_slice(&history.stdout).unwrap();
            history.as_array().unwrap().iter().any(|one| one["status"] == "canceled")
        });
        talk.leave();
    });
}

/// The answer of the canceled call could be taken for that of the next one.
#[test]
fn the_id_of_a_canceled_call_can_not_be_used_again() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let long = mark();
    let id = talk.call(json!({"command": format!("exec sleep {long}")}));
    wait_until("it runs", || !processes_with(&long).is_empty());
    talk.tell("notifications/cancelled", json!({"requestId": id}));
    let again = json!({"name": "shell", "arguments": {"command": "touch made"}});
    let again = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": again});
    talk.line(again.to_string().as_bytes());
    let answer = talk.answer(id);
    assert!(answer["error"]["message"].as_str().unwrap().contains("use another id"), "{answer}");
    assert_eq!(talk.run(json!({"command": "echo next"}))["stdout"], "next\n");
    assert!(!place.root().join("made").exists());
    talk.leave();
}

#[test]
fn a_long_command_becomes_a_job() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let long = mark();
    let answer = talk.run(json!({"command": format!("echo begun; sleep {long}"), "wait_ms": 200}));
    assert_eq!((&answer["status"], &answer["stdout"]), (&json!("running"), &json!("begun\n")), "{answer}");
    let job = answer["job"].as_str().unwrap().to_owned();
    assert!(!processes_with(&long).is_empty(), "it goes on");
    talk.leave();
    assert!(!processes_with(&long).is_empty(), "it runs on without its server");
    assert!(place.output(["stop", &job]).status.success());
    assert!(processes_with(&long).is_empty());
    place.assert_nothing_is_left();
}

/// The call's `wait_ms` ends at the moment at which its command starts.
#[test]
fn a_command_that_becomes_a_job_as_it_starts_loses_no_output() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        let printed: String = (1..=20_000).map(|n| format!("{n}\n")).collect();
        for _ in 0..20 {
            let mut answer = talk.run(json!({"command": "seq 20000; echo end >&2", "wait_ms": 1}));
            if answer["status"] == "running" {
                let wait = json!({"name": "shell_wait", "arguments": {"job": answer["job"]}});
                answer = talk.ask("tools/call", wait)["result"]["structuredContent"].clone();
            }
            assert_eq!(
                (&answer["status"], &answer["stderr"]),
                (&json!("completed"), &json!("end\n")),
                "{answer}"
            );
            // The answer of a job has the two ends, with numbers between that count on folded: all of it is read again.
            let stdout = answer["stdout"].as_str().unwrap();
            assert!(stdout.starts_with("1\n2\n") && stdout.ends_with("\n20000\n"), "{answer}");
            let output =
                place.output(["logs", answer["id"].as_str().unwrap(), "--raw", "--stream", "stdout"]);
            assert_eq!(output.stdout.len(), printed.len(), "{answer}");
        }
        talk.leave();
    });
}

#[test]
fn progress_tells_what_is_printed() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let call = json!({
        "name": "shell", "_meta": {"progressToken": "p"},
        // The command waits for the test, so its first line must arrive before it ends.
        "arguments": {"command": "echo one; while [ ! -e go ]; do sleep 0.01; done; echo two"},
    });
    let id = talk.send("tools/call", call);
    let told = talk.hear(|message| message["method"] == "notifications/progress");
    assert_eq!(
        (&told["params"]["progressToken"], &told["params"]["message"]),
        (&json!("p"), &json!("one\n"))
    );
    place.write("go", "");
    assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "one\ntwo\n");
    // Much output is sent in a few notifications only.
    let call =
        json!({"name": "shell", "_meta": {"progressToken": 2}, "arguments": {"command": "timeout 1 yes"}});
    let id = talk.send("tools/call", call);
    talk.answer(id);
    let told = talk.heard.iter().filter(|message| message["method"] == "notifications/progress").count();
    assert!((1..=12).contains(&told), "{told} notifications");
}

#[test]
fn the_newer_generation_needs_no_introduction() {
    let place = Place::new(None);
    let mut talk = Talk::silent(&place, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = talk.ask("server/discover", json!({"_meta": meta}))["result"].clone();
    let versions = found["supportedVersions"].as_array().unwrap();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", NEWER] {
        assert!(versions.contains(&json!(version)), "{found}");
    }
    assert!(found["instructions"].as_str().unwrap().contains("allowed"), "{found}");
    let call = json!({"name": "shell", "arguments": {"command": "echo hi"}, "_meta": meta});
    let result = talk.ask("tools/call", call)["result"].clone();
    assert_eq!(
        (&result["resultType"], &result["structuredContent"]["stdout"]),
        (&json!("complete"), &json!("hi\n"))
    );
    let call = json!({"name": "shell", "arguments": {"command": "echo hi"}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}}});
    assert_eq!(talk.ask("tools/call", call)["error"]["code"], -32022);
}
