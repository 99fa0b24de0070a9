//! `shell_input`: types at a job, waits for its reaction, and returns the new output.

use std::time::{Duration, Instant};

use shellgate_exec::{ExecId, InputSender, Stream};

use super::{Answered, answer_limit, job_id};
use crate::ErrorObject;
use crate::answer::report::Report;
use crate::gate::session_error;
use crate::intake::dialect::Arguments;
use crate::intake::request::Detail;
use crate::jobs::input::not_running;
use crate::jobs::{InputItem, Key, OutputQuery, StreamPart, WaitControl};
use crate::scope::ScopedGate;

const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long the tool waits for output by default.
const DEFAULT_WAIT: Duration = Duration::from_secs(1);

/// A program that waits for input and has printed nothing for this long has finished its reaction.
const SETTLED_SILENCE: Duration = Duration::from_millis(60);

pub(super) fn run(
    gate: &ScopedGate<'_>,
    arguments: &mut Arguments,
    control: Option<&WaitControl>,
) -> Result<Answered, ErrorObject> {
    let jobs = gate.jobs()?;
    let id = job_id(&jobs, arguments)?;
    let mut items = Vec::new();
    if let Some(text) = arguments.text("text")? {
        let end = if arguments.flag("newline")? == Some(false) { "" } else { "\n" };
        items.push(InputItem::Text(format!("{text}{end}")));
    }
    for name in arguments.texts("keys")?.unwrap_or_default() {
        items.push(InputItem::Key(Key::named(&name)?));
    }
    if arguments.flag("eof")? == Some(true) {
        items.push(InputItem::EndOfInput);
    }
    if items.is_empty() {
        return Err(ErrorObject::invalid("there is nothing to type").hint("give `text`, `keys` or `eof`"));
    }
    let wait = arguments.milliseconds("wait_ms")?.map_or(DEFAULT_WAIT, Duration::from_millis);
    let before = jobs.ranges(&id, &StreamPart::default())?.stdout.end;
    gate.type_at(&id, &items)?;
    gate.wait_for_reaction(&id, wait, control)?;
    let report = jobs.report(&id, Detail::Minimal)?;
    let range = before..jobs.ranges(&id, &StreamPart::default())?.stdout.end;
    let next = range.end;
    let is_screen = report.screen;
    let stdout = match is_screen {
        true => report.stdout.clone(),
        false => {
            let limit = answer_limit(&gate.gate.settings().limits);
            let query = OutputQuery { stream: Stream::Stdout, bytes: range, grep: None, context: 0, limit };
            jobs.read(&id, &query)?.text
        }
    };
    // Of standard error nothing is told here: a terminal has one stream.
    let mut answered = Answered::about(&Report { stdout, stderr: String::new(), condensed: None, ..report });
    answered.say("screen", is_screen);
    answered.note("stdout_next", next);
    Ok(answered)
}

impl ScopedGate<'_> {
    /// Waits until the execution waits for input again and is silent, has ended, or `wait` has passed.
    fn wait_for_reaction(
        &self,
        id: &str,
        wait: Duration,
        control: Option<&WaitControl>,
    ) -> Result<(), ErrorObject> {
        let name: ExecId = id.parse().map_err(|_| not_running(id))?;
        let to_error = |error| session_error(&error);
        let Some((mut sender, mut state)) = InputSender::find(&self.gate.state, name).map_err(to_error)?
        else {
            return Ok(());
        };
        let (stdout, _) = self.gate.state.spool_files(name);
        let printed = || std::fs::metadata(&stdout).map_or(0, |metadata| metadata.len());
        let deadline = Instant::now() + wait;
        let (mut last, mut since) = (printed(), Instant::now());
        while Instant::now() < deadline && !control.is_some_and(WaitControl::is_canceled) {
            let now = printed();
            if now != last || !state.waiting {
                (last, since) = (now, Instant::now());
            }
            if since.elapsed() >= SETTLED_SILENCE {
                return Ok(());
            }
            std::thread::sleep(POLL_INTERVAL);
            let Some(next) = sender.look().map_err(to_error)? else { return Ok(()) };
            state = next;
        }
        Ok(())
    }
}
