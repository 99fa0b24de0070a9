//! A client of a server over standard input and output. It starts the server again when it has ended.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Soak;
use super::place::Place;
use super::watchdog::HANG_TIMEOUT;

/// How long a server may take to end after its input was closed.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Client {
    session: String,
    is_steady: bool,
    has_been_connected: bool,
    connection: Option<Connection>,
}

struct Connection {
    server: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
    last_id: u64,
}

impl Client {
    pub(super) fn new(number: usize, is_steady: bool) -> Self {
        let session = format!("{}{number}", if is_steady { "steady" } else { "stdio" });
        Self { session, is_steady, has_been_connected: false, connection: None }
    }

    pub(super) const fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// Starts the server if none runs.
    pub(super) fn connect(&mut self, place: &Place) -> Result<(), String> {
        if self.connection.is_some() {
            return Ok(());
        }
        if self.is_steady && self.has_been_connected {
            return Err("the server has ended".to_owned());
        }
        self.has_been_connected = true;
        let mut command = place.server(&self.session, self.is_steady, &[]);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = spawned.map_err(|error| format!("no server: {error}"))?;
        let (requests, output) = (server.stdin.take(), server.stdout.take());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            lines.map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        self.connection = Some(Connection { server, requests, answers, last_id: 0 });
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "0"},
        });
        self.ask("initialize", &hello)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}))
    }

    /// Calls a tool. An error: there is no answer, and the server has ended or was ended.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let answer = self.exchange(method, params);
        if answer.is_err() {
            self.connection = None;
        }
        answer
    }

    fn exchange(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let id = self.connection.as_mut().map_or(0, |connection| {
            connection.last_id += 1;
            connection.last_id
        });
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let until = Instant::now() + HANG_TIMEOUT;
        loop {
            let connection = self.connection.as_ref().ok_or("not connected")?;
            match connection.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let message: Value =
                        serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
                    if message["id"] == id && message.get("method").is_none() {
                        return Ok(message);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err("connection closed".to_owned()),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("hang: no answer to {method} {params}"));
                }
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let requests = self.connection.as_mut().and_then(|connection| connection.requests.as_mut());
        let sent = requests.ok_or("not connected").map(|requests| writeln!(requests, "{message}"));
        sent?.map_err(|error| format!("connection closed: {}", error.kind()))
    }

    /// Closes the server's input, which ends it.
    pub(super) fn leave(&mut self, soak: &Soak) {
        let Some(connection) = &mut self.connection else { return };
        drop(connection.requests.take());
        let until = Instant::now() + LEAVE_TIMEOUT;
        while matches!(connection.server.try_wait(), Ok(None)) {
            if Instant::now() > until {
                soak.tally.wrong("hang", "a server goes on after its input was closed".to_owned());
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.connection = None;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
