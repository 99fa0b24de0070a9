//! Jobs as tools for models: the same five for every dialect.
//!
//! A tool answers with facts as JSON, and with the same facts as text with a closing line, because some clients drop the
//! structured answer and others drop the text.

mod answered;
mod input;
mod output;
mod table;

use std::time::Duration;

use regex::bytes::Regex;
use serde::Serialize;
use serde_json::{Map, Value, json};
use shellgate_exec::{PerStream, Urgency};

use self::answered::{Answered, count_of};
pub use self::table::TOOLS;
use super::list::JobList;
use super::{Jobs, Port, WaitConditions, WaitControl};
use crate::answer::report::Report;
use crate::answer::{cost, lean};
use crate::intake::dialect::{Advertised, Arguments, ClosedText, Field, object_schema};
use crate::scope::ScopedGate;
use crate::settings::Limits;
use crate::text::Limit;
use crate::{Code, ErrorObject};

/// How long `shell_wait` waits by default: shorter than the timeouts of common clients.
const DEFAULT_WAIT: Duration = Duration::from_secs(45);

/// How many ended jobs a model is shown: the newest.
const MAX_ENDED_FOR_MODELS: usize = 32;

/// One tool.
#[derive(Debug)]
pub struct JobTool {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its description for models.
    pub about: &'static str,
    /// Whether it only reads.
    pub reads_only: bool,
    /// Whether it may destroy something.
    pub destroys: bool,
    fields: &'static [Field],
    /// The properties of its answer: name, JSON type, description.
    answer: &'static [(&'static str, &'static str, &'static str)],
    run: fn(&ScopedGate<'_>, &mut Arguments, Option<&WaitControl>) -> Result<Answered, ErrorObject>,
}

/// The answer of a tool.
#[derive(Clone, Debug)]
pub struct ToolAnswer {
    /// The answer as text, for models.
    pub text: String,
    /// The answer as JSON, for programs.
    pub structured: Value,
    /// Whether the tool refused to do anything.
    pub is_error: bool,
}

impl ToolAnswer {
    /// The answer of a tool that did nothing, and why.
    #[must_use]
    pub fn refused(error: &ErrorObject) -> Self {
        let text = ClosedText::of(&Report::of_error(error.clone())).to_string();
        let error = lean::without_nulls(error);
        Self { text, structured: json!({"status": "failed", "error": error}), is_error: true }
    }

    /// Adds commands that wait for a person's approval to a list of jobs: their facts, and a line for each.
    pub fn add_waiting(&mut self, facts: Vec<Value>, lines: &[String]) {
        let Some(jobs) = self.structured.get_mut("jobs").and_then(Value::as_array_mut) else { return };
        jobs.extend(facts);
        let count = count_of(jobs.len());
        let (listed, closing) = self.text.rsplit_once('\n').unwrap_or(("", &self.text));
        let others =
            closing.split_once(';').map_or_else(|| "]".to_owned(), |(_, others)| format!(";{others}"));
        let all = lines.iter().map(String::as_str).chain(listed.lines());
        let all: String = all.flat_map(|line| [line, "\n"]).collect();
        self.text = format!("{all}[{count}{others}");
    }
}

impl JobTool {
    /// The tool called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The JSON Schema of its arguments.
    #[must_use]
    pub fn input_schema(&self, advertised: Advertised) -> Value {
        object_schema(self.fields, advertised)
    }

    /// The JSON Schema of its answer. An error has `error` instead.
    #[must_use]
    pub fn output_schema(&self) -> Value {
        let property = |(name, kind, about): &(&str, &str, &str)| {
            let property = json!({"type": [kind, "null"], "description": about});
            ((*name).to_owned(), property)
        };
        let properties: Map<String, Value> = self.answer.iter().map(property).collect();
        json!({"type": "object", "properties": properties, "additionalProperties": true})
    }
}

impl ScopedGate<'_> {
    /// Runs a tool with arguments in JSON. An error is an answer too. `control` can cancel a tool that waits.
    #[must_use]
    pub fn job_tool(&self, tool: &JobTool, arguments: &str, control: Option<&WaitControl>) -> ToolAnswer {
        let answer = Arguments::read(arguments, tool.fields)
            .and_then(|mut arguments| (tool.run)(self, &mut arguments, control));
        match answer {
            Ok(Answered { facts, text }) => {
                let structured = Value::from(facts);
                let code = structured.pointer("/error/code").and_then(Value::as_str);
                let is_error = code.and_then(Code::named).is_some_and(Code::is_refusal);
                ToolAnswer { text: text.to_string(), structured, is_error }
            }
            Err(error) => ToolAnswer::refused(&error),
        }
    }
}

fn list(gate: &ScopedGate<'_>, _: &mut Arguments, _: Option<&WaitControl>) -> Result<Answered, ErrorObject> {
    let JobList { mut jobs, silent } = gate.jobs()?.list()?;
    let mut ended = 0;
    jobs.retain(|job| {
        ended += usize::from(job.status.is_final());
        !job.status.is_final() || ended <= MAX_ENDED_FOR_MODELS
    });
    let mut answered = Answered::list(&jobs);
    if let Some(error) = silent {
        answered.text.add("error", &error.message);
        answered.facts.insert("error".to_owned(), value(error));
    }
    Ok(answered)
}

fn wait(
    gate: &ScopedGate<'_>,
    arguments: &mut Arguments,
    control: Option<&WaitControl>,
) -> Result<Answered, ErrorObject> {
    let jobs = gate.jobs()?;
    let id = job_id(&jobs, arguments)?;
    let port = match arguments.number("port")? {
        None => None,
        Some(0) => Some(Port::Any),
        Some(port) => Some(Port::Is(u16::try_from(port).map_err(|_| {
            ErrorObject::invalid(format!("`port` is {port}, out of range"))
                .token("port")
                .hint("use 0 to 65535")
        })?)),
    };
    let conditions = WaitConditions {
        pattern: pattern(arguments, "pattern")?,
        from: PerStream { stdout: arguments.number("from")?.unwrap_or(0), stderr: 0 },
        port,
        silence: arguments.milliseconds("silence_ms")?.map(Duration::from_millis),
        timeout: Some(arguments.milliseconds("timeout_ms")?.map_or(DEFAULT_WAIT, Duration::from_millis)),
    };
    let waited = jobs.wait(&id, conditions, control)?;
    jobs.record_read(&id, cost::recorded(&waited.report));
    let mut answered = Answered::about(&waited.report);
    if let Value::Object(result) = value(&waited.result) {
        for (name, fact) in result {
            match name.as_str() {
                "stream" | "next" => answered.note(&name, fact),
                _ => answered.say(&name, fact),
            }
        }
    }
    Ok(answered)
}

fn stop(
    gate: &ScopedGate<'_>,
    arguments: &mut Arguments,
    _: Option<&WaitControl>,
) -> Result<Answered, ErrorObject> {
    let jobs = gate.jobs()?;
    let id = job_id(&jobs, arguments)?;
    let urgency = if arguments.flag("now")? == Some(true) { Urgency::Now } else { Urgency::Politely };
    // What it printed is known, or can be read.
    let report = jobs.stop(&id, urgency)?;
    Ok(Answered::about(&Report { stdout: String::new(), stderr: String::new(), condensed: None, ..report }))
}

/// The id of the job that the arguments name.
fn job_id(jobs: &Jobs<'_>, arguments: &mut Arguments) -> Result<String, ErrorObject> {
    let name = arguments.text("job")?.unwrap_or_default();
    jobs.find(&name).map(|execution| execution.id)
}

/// How much of a stream one answer shows.
fn answer_limit(limits: &Limits) -> Limit {
    Limit::Tokens(usize::try_from(limits.answer_tokens).unwrap_or(usize::MAX))
}

fn pattern(arguments: &mut Arguments, field: &'static str) -> Result<Option<Regex>, ErrorObject> {
    let Some(text) = arguments.text(field)? else { return Ok(None) };
    Regex::new(&text).map(Some).map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        ErrorObject::invalid(format!("`{field}` is no regular expression: {last}")).token(text)
    })
}

/// The content as JSON. Strings, numbers and lists always serialize.
fn value(content: impl Serialize) -> Value {
    serde_json::to_value(content)
        .unwrap_or_else(|error| json!(ErrorObject::new(Code::Config, error.to_string())))
}
