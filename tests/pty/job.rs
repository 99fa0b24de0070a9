//! A background job with a terminal.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Place, wait_until};

/// A background job with a terminal. Dropping it stops the job.
pub(crate) struct Job<'a> {
    place: &'a Place,
    pub(crate) id: String,
    /// The answer to its start.
    pub(crate) report: Value,
}

impl<'a> Job<'a> {
    pub(crate) fn start(place: &'a Place, command: &str) -> Self {
        let report = place.call(&json!({"command": command, "pty": true, "background": true}));
        assert_eq!(report["status"], "running", "{report}");
        Self { place, id: report["id"].as_str().unwrap().to_owned(), report }
    }

    /// Runs `send` with these arguments.
    pub(crate) fn send(&self, args: &[&str]) -> Output {
        self.place.output(["send", &self.id].iter().chain(args))
    }

    /// Runs `send`, which must succeed.
    pub(crate) fn types(&self, args: &[&str]) {
        let output = self.send(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    /// Its whole output.
    pub(crate) fn printed(&self) -> String {
        let file = self.place.state().join("spool").join(format!("{}.stdout", self.id));
        String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned()
    }

    /// Waits until it has printed `text`.
    pub(crate) fn prints(&self, text: &str) {
        wait_until(text, || self.printed().contains(text));
    }

    /// Its entry in the list of jobs.
    pub(crate) fn listed(&self) -> Value {
        let output = self.place.output(["jobs", "--json"]);
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let jobs = listed["jobs"].as_array().or(listed.as_array()).unwrap();
        jobs.iter().find(|job| job["id"] == self.id.as_str()).cloned().unwrap_or_default()
    }

    pub(crate) fn waits_for_input(&self) -> bool {
        self.listed()["waiting_for_input"] == true
    }

    /// Its screen, as a model sees it.
    pub(crate) fn screen(&self) -> String {
        let output = self.place.output(["wait", &self.id, "--json", "--timeout", "1ms"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["stdout"].as_str().unwrap().to_owned()
    }

    /// Waits until it has ended. Returns the exit code.
    pub(crate) fn ends(&self) -> Option<i32> {
        self.place.output(["wait", &self.id]).status.code()
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        let _ = self.place.output(["stop", "--now", &self.id]);
    }
}
