//! Typing as a tool for models: types, waits for what comes of it, and tells.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use shellgate_exec::{ExecId, InputSender, Stream};

use super::input::{Stroke, not_running};
use super::keys::Key;
use super::{Cancel, Excerpt, StreamPart, tools};
use crate::ErrorObject;
use crate::gate::{Gate, session_error};
use crate::intake::dialect::Arguments;
use crate::intake::request::Detail;
use crate::text::Limit;

/// How often we look.
const LOOK: Duration = Duration::from_millis(10);

/// How long the tool waits for what a program makes of what was typed.
const WAIT: Duration = Duration::from_secs(1);

/// A program that waits for input and has been silent for so long has said what it had to say.
const SILENCE: Duration = Duration::from_millis(60);

/// The tool for models: types, waits for what comes of it, and tells.
pub(super) fn tool(
    gate: &Gate,
    arguments: &mut Arguments,
    cancel: Option<&Cancel>,
) -> Result<Value, ErrorObject> {
    let jobs = gate.jobs()?;
    let id = tools::job(&jobs, arguments)?;
    let mut strokes = Vec::new();
    if let Some(text) = arguments.text("text")? {
        let end = if arguments.flag("newline")? == Some(false) { "" } else { "\n" };
        strokes.push(Stroke::Text(format!("{text}{end}")));
    }
    for name in arguments.texts("keys")?.unwrap_or_default() {
        strokes.push(Stroke::Key(Key::named(&name)?));
    }
    if arguments.flag("eof")? == Some(true) {
        strokes.push(Stroke::End);
    }
    if strokes.is_empty() {
        return Err(ErrorObject::invalid("there is nothing to type").hint("give `text`, `keys` or `eof`"));
    }
    let wait = arguments.milliseconds("wait_ms")?.map_or(WAIT, Duration::from_millis);
    let before = jobs.ranges(&id, &StreamPart::default())?.stdout.end;
    gate.type_at(&id, &strokes)?;
    gate.listen(&id, wait, cancel)?;
    let report = jobs.report(&id, Detail::Minimal)?;
    let range = before..jobs.ranges(&id, &StreamPart::default())?.stdout.end;
    let next = range.end;
    let stdout = match report.screen {
        true => report.stdout,
        false => {
            let limit =
                Limit::Chars(usize::try_from(gate.settings().limits.answer_chars).unwrap_or(usize::MAX));
            let excerpt = Excerpt { stream: Stream::Stdout, bytes: range, grep: None, limit };
            jobs.read(&id, &excerpt)?.text
        }
    };
    let mut answer = Map::new();
    tools::insert(&mut answer, "id", &id);
    tools::insert(&mut answer, "status", report.status);
    tools::insert(&mut answer, "exit_code", report.exit_code);
    tools::insert(&mut answer, "signal", &report.signal);
    tools::insert(&mut answer, "waiting_for_input", report.waiting_for_input);
    tools::insert(&mut answer, "screen", report.screen);
    tools::insert(&mut answer, "stdout", stdout);
    tools::insert(&mut answer, "stdout_next", next);
    Ok(answer.into())
}

impl Gate {
    /// Waits until the execution waits for input again and is silent, or ends, or `wait` has passed.
    fn listen(&self, id: &str, wait: Duration, cancel: Option<&Cancel>) -> Result<(), ErrorObject> {
        let name: ExecId = id.parse().map_err(|_| not_running(id))?;
        let trouble = |error| session_error(&error);
        let Some((mut typist, mut reading)) = InputSender::find(&self.state, name).map_err(trouble)? else {
            return Ok(());
        };
        let (stdout, _) = self.state.spool_files(name);
        let printed = || std::fs::metadata(&stdout).map_or(0, |metadata| metadata.len());
        let until = Instant::now() + wait;
        let (mut last, mut since) = (printed(), Instant::now());
        while Instant::now() < until && !cancel.is_some_and(Cancel::was_said) {
            let now = printed();
            if now != last || !reading.waiting {
                (last, since) = (now, Instant::now());
            }
            if since.elapsed() >= SILENCE {
                return Ok(());
            }
            std::thread::sleep(LOOK);
            let Some(next) = typist.look().map_err(trouble)? else { return Ok(()) };
            reading = next;
        }
        Ok(())
    }
}
