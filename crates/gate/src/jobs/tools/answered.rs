//! What a tool about jobs answers: the facts that say something, and the same as text with a closing line.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::value;
use crate::answer::lean;
use crate::answer::report::Report;
use crate::intake::dialect::ClosedText;
use crate::jobs::list::JobSummary;
use crate::text::quoted;

/// What models are told of each job in a list, if it says something.
const LISTED: &[&str] = &[
    "id",
    "status",
    "command",
    "pid",
    "age_ms",
    "ports",
    "exit_code",
    "signal",
    "waiting_for_input",
    "last_line",
];

/// Facts of an answer, with the text that a model reads.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) facts: Map<String, Value>,
    pub(super) text: ClosedText,
}

impl Answered {
    /// About one job: its state, and its output as the report shows it.
    pub(super) fn about(report: &Report) -> Self {
        let mut facts = Map::new();
        facts.insert("id".to_owned(), json!(report.id));
        facts.insert("status".to_owned(), json!(report.status));
        facts.extend(lean::facts(report));
        Self { facts, text: ClosedText::of(report) }
    }

    /// Adds a fact for programs, if it says something. Models have no use for it.
    pub(super) fn note(&mut self, name: &str, fact: impl Serialize) {
        let fact = value(fact);
        if says_something(&fact) {
            self.facts.insert(name.to_owned(), fact);
        }
    }

    /// Adds a fact, if it says something.
    pub(super) fn say(&mut self, name: &str, fact: impl Serialize) {
        let fact = value(fact);
        if !says_something(&fact) {
            return;
        }
        match fact.as_str() {
            // A line that the job printed may be among them.
            Some(text) => self.text.add_foreign(name, text),
            None => self.text.add(name, &fact.to_string()),
        }
        self.facts.insert(name.to_owned(), fact);
    }

    /// The jobs of a session.
    pub(super) fn list(jobs: &[JobSummary]) -> Self {
        let rows: Vec<Map<String, Value>> = jobs.iter().map(row).collect();
        let lines: Vec<String> = rows.iter().map(line).collect();
        Self {
            facts: Map::from_iter([("jobs".to_owned(), json!(rows))]),
            text: ClosedText::new(&lines.join("\n"), count_of(rows.len())),
        }
    }
}

/// How many jobs there are.
pub(super) fn count_of(jobs: usize) -> String {
    match jobs {
        0 => "no jobs".to_owned(),
        1 => "1 job".to_owned(),
        count => format!("{count} jobs"),
    }
}

/// A job in a list: what says something of it.
fn row(job: &JobSummary) -> Map<String, Value> {
    let Value::Object(mut all) = value(job) else { return Map::new() };
    if job.status.is_final() {
        // It may be another's by now.
        all.remove("pid");
    }
    let named = LISTED.iter().filter_map(|name| Some(((*name).to_owned(), all.remove(*name)?)));
    named.filter(|(_, fact)| says_something(fact)).collect()
}

/// A job as a line: id, status, and the rest by name. What a job printed, or a command says, is in quotes.
fn line(row: &Map<String, Value>) -> String {
    let shown = row.iter().map(|(name, fact)| match (name.as_str(), fact.as_str()) {
        ("id" | "status", Some(word)) => word.to_owned(),
        (name, Some(text)) => format!("{name}={}", quoted(text)),
        (name, None) => match fact.get("name").and_then(Value::as_str) {
            Some(signal) => format!("{name}={signal}"),
            None => format!("{name}={fact}"),
        },
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Whether a fact is more than "no", "none" or "nothing".
fn says_something(fact: &Value) -> bool {
    match fact {
        Value::Null => false,
        Value::Bool(said) => *said,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}
