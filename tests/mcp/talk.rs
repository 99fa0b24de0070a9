//! A minimal MCP client that writes and reads lines.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::{PATIENCE, Place};

/// The newest protocol version that begins with `initialize`.
pub(crate) const OLDER: &str = "2025-11-25";
/// The protocol version without `initialize`.
pub(crate) const NEWER: &str = "2026-07-28";

/// A call that asks for all facts, as most tests look at them, unless it says what it wants.
pub(crate) fn with_all_facts(mut params: Value) -> Value {
    if params["name"] == "shell"
        && let Some(arguments) = params.get_mut("arguments").and_then(Value::as_object_mut)
    {
        arguments.entry("detail").or_insert_with(|| "full".into());
    }
    params
}

/// A server and the ends of its pipes.
pub(crate) struct Talk {
    pub(crate) server: Child,
    pub(crate) to: Option<ChildStdin>,
    from: Receiver<String>,
    /// While this is locked, the server's output is not read.
    reading: Arc<Mutex<()>>,
    /// Messages that came while another message was awaited.
    pub(crate) heard: VecDeque<Value>,
    next: u64,
}

impl Talk {
    /// Starts `shellgate mcp FLAGS` and sends nothing.
    pub(crate) fn silent(place: &Place, flags: &[&str]) -> Self {
        Self::with(place.shellgate(["mcp"].iter().chain(flags)))
    }

    pub(crate) fn with(mut command: Command) -> Self {
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let reading = Arc::default();
        let (to, from) = (server.stdin.take(), read(server.stdout.take().unwrap(), Arc::clone(&reading)));
        Self { server, to, from, reading, heard: VecDeque::new(), next: 0 }
    }

    /// Starts `command` and sends `initialize` as an older client with these capabilities.
    pub(crate) fn begin(command: Command, capabilities: &Value) -> Self {
        let mut talk = Self::with(command);
        let hello = json!({
            "protocolVersion": OLDER, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "0"},
        });
        let answer = talk.ask("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], OLDER, "{answer}");
        talk.tell("notifications/initialized", json!({}));
        talk
    }

    /// Starts `shellgate mcp` in this place, whose settings never ask.
    pub(crate) fn new(place: &Place) -> Self {
        Self::begin(place.shellgate(["mcp"]), &json!({}))
    }

    pub(crate) fn line(&mut self, line: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line).unwrap();
        to.write_all(b"\n").unwrap();
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.line(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string().as_bytes());
    }

    /// Sends a request. Returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let params = with_all_facts(params);
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.line(request.to_string().as_bytes());
        self.next
    }

    /// The next message for which `wanted` is true.
    pub(crate) fn hear(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return self.heard.remove(at).unwrap();
        }
        loop {
            let line =
                self.from.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error}: {:?}", self.heard));
            let message: Value = serde_json::from_str(&line).unwrap();
            if wanted(&message) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    /// Sends `initialize`. `None`: the server has closed its output.
    pub(crate) fn try_begin(&mut self) -> Option<()> {
        let hello = json!({
            "protocolVersion": OLDER, "capabilities": {}, "clientInfo": {"name": "test", "version": "0"},
        });
        self.try_ask("initialize", hello)?;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}});
        writeln!(self.to.as_mut().unwrap(), "{ready}").ok()
    }

    /// Calls the tool. `None`: the server has closed its output before it answered.
    pub(crate) fn try_call(&mut self, arguments: Value) -> Option<Value> {
        self.try_ask("tools/call", json!({"name": "shell", "arguments": arguments}))
    }

    /// Sends a request. `None`: the server has closed its output before it answered.
    pub(crate) fn try_ask(&mut self, method: &str, params: Value) -> Option<Value> {
        self.next += 1;
        let params = with_all_facts(params);
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        // The server may have ended already.
        writeln!(self.to.as_mut().unwrap(), "{request}").ok()?;
        self.try_answer(self.next)
    }

    /// The answer to a request. `None`: the server has closed its output before it answered.
    pub(crate) fn try_answer(&mut self, id: u64) -> Option<Value> {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        if let Some(at) = self.heard.iter().position(is_it) {
            return self.heard.remove(at);
        }
        loop {
            match self.from.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let message: Value = serde_json::from_str(&line).unwrap();
                    if is_it(&message) {
                        return Some(message);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(error) => panic!("no answer: {error}"),
            }
        }
    }

    /// Whether the answer to a request has come.
    pub(crate) fn has_answer(&mut self, id: u64) -> bool {
        let new = self.from.try_iter().map(|line| serde_json::from_str::<Value>(&line).unwrap());
        self.heard.extend(new);
        self.heard.iter().any(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.hear(|message| message["id"] == id && message.get("method").is_none())
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Calls the tool. Returns the request's id.
    pub(crate) fn call(&mut self, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": "shell", "arguments": arguments}))
    }

    /// Calls the tool. Returns the structured answer.
    pub(crate) fn run(&mut self, arguments: Value) -> Value {
        let id = self.call(arguments);
        let answer = self.answer(id);
        answer["result"]["structuredContent"].clone()
    }

    /// Closes the server's input and waits until the server has ended. Returns the exit status.
    pub(crate) fn leave(mut self) -> std::process::ExitStatus {
        drop(self.to.take());
        self.server.wait().unwrap()
    }

    /// Stops reading the server's output. One more line may still be read.
    pub(crate) fn stop_reading(&self) {
        std::mem::forget(self.reading.lock().unwrap());
    }

    /// All further lines until the server ends.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.from.iter().collect()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn read(from: ChildStdout, reading: Arc<Mutex<()>>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            drop(reading.lock().unwrap());
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
