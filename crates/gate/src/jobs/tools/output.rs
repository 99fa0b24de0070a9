//! `shell_output`: reads the output of a job.

use serde_json::{Map, Value};
use shellgate_exec::{PerStream, Stream};

use super::{insert, job_id, pattern};
use crate::ErrorObject;
use crate::intake::dialect::Arguments;
use crate::intake::request::Detail;
use crate::jobs::{OutputQuery, OutputText, StreamPart, WaitControl};
use crate::scope::ScopedGate;
use crate::text::{Limit, rendered};

pub(super) fn run(
    gate: &ScopedGate<'_>,
    arguments: &mut Arguments,
    _: Option<&WaitControl>,
) -> Result<Value, ErrorObject> {
    let jobs = gate.jobs()?;
    let id = job_id(&jobs, arguments)?;
    let wanted = arguments.word("stream")?.unwrap_or("both");
    let since = arguments.milliseconds("since_ms")?;
    let part = StreamPart {
        from: arguments.number("from")?,
        to: arguments.number("to")?,
        lines: arguments.number("lines")?,
        since_ms: since.map(|ago| u64::try_from(crate::record::now()).unwrap_or(0).saturating_sub(ago)),
    };
    let grep = pattern(arguments, "grep")?;
    let raw = arguments.flag("raw")? == Some(true);
    if raw && grep.is_some() {
        return Err(ErrorObject::invalid("`raw` and `grep` can't be combined")
            .token("raw")
            .hint("leave out one of them"));
    }
    let limit = Limit::Chars(usize::try_from(jobs.limits.answer_chars).unwrap_or(usize::MAX));
    let ranges = jobs.ranges(&id, &part)?;
    let report = jobs.report(&id, Detail::Minimal)?;
    let mut answer = Map::new();
    insert(&mut answer, "id", &id);
    insert(&mut answer, "status", report.status);
    insert(&mut answer, "exit_code", report.exit_code);
    insert(&mut answer, "signal", &report.signal);
    insert(&mut answer, "error", &report.error);
    insert(&mut answer, "waiting_for_input", report.waiting_for_input);
    let mut truncated = false;
    for stream in Stream::BOTH.into_iter().filter(|stream| wanted == "both" || wanted == stream.name()) {
        let range = ranges.get(stream).clone();
        let next = range.end;
        let all = part == StreamPart::default() && grep.is_none();
        let screen = report.screen && stream == Stream::Stdout;
        let lines = jobs.last_lines_beyond_file(&id, stream, &part).filter(|_| grep.is_none());
        let output = if raw {
            jobs.read_raw(&id, stream, range, limit)?
        } else if all && (screen || !jobs.tail(&id, stream).is_empty()) {
            // A full-screen program is shown by its screen. A stream longer than its file is shown by its beginning and end.
            let text = PerStream { stdout: &report.stdout, stderr: &report.stderr };
            OutputText { text: (*text.get(stream)).clone(), truncated: true }
        } else if let Some(lines) = lines {
            OutputText { text: rendered(&lines), truncated: false }
        } else {
            jobs.read(&id, &OutputQuery { stream, bytes: range, grep: grep.as_ref(), limit })?
        };
        truncated |= output.truncated;
        insert(&mut answer, stream.name(), output.text);
        insert(&mut answer, &format!("{}_next", stream.name()), next);
    }
    insert(&mut answer, "truncated", truncated);
    Ok(answer.into())
}
