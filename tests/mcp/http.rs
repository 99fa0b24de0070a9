//! Over HTTP: which requests are accepted, and what each client can reach.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::site::{Site, add_key};
use super::talk::NEWER;
use super::task_client::tasks;
use crate::support::{PATIENCE, Place, for_each_user, mark, processes_with, wait_until};

#[test]
fn a_request_without_a_valid_key_is_refused() {
    for_each_user(|place| {
        let site = Site::new(place, &[]);
        let file = std::fs::metadata(place.state().join("mcp-keys")).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
        let good = site.head(&site.key, "");
        for head in [
            good.replace(&format!("Authorization: Bearer {}\r\n", site.key), ""),
            good.replace(&site.key, "0000"),
            good.replace(&site.key, ""),
            good.replace("Bearer", "Basic"),
            good.replace("/mcp", "/"),
            format!("{good}\r\nAuthorization: Bearer {}", site.key),
        ] {
            let answer = site.send(&head, &list);
            assert!(matches!(answer.status, 401 | 404), "{head}: {}", answer.status);
        }
        // Requests with a valid key, but with the origin of a web page or another host name.
        for head in [
            format!("{good}\r\nOrigin: http://evil.example"),
            format!("{good}\r\nOrigin: null"),
            good.replace(&format!("Host: {}", site.address), "Host: evil.example"),
        ] {
            assert_eq!(site.send(&head, &list).status, 403, "{head}");
        }
        let tools = site.newer(&site.key, "tools/list", json!({})).message();
        assert_eq!(tools["result"]["tools"][0]["name"], "shell", "{tools}");
    });
}

#[test]
fn a_key_file_that_others_can_read_is_refused() {
    let place = Place::new(None);
    add_key(&place, "ann", &"a".repeat(64));
    std::fs::set_permissions(place.state().join("mcp-keys"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = place.output(["mcp", "--http", "0"]);
    assert!(
        !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("chmod 600"),
        "{output:?}"
    );
}

#[test]
fn a_client_can_not_reach_the_sessions_of_another() {
    for_each_user(|place| {
        let (ann, bob) = ("a".repeat(64), "b".repeat(64));
        add_key(place, "ann", &ann);
        add_key(place, "bob", &bob);
        let site = Site::new(place, &[]);
        let long = mark();
        let started = site.call(
            &ann,
            "shell",
            json!({"command": format!("sleep {long}"), "background": true, "session": "new"}),
        );
        let report = &started["structuredContent"];
        let (job, session) = (report["job"].as_str().unwrap(), report["session"].as_str().unwrap());
        for (tool, arguments) in [
            ("shell_output", json!({"job": job})),
            ("shell_wait", json!({"job": job, "timeout_ms": 10})),
            ("shell_stop", json!({"job": job})),
        ] {
            let answer = site.call(&bob, tool, arguments);
            assert_eq!(answer["structuredContent"]["error"]["code"], "unknown_job", "{tool}: {answer}");
        }
        assert_eq!(site.call(&bob, "shell_jobs", json!({}))["structuredContent"]["jobs"], json!([]));
        let read = site.newer(&bob, "resources/read", json!({"uri": format!("shellgate://jobs/{job}/stdout"), "name": format!("shellgate://jobs/{job}/stdout")}));
        assert!(read.message()["error"].is_object(), "{}", read.body);
        for word in [session, "http-ann", "http-ann/x", "../http-ann"] {
            let answer = site.call(&bob, "shell", json!({"command": "true", "session": word}));
            assert_eq!(answer["structuredContent"]["error"]["code"], "invalid_input", "{word}: {answer}");
        }
        assert!(!processes_with(&long).is_empty(), "it still runs");
        // The owner reaches the job and the session.
        assert_eq!(
            site.call(&ann, "shell", json!({"command": "true", "session": session}))["structuredContent"]["status"],
            "completed"
        );
        assert_eq!(
            site.call(&ann, "shell_stop", json!({"job": job}))["structuredContent"]["status"],
            "canceled"
        );
        assert!(processes_with(&long).is_empty());

        // The beginning of another client's job id is unknown, too. A shorter one would be that of Bob's refused calls.
        let answer = site.call(&bob, "shell_output", json!({"job": job.get(..20)}));
        assert_eq!(answer["structuredContent"]["error"]["code"], "unknown_job", "{answer}");

        // MCP sessions of the older protocol belong to the key that began them.
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
        let answer = site.send(&site.head(&ann, ""), &hello.to_string());
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let more = format!("\r\nMcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-06-18");
        let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
        assert_eq!(site.send(&site.head(&bob, &more), &list).status, 404);
        assert_eq!(site.send(&site.head(&ann, &more), &list).status, 200);

        // Deleting an MCP session ends its commands.
        let command = json!({"command": format!("exec sleep {long}")});
        let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "shell", "arguments": command}});
        let _stream = site.open(&site.head(&ann, &more), &call.to_string());
        wait_until("it runs", || !processes_with(&long).is_empty());
        let delete = |key: &str| site.send(&site.head(key, &more).replacen("POST", "DELETE", 1), "").status;
        assert_eq!(delete(&bob), 404);
        assert!(!processes_with(&long).is_empty());
        assert_eq!(delete(&ann), 200);
        wait_until("it is gone", || processes_with(&long).is_empty());
    });
}

#[test]
fn a_client_can_not_reach_the_tasks_of_another() {
    for_each_user(|place| {
        let (ann, bob) = ("a".repeat(64), "b".repeat(64));
        add_key(place, "ann", &ann);
        add_key(place, "bob", &bob);
        let site = Site::new(place, &[]);
        let ask = |key: &str, method: &str, params: Value| {
            site.newer_that_can(&tasks(), key, method, params).message()
        };
        let long = mark();
        let command = format!("while [ ! -e go ]; do sleep 0.02; done; echo hi; sleep {long}");
        let call = json!({"name": "shell", "arguments": {"command": command, "wait_ms": 50}});
        let begun = ask(&ann, "tools/call", call)["result"].clone();
        assert_eq!((&begun["resultType"], &begun["status"]), (&json!("task"), &json!("working")), "{begun}");
        let id = begun["taskId"].as_str().unwrap();
        place.write("go", "");
        wait_until("it sleeps", || !processes_with(&long).is_empty());
        let never = ask(&bob, "tasks/get", json!({"taskId": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}));
        assert_eq!(never["error"]["code"], -32602, "{never}");
        for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
            let answer = ask(&bob, method, json!({"taskId": id, "inputResponses": {}}));
            assert_eq!(answer["error"], never["error"], "{method}");
        }
        assert!(!processes_with(&long).is_empty(), "it still runs");
        wait_until("the last line is there", || {
            let task = ask(&ann, "tasks/get", json!({"taskId": id}))["result"].clone();
            task["statusMessage"].as_str().unwrap().ends_with("the last line: hi")
        });
        ask(&ann, "tasks/cancel", json!({"taskId": id}));
        assert!(processes_with(&long).is_empty());
        assert_eq!(ask(&ann, "tasks/get", json!({"taskId": id}))["result"]["status"], "cancelled");
    });
}

/// The answers of two calls with one id could not be told apart.
#[test]
fn a_second_call_with_the_same_id_is_refused_while_the_first_runs() {
    let place = Place::new(None);
    let site = Site::new(&place, &[]);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
    let answer = site.send(&site.head(&site.key, ""), &hello.to_string());
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let head =
        site.head(&site.key, &format!("\r\nMcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-06-18"));
    let call = |command: &str| {
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "shell", "arguments": {"command": command}}}).to_string()
    };
    let mut first = site.open(&head, &call("touch begun; until [ -e go ]; do sleep 0.01; done; echo first"));
    wait_until("it runs", || place.root().join("begun").exists());
    let second = site.send(&head, &call("touch made; echo second"));
    assert_eq!(second.status, 400, "{}", second.body);
    assert!(second.body.contains("a request with this id is under way"), "{}", second.body);
    assert!(!place.root().join("made").exists());
    place.write("go", "");
    let mut text = String::new();
    first.read_to_string(&mut text).unwrap();
    assert!(text.contains("first"), "{text}");
    // The id is free again.
    assert!(site.send(&head, &call("echo third")).body.contains("third"));
    // After a cancellation it isn't: the canceled call's answer may still come.
    let canceled = site.open(&head, &call("touch begun2; exec sleep 60"));
    wait_until("it runs", || place.root().join("begun2").exists());
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(site.send(&head, &cancel.to_string()).status, 202);
    let reused = site.send(&head, &call("touch made; echo fourth"));
    assert!(reused.status == 400 && reused.body.contains("use another id"), "{}", reused.body);
    assert!(!place.root().join("made").exists());
    drop(canceled);
}

#[test]
fn a_closed_stream_is_a_canceled_call() {
    for_each_user(|place| {
        let site = Site::new(place, &[]);
        let (one, other) = (mark(), mark());
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "shell", "arguments": {"command": format!("setsid sleep {one} & sleep {other}")},
            "_meta": {"io.modelcontextprotocol/protocolVersion": NEWER, "io.modelcontextprotocol/clientCapabilities": {}},
        }});
        let more = format!("\r\nMCP-Protocol-Version: {NEWER}\r\nMcp-Method: tools/call\r\nMcp-Name: shell");
        let stream = site.open(&site.head(&site.key, &more), &call.to_string());
        wait_until("both run", || !processes_with(&one).is_empty() && !processes_with(&other).is_empty());
        drop(stream);
        wait_until("both are gone", || processes_with(&one).is_empty() && processes_with(&other).is_empty());
        assert_eq!(
            site.call(&site.key, "shell", json!({"command": "echo on"}))["structuredContent"]["stdout"],
            "on\n"
        );
    });
}

#[test]
fn a_client_may_use_any_address_of_this_machine() {
    let place = Place::new(None);
    let mut site = Site::at("0.0.0.0:0", &place, &[]);
    let port = site.address.rsplit(':').next().unwrap().to_owned();
    site.address = format!("127.0.0.2:{port}");
    let tools = site.newer(&site.key, "tools/list", json!({})).message();
    assert_eq!(tools["result"]["tools"][0]["name"], "shell", "{tools}");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let good = site.head(&site.key, "");
    for head in [
        good.replace("Host: 127.0.0.2", "Host: 127.0.0.3"),
        good.replace("Host: 127.0.0.2", "Host: evil.example"),
        format!("{good}\r\nOrigin: http://127.0.0.3:{port}"),
    ] {
        assert_eq!(site.send(&head, &list).status, 403, "{head}");
    }
}

#[test]
fn a_server_with_an_empty_file_of_keys_does_not_start() {
    let place = Place::new(None);
    std::fs::create_dir_all(place.state()).unwrap();
    let file = place.state().join("mcp-keys");
    std::fs::write(&file, "").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let output = place.output(["mcp", "--http", "0"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("has no key"), "{output:?}");
}

#[test]
fn nonsense_and_too_much_are_refused() {
    let place = Place::new(None);
    let site = Site::new(&place, &[]);
    for (body, code) in [("garbage", -32700), ("{", -32700), ("[]", -32600), ("[{}]", -32600)] {
        let answer = site.send(&site.head(&site.key, ""), body);
        assert_eq!((answer.status, &answer.message()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    // A second host, in a header or in the request line.
    let twice = site.head(&site.key, "\r\nHost: example.org");
    assert_eq!(site.send(&twice, "{}").status, 400);
    let elsewhere = site.head(&site.key, "").replacen("/mcp", "http://example.org/mcp", 1);
    assert_eq!(site.send(&elsewhere, "{}").status, 400);
    // Invalid parameters of a known method are not reported as an unknown method.
    let call = json!({"name": "shell", "arguments": {"command": "true"}, "requestState": 5});
    assert_eq!(site.newer(&site.key, "tools/call", call).message()["error"]["code"], -32602);
    // A body of 100 MB, of which the server reads no more than its limit.
    let mut stream = TcpStream::connect(&site.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "{}\r\nContent-Length: {}\r\n\r\n", site.head(&site.key, ""), 100 << 20).unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        // The server may have answered and closed the connection before all was sent.
        if stream.write_all(&piece).is_err() {
            break;
        }
    }
    let mut answer = [0; 12];
    if stream.read_exact(&mut answer).is_ok() {
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", site.server.id())).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most < 100 << 10, "{most} kB");
    assert_eq!(
        site.call(&site.key, "shell", json!({"command": "echo on"}))["structuredContent"]["stdout"],
        "on\n"
    );
    // A repeated JSON key is refused, as over pipes.
    let more = format!("\r\nMCP-Protocol-Version: {NEWER}\r\nMcp-Method: tools/call\r\nMcp-Name: shell");
    let twice = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"shell","arguments":{{"command":"true","command":"touch made"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"{NEWER}","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let answer = site.send(&site.head(&site.key, &more), &twice).message();
    assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "invalid_input", "{answer}");
    assert!(!place.root().join("made").exists());
}
