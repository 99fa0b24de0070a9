//! Two servers over HTTP and their clients. One server is never killed; the other one is started again when it has ended.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::place::Place;
use super::watchdog::HANG_TIMEOUT;
use super::{Soak, lock};

const VERSION: &str = "2026-07-28";
const SUPERVISION_INTERVAL: Duration = Duration::from_millis(100);
/// How long a server may take to end after `SIGTERM`.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Sites {
    pub(super) steady: Site,
    pub(super) other: Site,
}

/// A server and where it is.
pub(super) struct Site {
    is_steady: bool,
    server: Mutex<Server>,
}

struct Server {
    process: Child,
    address: String,
    key: String,
}

impl Sites {
    pub(super) fn start(place: &Place) -> Result<Self, String> {
        let site =
            |is_steady| Ok::<_, String>(Site { is_steady, server: Mutex::new(serve(place, is_steady)?) });
        Ok(Self { steady: site(true)?, other: site(false)? })
    }

    /// Starts servers again that have ended, until the soak is done. Then ends them.
    pub(super) fn supervise(&self, soak: &Soak) {
        let mut is_told = false;
        while !soak.is_done() {
            std::thread::sleep(SUPERVISION_INTERVAL);
            for site in [&self.steady, &self.other] {
                let ended = lock(&site.server).process.try_wait().ok().flatten();
                let Some(status) = ended else { continue };
                if site.is_steady && !is_told {
                    is_told = true;
                    soak.tally.wrong("steady server", format!("it has ended: {status}"));
                }
                // While it can't start because of a fault, its clients are refused.
                if let Ok(server) = serve(&soak.place, site.is_steady) {
                    *lock(&site.server) = server;
                }
            }
        }
        for site in [&self.steady, &self.other] {
            site.leave(soak);
        }
    }
}

/// Starts a server at a free port.
fn serve(place: &Place, is_steady: bool) -> Result<Server, String> {
    let session = if is_steady { "steady-http" } else { "http" };
    let mut command = place.server(session, is_steady, &["--http", "0"]);
    let mut process = command.stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let mut lines = BufReader::new(process.stderr.take().ok_or("no standard error")?).lines();
    let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, rest) = line.split_once("http://")?;
        Some(rest.split('/').next()?.to_owned())
    });
    // What it says later is read as well, so that it never waits for a reader.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    let keys =
        std::fs::read_to_string(place.state().join("mcp-keys")).map_err(|error| format!("keys: {error}"));
    let key = keys.as_ref().ok().and_then(|keys| keys.split_whitespace().nth(1)).map(str::to_owned);
    match (address, key) {
        (Some(address), Some(key)) => Ok(Server { process, address, key }),
        _ => {
            let _ = process.kill();
            let _ = process.wait();
            Err("the server over HTTP doesn't start".to_owned())
        }
    }
}

impl Site {
    pub(super) const fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// Calls a tool over a new connection. An error: it was refused, or closed without an answer.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let (address, key) = {
            let server = lock(&self.server);
            (server.address.clone(), server.key.clone())
        };
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: {VERSION}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut text = String::new();
        let read = || -> std::io::Result<usize> {
            let mut stream = TcpStream::connect(&address)?;
            stream.set_read_timeout(Some(HANG_TIMEOUT))?;
            write!(stream, "{head}{body}")?;
            stream.read_to_string(&mut text)
        };
        if let Err(error) = { read }() {
            return Err(match error.kind() {
                std::io::ErrorKind::WouldBlock => format!("hang: no answer to {params}: {text}"),
                kind => format!("connection closed: {kind}"),
            });
        }
        let Some((_, body)) = text.split_once("\r\n\r\n") else { return Err("connection closed".to_owned()) };
        let mut data = body.lines().filter_map(|line| line.strip_prefix("data: "));
        let data = data.rfind(|data| data.starts_with('{'));
        serde_json::from_str(data.unwrap_or(body)).map_err(|_| {
            let status = text.lines().next().unwrap_or_default();
            format!("no answer in the body, {status}")
        })
    }

    /// Ends the server.
    fn leave(&self, soak: &Soak) {
        let mut server = lock(&self.server);
        if matches!(server.process.try_wait(), Ok(None)) {
            let _ = kill_process(Pid::from_child(&server.process), Signal::TERM);
        }
        let until = std::time::Instant::now() + LEAVE_TIMEOUT;
        while matches!(server.process.try_wait(), Ok(None)) {
            if std::time::Instant::now() > until {
                soak.tally.wrong("hang", "a server over HTTP goes on after SIGTERM".to_owned());
                let _ = server.process.kill();
                let _ = server.process.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
