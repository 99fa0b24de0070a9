//! A server over HTTP, and a minimal client for it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::talk::{NEWER, with_all_facts};
use super::task_client::meta;
use crate::support::{PATIENCE, Place};

/// A server, its address and its first key.
pub(crate) struct Site {
    pub(crate) server: Child,
    pub(crate) address: String,
    pub(crate) key: String,
}

/// An answer: status, headers, body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The message in the body, which may be a stream of events.
    pub(crate) fn message(&self) -> Value {
        let text = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .rfind(|data| data.starts_with('{'));
        serde_json::from_str(text.unwrap_or(&self.body))
            .unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value))
    }
}

impl Site {
    pub(crate) fn new(place: &Place, flags: &[&str]) -> Self {
        let site = Self::at("0", place, flags);
        assert!(site.address.starts_with("127.0.0.1:"), "this machine alone: {}", site.address);
        site
    }

    /// Starts a server that listens at this address.
    pub(crate) fn at(address: &str, place: &Place, flags: &[&str]) -> Self {
        let mut command = place.shellgate(["mcp", "--http", address].iter().chain(flags));
        let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
        // A warning may be printed before the address.
        let lines = BufReader::new(server.stderr.take().unwrap()).lines();
        let line = lines.map(Result::unwrap).find(|line| line.contains("http://")).unwrap();
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let keys = std::fs::read_to_string(place.state().join("mcp-keys")).unwrap();
        let key = keys.split_whitespace().nth(1).unwrap().to_owned();
        Self { server, address, key }
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) fn send(&self, head: &str, body: &str) -> Answer {
        let mut stream = self.open(head, body);
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn open(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(stream, "{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        stream
    }

    /// The head of a valid request with this key.
    pub(crate) fn head(&self, key: &str, more: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream{more}",
            self.address
        )
    }

    /// Calls a tool. `None`: the connection was refused, or closed without an answer.
    pub(crate) fn try_call(&self, key: &str, tool: &str, arguments: Value) -> Option<Value> {
        let more = format!("\r\nMCP-Protocol-Version: {NEWER}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}");
        let params = with_all_facts(json!({"name": tool, "arguments": arguments, "_meta": meta(&json!({}))}));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (head, length) = (self.head(key, &more), body.len());
        write!(stream, "{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").ok()?;
        let mut text = String::new();
        let read = stream.read_to_string(&mut text);
        assert!(
            !read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
            "no answer: {text}"
        );
        let (_, body) = text.split_once("\r\n\r\n")?;
        let data =
            body.lines().filter_map(|line| line.strip_prefix("data: ")).rfind(|data| data.starts_with('{'));
        serde_json::from_str(data.unwrap_or(body)).ok()
    }

    /// Sends a request of the newer protocol.
    pub(crate) fn newer(&self, key: &str, method: &str, params: Value) -> Answer {
        self.newer_that_can(&json!({}), key, method, params)
    }

    /// Sends a request of the newer protocol, from a client with these capabilities.
    pub(crate) fn newer_that_can(
        &self,
        capabilities: &Value,
        key: &str,
        method: &str,
        mut params: Value,
    ) -> Answer {
        params = with_all_facts(params);
        let name = ["name", "taskId"].iter().find_map(|field| params.get(field)?.as_str());
        let name = name.map(|name| format!("\r\nMcp-Name: {name}"));
        let more =
            format!("\r\nMCP-Protocol-Version: {NEWER}\r\nMcp-Method: {method}{}", name.unwrap_or_default());
        params["_meta"] = meta(capabilities);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        self.send(&self.head(key, &more), &body)
    }

    pub(crate) fn call(&self, key: &str, tool: &str, arguments: Value) -> Value {
        self.newer(key, "tools/call", json!({"name": tool, "arguments": arguments})).message()["result"]
            .clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A line for the file of keys.
pub(crate) fn add_key(place: &Place, name: &str, key: &str) {
    let file = place.state().join("mcp-keys");
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    std::fs::write(&file, format!("{before}{name} {key}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    if let Some(user) = place.user {
        std::os::unix::fs::chown(&file, Some(user), Some(user)).unwrap();
    }
}
