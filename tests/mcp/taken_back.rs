//! Calls that are canceled at the moment they would become a job or a question: a call without an answer leaves nothing
//! behind.

use std::io::Read as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::blocked::JournalLock;
use super::site::Site;
use super::talk::Talk;
use crate::support::{for_each_user, mark, processes_with, wait_until};

/// The `wait_ms` of the calls.
const WAIT_MS: u64 = 50;
/// Rounds. The cancel comes at a slightly different time in each.
const ROUNDS: u64 = 24;

/// Sleeps until about the time at which such a call is answered.
fn sleep_about_as_long(round: u64) {
    std::thread::sleep(Duration::from_millis(WAIT_MS - 3 + round % 8));
}

fn long(mark: &str) -> Value {
    json!({"command": format!("exec sleep {mark}"), "wait_ms": WAIT_MS})
}

#[test]
fn a_call_canceled_as_it_becomes_a_job_leaves_no_process() {
    for_each_user(|place| {
        let mut talk = Talk::new(place);
        for round in 0..ROUNDS {
            let mark = mark();
            let id = talk.call(long(&mark));
            sleep_about_as_long(round);
            talk.tell("notifications/cancelled", json!({"requestId": id}));
            talk.ask("ping", json!({}));
            let Some(at) = talk.heard.iter().position(|message| message["id"] == id) else {
                wait_until("the command has ended", || processes_with(&mark).is_empty());
                continue;
            };
            let answer = talk.heard.remove(at).unwrap();
            let job = &answer["result"]["structuredContent"]["job"];
            assert!(job.is_string() && !processes_with(&mark).is_empty(), "it was too late: {answer}");
            talk.ask("tools/call", json!({"name": "shell_stop", "arguments": {"job": job}}));
        }
        talk.leave();
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_call_that_begins_as_the_server_ends_leaves_no_process() {
    for_each_user(|place| {
        for _ in 0..4 {
            let mut talk = Talk::new(place);
            // No command starts while another process has locked the journal.
            let lock = JournalLock::take(place);
            let mark = mark();
            let id = talk.call(json!({"command": format!("exec sleep {mark}"), "wait_ms": 1}));
            talk.ask("ping", json!({}));
            talk.tell("notifications/cancelled", json!({"requestId": id}));
            talk.ask("ping", json!({}));
            drop(lock);
            assert!(talk.leave().success());
            wait_until("the command has ended", || processes_with(&mark).is_empty());
        }
        place.assert_nothing_is_left();
    });
}

#[test]
fn a_call_canceled_as_its_question_is_queued_leaves_no_question() {
    for_each_user(|place| {
        let mut talk = Talk::begin(place.strictly(["mcp"]), &json!({}));
        let pending = || {
            let list = place.strictly(["approvals", "list", "--json"]).output().unwrap().stdout;
            serde_json::from_slice::<Value>(&list).unwrap().as_array().unwrap().len()
        };
        for round in 0..ROUNDS {
            let id = talk.call(json!({"command": "touch never", "wait_ms": WAIT_MS}));
            sleep_about_as_long(round);
            talk.tell("notifications/cancelled", json!({"requestId": id}));
            talk.ask("ping", json!({}));
            if let Some(at) = talk.heard.iter().position(|message| message["id"] == id) {
                let answer = talk.heard.remove(at).unwrap();
                let job = &answer["result"]["structuredContent"]["job"];
                assert_eq!(pending(), 1, "it was too late: {answer}");
                talk.ask("tools/call", json!({"name": "shell_stop", "arguments": {"job": job}}));
            }
            wait_until("no question waits", || pending() == 0);
        }
        talk.leave();
    });
}

#[test]
fn a_call_over_http_canceled_as_it_becomes_a_job_leaves_no_process() {
    for_each_user(|place| {
        let site = Site::new(place, &[]);
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
        let answer = site.send(&site.head(&site.key, ""), &hello.to_string());
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        let head = site
            .head(&site.key, &format!("\r\nMcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-06-18"));
        for round in 1..=ROUNDS {
            let mark = mark();
            let call = json!({"jsonrpc": "2.0", "id": round, "method": "tools/call",
                "params": {"name": "shell", "arguments": long(&mark)}});
            let mut stream = site.open(&head, &call.to_string());
            sleep_about_as_long(round);
            let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": round}});
            assert_eq!(site.send(&head, &cancel.to_string()).status, 202);
            let mut heard = String::new();
            stream.read_to_string(&mut heard).unwrap();
            if let Some((_, job)) = heard.split_once(r#""job":""#) {
                site.call(&site.key, "shell_stop", json!({"job": job.get(..26)}));
            }
            // Calls begin in order, so after this one the canceled call can't begin any more.
            site.call(&site.key, "shell", json!({"command": "true"}));
            wait_until("the command has ended", || processes_with(&mark).is_empty());
        }
        drop(site);
        place.assert_nothing_is_left();
    });
}
