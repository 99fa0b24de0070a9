//! Runs a check with the real binary, and compares the result.

use std::process::{Output, Stdio};

use regex::Regex;
use serde_json::Value;

use super::table::{Check, Row};
use super::view;
use crate::support::interrupt::output_interrupted;
use crate::support::{Place, is_alive, kill, mark, programs, shellgate};

/// The problems that were found, as sentences.
pub(crate) type Complaints = Vec<String>;

/// Runs the checks of a row one after the other, in a place of its own.
pub(crate) fn row(dialect: &str, row: &Row, user: Option<u32>) -> Complaints {
    let place = Place::new(user);
    let run = Run { place: &place, dialect, mark: mark() };
    let mut complaints = Vec::new();
    for (at, check) in row.check.iter().enumerate() {
        let seen = if check.schema { run.schema(check) } else { run.call(check) };
        complaints.extend(seen.into_iter().map(|complaint| format!("check {}: {complaint}", at + 1)));
    }
    place.assert_nothing_is_left();
    complaints
}

struct Run<'a> {
    place: &'a Place,
    dialect: &'a str,
    /// For `sleep`, so that its processes are recognised.
    mark: String,
}

impl Run<'_> {
    /// Fills in the names of places, the tests' PATH and the mark.
    fn fill(&self, text: &str) -> String {
        let shown = |path: std::path::PathBuf| path.canonicalize().unwrap().display().to_string();
        text.replace("{root}", &shown(self.place.root()))
            .replace("{home}", &shown(self.place.home()))
            .replace("{path}", &programs())
            .replace("{mark}", &self.mark)
    }

    fn call(&self, check: &Check) -> Complaints {
        if let Some(setup) = &check.setup {
            let output = self.place.program("bash").args(["-ec", &self.fill(setup)]).output().unwrap();
            assert!(output.status.success(), "{setup}: {output:?}");
        }
        let (output, mut complaints) = self.output(check);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        complaints.extend(check.after.as_ref().and_then(|script| self.script(script)));
        if output.status.code() != Some(check.exit) {
            complaints.push(format!("`shellgate` exits with {}, not {}", output.status, check.exit));
        }
        match view::answer(&text, check.flags.iter().any(|flag| flag == "--events")) {
            Ok(answer) => {
                complaints.extend(self.compare(check, &answer, &text));
                complaints.extend(self.background(check, &answer));
            }
            Err(error) => complaints.push(error),
        }
        for (names, wanted) in [(&check.exists, true), (&check.missing, false)] {
            for name in names {
                if self.place.root().join(name).exists() != wanted {
                    complaints.push(format!("`{name}` {}", if wanted { "is not there" } else { "is there" }));
                }
            }
        }
        if !complaints.is_empty() {
            complaints.push(format!("the answer was: {text}{}", String::from_utf8_lossy(&output.stderr)));
        }
        complaints
    }

    /// Runs a bash script from outside the call, as at another terminal. Returns an error message if it fails.
    fn script(&self, script: &str) -> Option<String> {
        let sg = format!("sg() {{ {} \"$@\"; }}; {}", shellgate().display(), self.fill(script));
        let output = self.place.program("timeout").args(["60", "bash", "-ec", &sg]).output().unwrap();
        (!output.status.success()).then(|| format!("`{script}` failed: {output:?}"))
    }

    fn output(&self, check: &Check) -> (Output, Complaints) {
        let mut words = vec!["call".to_owned(), "--dialect".to_owned(), self.dialect.to_owned()];
        // Only rows with a config or `--approve` test approvals. The others run without asking.
        if check.config.is_none() && !check.flags.iter().any(|flag| flag == "--approve") {
            words.extend(["--approve", "allow"].map(str::to_owned));
        }
        if let Some(config) = &check.config {
            let name = if config.trim_start().starts_with('{') { "settings.json" } else { "settings.toml" };
            let path = self.place.home().join(name);
            std::fs::write(&path, self.fill(config)).unwrap();
            if let Some(user) = self.place.user {
                std::os::unix::fs::chown(&path, Some(user), Some(user)).unwrap();
            }
            words.extend(["--config".to_owned(), path.display().to_string()]);
        }
        words.extend(check.flags.iter().map(|flag| self.fill(flag)));
        words.push(self.fill(&check.call));
        let mut command = self.place.strictly(&words);
        command.envs(check.env.iter().map(|(name, value)| (name, self.fill(value))));
        match (&check.interrupt_when, &check.meanwhile) {
            (Some(file), _) => (output_interrupted(&mut command, &self.place.root().join(file)), Vec::new()),
            (None, Some(script)) => {
                let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
                let complaint = self.script(script);
                if complaint.is_some() {
                    let _ = child.kill();
                }
                (child.wait_with_output().unwrap(), complaint.into_iter().collect())
            }
            (None, None) => (command.output().unwrap(), Vec::new()),
        }
    }

    fn schema(&self, check: &Check) -> Complaints {
        let output = self.place.output(["schema", "--dialect", self.dialect]);
        let text = String::from_utf8_lossy(&output.stdout);
        match view::schema(&text) {
            Ok(schema) => {
                let all = schema.get("all").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.compare(check, &schema, &all)
            }
            Err(error) => vec![error],
        }
    }

    fn compare(&self, check: &Check, answer: &Value, text: &str) -> Complaints {
        let mut complaints = Vec::new();
        let mut unless = |holds: bool, complaint: String| {
            if !holds {
                complaints.push(complaint);
            }
        };
        let shown = |pointer: &String| answer.pointer(pointer).map(plain);
        for (pointer, wanted) in &check.is {
            let wanted = match wanted {
                Value::String(text) => Value::from(self.fill(text)),
                other => other.clone(),
            };
            let seen = answer.pointer(pointer);
            unless(seen == Some(&wanted), format!("{pointer} is {seen:?}, not {wanted}"));
        }
        for (pointer, pattern) in &check.like {
            let seen = shown(pointer);
            let holds = seen.as_ref().is_some_and(|seen| self.pattern(pattern).is_match(seen));
            unless(holds, format!("{pointer} is {seen:?}, not like {pattern}"));
        }
        for (pointer, wanted) in &check.bytes {
            let seen = shown(pointer).map(|text| text.len());
            unless(seen == Some(*wanted), format!("{pointer} has {seen:?} bytes, not {wanted}"));
        }
        for pointer in &check.null {
            unless(answer.pointer(pointer) == Some(&Value::Null), format!("{pointer} is not null"));
        }
        for pointer in &check.absent {
            unless(answer.pointer(pointer).is_none(), format!("{pointer} is there"));
        }
        for pattern in &check.text {
            unless(self.pattern(pattern).is_match(text), format!("nothing is like {pattern}"));
        }
        let same: Vec<_> =
            check.same.iter().map(|pointer| shown(pointer).map(|text| text.trim().to_owned())).collect();
        let equal =
            same.windows(2).all(|pair| pair.first() == pair.last() && pair.iter().all(Option::is_some));
        unless(equal, format!("{:?} are {same:?}, not the same", check.same));
        if let Some(wanted) = &check.keys {
            let keys =
                answer.as_object().map(|entries| entries.keys().cloned().collect::<Vec<_>>().join(" "));
            unless(keys.as_ref() == Some(wanted), format!("the keys are {keys:?}, not {wanted:?}"));
        }
        complaints
    }

    /// The background processes that an answer lists: they must be as many as said and alive. They are
    /// ended here.
    fn background(&self, check: &Check, answer: &Value) -> Complaints {
        let pids: Vec<u64> = match (answer.pointer("/backgroundPids"), answer.pointer("/Background PIDs")) {
            (Some(list), _) => list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect(),
            (_, Some(text)) => plain(text).split(", ").filter_map(|pid| pid.parse().ok()).collect(),
            _ => Vec::new(),
        };
        let processes: Vec<u64> = pids.iter().filter_map(|pid| self.place.process(*pid)).collect();
        let alive = processes.iter().filter(|pid| is_alive(**pid)).count();
        if !check.leave {
            processes.into_iter().for_each(kill);
        }
        match check.background {
            Some(wanted) if pids.len() != wanted || alive != wanted => {
                vec![format!(
                    "{} background processes are listed and {alive} alive, not {wanted}",
                    pids.len()
                )]
            }
            _ => Vec::new(),
        }
    }

    fn pattern(&self, pattern: &str) -> Regex {
        Regex::new(&self.fill(pattern)).unwrap()
    }
}

/// A text as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
