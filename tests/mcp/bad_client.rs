//! Clients that send invalid or too many messages, or read nothing: the server answers with errors or waits, and never
//! crashes.

use std::io::Write as _;

use serde_json::{Value, json};

use super::talk::Talk;
use crate::support::{Place, for_each_user, mark, processes_with, wait_until, wait_until_woken_at_most};

/// The current and the highest memory use of a process, in MB.
fn memory(talk: &Talk) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", talk.server.id())).unwrap();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    };
    (of("VmRSS:"), of("VmHWM:"))
}

fn descriptors(talk: &Talk) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", talk.server.id())).unwrap().count()
}

#[test]
fn nonsense_gets_an_error_and_nothing_else_happens() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        let cases: [(&[u8], i64, Value); 9] = [
            (b"garbage", -32700, Value::Null),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1", -32700, Value::Null),
            (b"\xff\xfe", -32700, Value::Null),
            (b"42", -32600, Value::Null),
            (b"[]", -32600, Value::Null),
            (b"{\"jsonrpc\":\"1.0\",\"id\":\"old\",\"method\":\"ping\"}", -32600, json!("old")),
            (b"{\"jsonrpc\":\"2.0\",\"id\":\"m\",\"method\":\"no/such\"}", -32601, json!("m")),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"tools/call\",\"params\":{\"name\":5}}",
                -32602,
                json!("p"),
            ),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"tools/call\",\"params\":[]}",
                -32602,
                json!("q"),
            ),
        ];
        for (line, code, id) in cases {
            talk.line(line);
            let answer = talk.hear(|message| message["error"].is_object());
            let shown = String::from_utf8_lossy(line).into_owned();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{shown}: {answer}");
        }
        // Answers to requests that were never sent, and empty lines.
        talk.line(br#"{"jsonrpc":"2.0","id":77,"result":{}}"#);
        talk.line(br#"{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"x"}}"#);
        talk.line(b"  \r");
        assert_eq!(talk.run(json!({"command": "echo alive"}))["stdout"], "alive\n");
        assert!(talk.leave().success());
    });
}

#[test]
fn before_the_introduction_there_are_errors_only() {
    let place = Place::new(None);
    let mut talk = Talk::silent(&place, &[]);
    talk.tell("notifications/cancelled", json!({"requestId": 1}));
    talk.tell("notifications/initialized", json!({}));
    talk.line(br#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    let answer = talk.ask("tools/call", json!({"name": "shell", "arguments": {"command": "touch early"}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(!place.root().join("early").exists());
    assert!(talk.ask("ping", json!({}))["result"].is_object());
    let hello = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    assert_eq!(talk.ask("initialize", hello)["result"]["protocolVersion"], "2024-11-05");
    // Some clients send requests before `notifications/initialized`.
    assert!(talk.ask("prompts/list", json!({}))["result"]["prompts"].is_array());
    assert!(talk.ask("resources/list", json!({}))["result"]["resources"].is_array());
    assert_eq!(talk.run(json!({"command": "touch late"}))["status"], "completed");
    assert!(place.root().join("late").exists());
}

#[test]
fn an_id_that_is_under_way_is_refused_and_a_used_one_is_not() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let id = talk.call(json!({"command": "while [ ! -e go ]; do sleep 0.01; done; echo first"}));
    let again = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "shell", "arguments": {"command": "echo second"}}});
    talk.line(again.to_string().as_bytes());
    assert_eq!(talk.answer(id)["error"]["code"], -32600);
    place.write("go", "");
    assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "first\n");
    talk.line(again.to_string().as_bytes());
    assert_eq!(talk.answer(id)["result"]["structuredContent"]["stdout"], "second\n");
}

#[test]
fn a_line_of_100_mb_is_refused_in_bounded_memory() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    let to = talk.to.as_mut().unwrap();
    to.write_all(br#"{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"shell","arguments":{"command":"#).unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        to.write_all(&piece).unwrap();
    }
    to.write_all(b"\n").unwrap();
    let answer = talk.hear(|message| message["error"].is_object());
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!("long")), "{answer}");
    assert_eq!(talk.run(json!({"command": "echo alive"}))["stdout"], "alive\n");
    let (_, most) = memory(&talk);
    assert!(most < 80, "{most} MB");
    // A megabyte of standard input for a command is accepted.
    let text = "x".repeat(1 << 20);
    assert_eq!(talk.run(json!({"command": "wc -c", "stdin": text}))["stdout"], "1048576\n");
}

#[test]
fn a_thousand_calls_at_once_are_all_answered() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    talk.run(json!({"command": "true"}));
    let before = descriptors(&talk);
    let calls: Vec<u64> =
        (0..1000).map(|number| talk.call(json!({"command": format!("echo {number}")}))).collect();
    for (number, id) in calls.into_iter().enumerate() {
        let answer = talk.answer(id);
        assert_eq!(answer["result"]["structuredContent"]["stdout"], format!("{number}\n"), "{answer}");
    }
    // Some connections to the keeper are kept for later calls.
    wait_until("its descriptors are given back", || descriptors(&talk) < before + 100);
    assert!(talk.leave().success());
    place.assert_nothing_is_left();
}

#[test]
fn a_client_that_goes_without_having_read_is_noticed() {
    let place = Place::new(None);
    let mut talk = Talk::new(&place);
    talk.stop_reading();
    let long = mark();
    talk.call(json!({"command": format!("exec sleep {long}")}));
    wait_until("it runs", || !processes_with(&long).is_empty());
    // More unread answers than the server keeps, so it stops reading.
    for _ in 0..1_100 {
        talk.send("tools/list", json!({}));
    }
    // The server regularly checks whether the client still exists.
    wait_until_woken_at_most(20, talk.server.id());
    assert!(!processes_with(&long).is_empty());
    drop(talk.to.take());
    wait_until("it is gone", || processes_with(&long).is_empty());
}

#[test]
fn a_client_that_never_reads_costs_bounded_memory() {
    use std::process::Stdio;
    let place = Place::new(None);
    let mut command = place.shellgate(["mcp"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let unread = server.stdout.take().unwrap();
    let mut to = server.stdin.take().unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
    writeln!(to, "{hello}").unwrap();
    // Far more unread answers than the server keeps: up to 20,000 lists of some kilobytes each.
    let writer = std::thread::spawn(move || {
        for id in 1..20_000 {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}});
            if writeln!(to, "{request}").is_err() {
                return;
            }
        }
    });
    wait_until_woken_at_most(20, server.id());
    assert!(!writer.is_finished(), "the server reads no more");
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let resident: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(resident < 150 << 10, "{resident} kB");
    assert!(server.try_wait().unwrap().is_none(), "the server waits");
    drop(unread);
    server.kill().unwrap();
    server.wait().unwrap();
    writer.join().unwrap();
}
