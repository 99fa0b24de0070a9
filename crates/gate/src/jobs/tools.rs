//! Jobs as tools for models: the same five for every dialect. A tool is a row: what it is called, what it takes, what it does.
//!
//! What they answer is JSON, and the text that a model gets is that JSON: clients drop the one or the other.

use std::time::Duration;

use regex::bytes::Regex;
use serde::Serialize;
use serde_json::{Map, Value, json};
use shellgate_exec::{PerStream, Urgency};

use super::{Cancel, Jobs, Port, Until, output_tool};
use crate::gate::Gate;
use crate::intake::dialect::{Arguments, Field, Kind, object_schema};
use crate::{Code, ErrorObject};

/// How long a wait lasts that says nothing about it: less than common clients' patience.
const WAIT: Duration = Duration::from_secs(45);

/// So many that have ended are told a model: the newest.
const MOST_ENDED: usize = 32;

/// One tool.
#[derive(Debug)]
pub struct JobTool {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, for the model.
    pub about: &'static str,
    /// Whether it changes nothing.
    pub reads_only: bool,
    /// Whether it may destroy something.
    pub destroys: bool,
    fields: &'static [Field],
    /// The properties of its answer: name, JSON type, what it means.
    answer: &'static [(&'static str, &'static str, &'static str)],
    run: fn(&Gate, &mut Arguments, Option<&Cancel>) -> Result<Value, ErrorObject>,
}

/// What a tool answers.
#[derive(Clone, Debug)]
pub struct ToolAnswer {
    /// For the model.
    pub text: String,
    /// The same, for programs.
    pub structured: Value,
    /// Whether nothing was done.
    pub is_error: bool,
}

const JOB: Field = Field::new("job", Kind::Text, "The job's id.").required().or(&["id", "job_id"]);

/// What every answer about one job has.
const STATUS: (&str, &str, &str) =
    ("status", "string", "queued, starting, running, completed, failed, canceled or timed_out");

/// The tools.
pub static TOOLS: &[JobTool] = &[
    JobTool {
        name: "shell_jobs",
        title: "List jobs",
        about: "Lists the jobs of this session: commands that run in the background, what commands left running, and what \
                ended lately, each with id, status, age, CPU time, memory, ports and last line.",
        reads_only: true,
        destroys: false,
        fields: &[],
        answer: &[("jobs", "array", "The jobs, running ones first.")],
        run: jobs,
    },
    JobTool {
        name: "shell_output",
        title: "Read a job's output",
        about: "Reads what a job has printed, while it runs or after its end: all of it, or a part. To read on, give the \
                `stdout_next` of the last answer as `from`. To wait for more, use shell_wait instead of reading again.",
        reads_only: true,
        destroys: false,
        fields: &[
            JOB,
            Field::new("stream", Kind::OneOf(&["stdout", "stderr", "both"]), "Which stream. Default: both."),
            Field::new("from", Kind::Number, "From this byte of the stream on. Default: 0."),
            Field::new("to", Kind::Number, "Up to this byte. Default: the end."),
            Field::new("lines", Kind::Number, "Only the last so many lines."),
            Field::new("since_ms", Kind::Milliseconds, "Only what came in the last so many milliseconds."),
            Field::new("grep", Kind::Text, "Only lines in which this regular expression is found."),
            Field::new("raw", Kind::Flag, "true: with control codes."),
        ],
        answer: &[
            STATUS,
            ("exit_code", "integer", "Its exit code, once it has ended by itself."),
            ("stdout", "string", "Standard output."),
            ("stdout_next", "integer", "The byte after the last one read."),
            ("stderr", "string", "Standard error."),
            ("stderr_next", "integer", "The byte after the last one read."),
            ("truncated", "boolean", "Whether something of that part was left out."),
        ],
        run: output_tool::output,
    },
    JobTool {
        name: "shell_wait",
        title: "Wait for a job",
        about: "Waits until a job ends, or earlier: until it prints a line that matches `pattern`, listens on a `port`, or is \
                silent for `silence_ms`. Answers at once when that has happened already. Use it instead of asking again and \
                again.",
        reads_only: true,
        destroys: false,
        fields: &[
            JOB,
            Field::new("pattern", Kind::Text, "A regular expression, looked for in each line."),
            Field::new("from", Kind::Number, "Where in standard output the search begins. Default: 0."),
            Field::new("port", Kind::Number, "A port that it should listen on; 0: any."),
            Field::new("silence_ms", Kind::Milliseconds, "Milliseconds without output."),
            Field::new(
                "timeout_ms",
                Kind::Milliseconds,
                "How long to wait at most. Default: 45000. The job goes on; wait again.",
            ),
        ],
        answer: &[
            ("reason", "string", "ended, matched, listening, silent, timed_out (of waiting) or canceled"),
            STATUS,
            ("exit_code", "integer", "Its exit code, once it has ended by itself."),
            ("line", "string", "The line that matched."),
            ("ports", "array", "The ports that it listens on."),
        ],
        run: wait,
    },
    JobTool {
        name: "shell_input",
        title: "Type at a job",
        about: "Types at a job that was started with `pty`: an answer, a command for its shell, a key. Then waits a moment and \
                answers with what it printed since, or with its screen when a full-screen program draws on it. A command for a \
                shell must be whole: one call a command. For what other interpreters run, the user is asked.",
        reads_only: false,
        destroys: true,
        fields: &[
            JOB,
            Field::new("text", Kind::Text, "What to type. Enter is pressed behind it.").or(&["input"]),
            Field::new("newline", Kind::Flag, "false does not press Enter behind the text. Default: true."),
            Field::new(
                "keys",
                Kind::Texts,
                "Keys to press behind that: C-c, C-d, Enter, Tab, Esc, Up, F5 and so on.",
            ),
            Field::new("eof", Kind::Flag, "true ends the input, last of all. Default: false."),
            Field::new(
                "wait_ms",
                Kind::Milliseconds,
                "How long to wait at most for what it prints. Default: 1000. It answers sooner when it waits for input again.",
            ),
        ],
        answer: &[
            STATUS,
            ("exit_code", "integer", "Its exit code, if it has ended by itself."),
            ("waiting_for_input", "boolean", "Whether it waits for somebody to type."),
            ("screen", "boolean", "Whether `stdout` is its screen and not what it printed."),
            ("stdout", "string", "What it printed since, or its screen."),
            ("stdout_next", "integer", "The byte after the last one read, for shell_output."),
        ],
        run: super::input_tool::tool,
    },
    JobTool {
        name: "shell_stop",
        title: "Stop a job",
        about: "Stops a job with everything that it started, and answers when all of it has ended.",
        reads_only: false,
        destroys: true,
        fields: &[
            JOB,
            Field::new("now", Kind::Flag, "true kills at once, without time to clean up. Default: false."),
        ],
        answer: &[STATUS, ("exit_code", "integer", "Its exit code, if it ended by itself.")],
        run: stop,
    },
];

impl JobTool {
    /// The tool called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// What it takes, as JSON Schema.
    #[must_use]
    pub fn input_schema(&self) -> Value {
        object_schema(self.fields)
    }

    /// What it answers, as JSON Schema. An error has `error` instead.
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

impl Gate {
    /// Runs a tool about jobs, from its arguments as JSON to its answer. Never fails: an error is an answer too. `cancel` ends
    /// a wait before its time.
    #[must_use]
    pub fn job_tool(&self, tool: &JobTool, arguments: &str, cancel: Option<&Cancel>) -> ToolAnswer {
        let answer = Arguments::read(arguments, tool.fields)
            .and_then(|mut arguments| (tool.run)(self, &mut arguments, cancel));
        match answer {
            Ok(structured) => {
                let code = structured.pointer("/error/code").and_then(Value::as_str);
                let is_error = code.and_then(Code::named).is_some_and(Code::is_refusal);
                ToolAnswer { text: structured.to_string(), structured, is_error }
            }
            Err(mut error) => {
                // Models have a tool for it, and perhaps no command line.
                error.hint = error.hint.map(|hint| hint.replace("`shellgate jobs`", "`shell_jobs`"));
                let structured = json!({"status": "failed", "error": error});
                ToolAnswer { text: structured.to_string(), structured, is_error: true }
            }
        }
    }
}

fn jobs(gate: &Gate, _: &mut Arguments, _: Option<&Cancel>) -> Result<Value, ErrorObject> {
    let mut jobs = gate.jobs()?.list()?;
    let mut ended = 0;
    jobs.retain(|job| {
        ended += usize::from(job.status.is_final());
        !job.status.is_final() || ended <= MOST_ENDED
    });
    Ok(json!({"jobs": jobs}))
}

fn wait(gate: &Gate, arguments: &mut Arguments, cancel: Option<&Cancel>) -> Result<Value, ErrorObject> {
    let jobs = gate.jobs()?;
    let id = job(&jobs, arguments)?;
    let port = match arguments.number("port")? {
        None => None,
        Some(0) => Some(Port::Any),
        Some(port) => Some(Port::Is(u16::try_from(port).map_err(|_| {
            ErrorObject::invalid(format!("`port` is {port}, out of range"))
                .token("port")
                .hint("use 0 to 65535")
        })?)),
    };
    let until = Until {
        pattern: pattern(arguments, "pattern")?,
        from: PerStream { stdout: arguments.number("from")?.unwrap_or(0), stderr: 0 },
        port,
        silence: arguments.milliseconds("silence_ms")?.map(Duration::from_millis),
        timeout: Some(arguments.milliseconds("timeout_ms")?.map_or(WAIT, Duration::from_millis)),
    };
    let waited = jobs.wait(&id, until, cancel)?;
    let mut answer = Map::new();
    extend(&mut answer, &waited.met);
    extend(&mut answer, &waited.report);
    Ok(answer.into())
}

fn stop(gate: &Gate, arguments: &mut Arguments, _: Option<&Cancel>) -> Result<Value, ErrorObject> {
    let jobs = gate.jobs()?;
    let id = job(&jobs, arguments)?;
    let urgency = if arguments.flag("now")? == Some(true) { Urgency::Now } else { Urgency::Politely };
    Ok(value(jobs.stop(&id, urgency)?))
}

/// The job that the arguments name.
pub(super) fn job(jobs: &Jobs<'_>, arguments: &mut Arguments) -> Result<String, ErrorObject> {
    let name = arguments.text("job")?.unwrap_or_default();
    jobs.find(&name).map(|execution| execution.id)
}

pub(super) fn pattern(arguments: &mut Arguments, field: &'static str) -> Result<Option<Regex>, ErrorObject> {
    let Some(text) = arguments.text(field)? else { return Ok(None) };
    Regex::new(&text).map(Some).map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        ErrorObject::invalid(format!("`{field}` is no regular expression: {last}")).token(text)
    })
}

pub(super) fn insert(answer: &mut Map<String, Value>, name: &str, content: impl Serialize) {
    answer.insert(name.to_owned(), value(content));
}

fn extend(answer: &mut Map<String, Value>, content: impl Serialize) {
    if let Value::Object(entries) = value(content) {
        answer.extend(entries);
    }
}

/// Strings, numbers and lists always serialize.
fn value(content: impl Serialize) -> Value {
    serde_json::to_value(content)
        .unwrap_or_else(|error| json!(ErrorObject::new(Code::Config, error.to_string())))
}
