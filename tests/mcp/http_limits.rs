//! What one key may use of the server, so that the others are served.

use std::io::Read as _;
use std::net::TcpStream;

use serde_json::json;

use super::site::{Site, add_key};
use super::talk::NEWER;
use super::task_client::meta;
use crate::support::Place;

/// The key of another client.
fn other_key() -> String {
    "b".repeat(64)
}

fn site(place: &Place) -> Site {
    std::fs::create_dir_all(place.state()).unwrap();
    add_key(place, "ann", &"a".repeat(64));
    add_key(place, "bob", &other_key());
    Site::new(place, &[])
}

fn echo_works(site: &Site, key: &str) {
    let answer = site.call(key, "shell", json!({"command": "echo on"}));
    assert_eq!(answer["structuredContent"]["stdout"], "on\n", "{answer}");
}

/// The most memory that the server had, in kilobytes.
fn peak_kb(site: &Site) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", site.server.id())).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    most.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn one_origin_and_a_host_without_a_user() {
    let place = Place::new(None);
    let site = site(&place);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let good = site.head(&site.key, "");
    let own = format!("http://{}", site.address);
    for head in [
        format!("{good}\r\nOrigin: {own}\r\nOrigin: http://evil.example"),
        format!("{good}\r\nOrigin: {own}\r\nOrigin: {own}"),
        good.replace(&format!("Host: {}", site.address), &format!("Host: evil.example@{}", site.address)),
        good.replace(&format!("Host: {}", site.address), &format!("Host: {}@evil.example", site.address)),
        good.replacen("/mcp", &format!("http://evil@{}/mcp", site.address), 1),
    ] {
        assert!(site.send(&head, &list).body.contains("more than one host or origin"), "{head}");
    }
    let more = format!("\r\nOrigin: {own}\r\nMCP-Protocol-Version: {NEWER}\r\nMcp-Method: tools/list");
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta(&json!({}))}});
    assert_eq!(site.send(&site.head(&site.key, &more), &list.to_string()).status, 200);
}

#[test]
fn sessions_are_limited_for_each_key() {
    let place = Place::new(None);
    let site = site(&place);
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let open = |key: &str| site.send(&site.head(key, ""), &initialize.to_string());
    let statuses: Vec<u16> = (0..70).map(|_| open(&site.key).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 64, "{statuses:?}");
    assert!(statuses.ends_with(&[503]), "{statuses:?}");
    assert_eq!(open(&other_key()).status, 200);
    echo_works(&site, &other_key());
}

#[test]
fn unread_answers_are_bounded_for_each_key() {
    let place = Place::new(None);
    let site = site(&place);
    let more = format!("\r\nMCP-Protocol-Version: {NEWER}\r\nMcp-Method: tools/call\r\nMcp-Name: shell");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "shell",
        "arguments": {"command": "head -c 7000000 /dev/zero | tr '\\0' x", "detail": "full"},
        "_meta": meta(&json!({}))}})
    .to_string();
    // None of them is read at first.
    let streams: Vec<TcpStream> = (0..10).map(|_| site.open(&site.head(&site.key, &more), &body)).collect();
    let first_bytes = |mut stream: &TcpStream| {
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        String::from_utf8_lossy(&start).into_owned()
    };
    let statuses: Vec<String> = streams.iter().map(first_bytes).collect();
    let refused = statuses.iter().filter(|status| status.ends_with("503")).count();
    assert!(refused > 2 && refused < 10, "{refused}: {statuses:?}");
    echo_works(&site, &other_key());
    drop(streams);
    echo_works(&site, &site.key);
    assert!(peak_kb(&site) < 400 << 10, "{} kB", peak_kb(&site));
}

#[test]
fn requests_under_way_are_limited_for_each_key() {
    let place = Place::new(None);
    let site = site(&place);
    let more = format!("\r\nMCP-Protocol-Version: {NEWER}\r\nMcp-Method: tools/call\r\nMcp-Name: shell");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "shell", "arguments": {"command": "sleep 1000"},
        "_meta": meta(&json!({}))}})
    .to_string();
    let streams: Vec<TcpStream> = (0..64).map(|_| site.open(&site.head(&site.key, &more), &body)).collect();
    crate::support::wait_until("all are under way", || {
        site.newer(&site.key, "tools/list", json!({})).status == 503
    });
    echo_works(&site, &other_key());
    drop(streams);
    crate::support::wait_until("they are canceled", || {
        site.newer(&site.key, "tools/list", json!({})).status == 200
    });
}

#[test]
fn a_message_of_many_values_is_refused_before_it_is_read() {
    let place = Place::new(None);
    let site = site(&place);
    let before = peak_kb(&site);
    for values in ["[],".repeat(4_500_000), "{},".repeat(4_500_000), "1,".repeat(7_000_000)] {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[{values}1]}}");
        let answer = site.send(&site.head(&site.key, ""), &body);
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
    assert!(peak_kb(&site) < before + (100 << 10), "{} kB, {before} kB before", peak_kb(&site));
    echo_works(&site, &site.key);
}
