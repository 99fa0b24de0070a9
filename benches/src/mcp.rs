//! The server, with the smallest client there can be.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// `shellgate mcp` over its standard input and output.
pub(crate) struct Server {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    count: u32,
}

impl Server {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a server");
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("its output"));
        let mut server = Self { child, requests, answers, count: 0 };
        let client = r#""clientInfo":{"name":"bench","version":"0"}"#;
        server.ask("initialize", &format!(r#""protocolVersion":"2025-06-18","capabilities":{{}},{client}"#));
        server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        server
    }

    /// Calls the tool, and waits for the answer.
    pub(crate) fn call(&mut self, command: &str) {
        let answer =
            self.ask("tools/call", &format!(r#""name":"shell","arguments":{{"command":"{command}"}}"#));
        assert!(answer.contains(r#""status":"completed""#), "{answer}");
    }

    fn ask(&mut self, method: &str, params: &str) -> String {
        self.count += 1;
        let id = self.count;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#));
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("an answer");
        answer
    }

    fn send(&mut self, message: &str) {
        let requests = self.requests.as_mut().expect("its input");
        requests.write_all(format!("{message}\n").as_bytes()).expect("it reads");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
