//! A client of the newer protocol with the tasks extension.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::talk::{NEWER, Talk};
use crate::support::{PATIENCE, Place};

pub(crate) fn tasks() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

pub(crate) fn tasks_and_forms() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"form": {}}})
}

pub(crate) fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// A client of the newer protocol.
pub(crate) struct Client {
    pub(crate) talk: Talk,
    pub(crate) can: Value,
}

impl Client {
    pub(crate) fn new(place: &Place, flags: &[&str]) -> Self {
        Self { talk: Talk::silent(place, flags), can: tasks() }
    }

    pub(crate) fn strict(place: &Place, flags: &[&str], can: Value) -> Self {
        Self { talk: Talk::with(place.strictly(["mcp"].iter().chain(flags))), can }
    }

    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = meta(&self.can);
        self.talk.ask(method, params)
    }

    /// Calls the tool. Returns the result, of any kind.
    pub(crate) fn call(&mut self, arguments: &Value) -> Value {
        self.ask("tools/call", json!({"name": "shell", "arguments": arguments}))["result"].clone()
    }

    /// Calls the tool, which must be answered with a task. Returns the task's id.
    pub(crate) fn begin(&mut self, arguments: &Value) -> String {
        let answer = self.call(arguments);
        assert_eq!(answer["resultType"], "task", "{answer}");
        answer["taskId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn get(&mut self, id: &str) -> Value {
        let answer = self.ask("tasks/get", json!({"taskId": id}));
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        answer["result"].clone()
    }

    pub(crate) fn update(&mut self, id: &str, response: &Value) {
        let answer =
            self.ask("tasks/update", json!({"taskId": id, "inputResponses": {"approval": response}}));
        assert_eq!(answer["result"], json!({"resultType": "complete"}), "{answer}");
    }

    pub(crate) fn cancel(&mut self, id: &str) {
        let answer = self.ask("tasks/cancel", json!({"taskId": id}));
        assert_eq!(answer["result"], json!({"resultType": "complete"}), "{answer}");
    }

    /// Polls the task until it has ended.
    pub(crate) fn end(&mut self, id: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let task = self.get(id);
            if task["status"] != "working" {
                return task;
            }
            assert!(Instant::now() < until, "{task}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
