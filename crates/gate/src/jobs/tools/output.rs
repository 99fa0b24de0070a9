//! `shell_output`: reads the output of a job.

use shellgate_exec::{PerStream, Stream};
use shellgate_journal::RecordedView;

use super::{Answered, answer_limit, job_id, pattern};
use crate::ErrorObject;
use crate::answer::cost;
use crate::answer::report::Report;
use crate::answer::stream_text::shares;
use crate::intake::dialect::Arguments;
use crate::intake::request::Detail;
use crate::jobs::{OutputQuery, OutputText, StreamPart, WaitControl};
use crate::scope::ScopedGate;
use crate::text::{Limit, estimate_tokens, rendered};

/// What the marks of both streams cost at most: they are not part of the limit.
const MARKS_MAX_TOKENS: usize = 200;

pub(super) fn run(
    gate: &ScopedGate<'_>,
    arguments: &mut Arguments,
    _: Option<&WaitControl>,
) -> Result<Answered, ErrorObject> {
    let jobs = gate.jobs()?;
    let id = job_id(&jobs, arguments)?;
    let wanted = arguments.word("stream")?.unwrap_or("both");
    let since = arguments.milliseconds("since_ms")?;
    let part = StreamPart {
        from: arguments.number("from")?,
        to: arguments.number("to")?,
        from_line: arguments.number("from_line")?,
        lines: arguments.number("lines")?,
        since_ms: since.map(|ago| u64::try_from(crate::record::now()).unwrap_or(0).saturating_sub(ago)),
    };
    let grep = pattern(arguments, "grep")?;
    let context = arguments.number("context")?.map_or(0, |lines| usize::try_from(lines).unwrap_or(0));
    let raw = arguments.flag("raw")? == Some(true);
    if raw && grep.is_some() {
        return Err(ErrorObject::invalid("`raw` and `grep` can't be combined")
            .token("raw")
            .hint("leave out one of them"));
    }
    let limit = answer_limit(&jobs.answers.limits);
    let ranges = jobs.ranges(&id, &part)?;
    let report = jobs.report(&id, Detail::Minimal)?;
    let all = part == StreamPart::default() && grep.is_none();
    // Only the report's own text may be condensed; what is read here is as it was printed.
    let mut condensed = None;
    let mut read = |stream: Stream, limit: Limit| {
        let range = ranges.get(stream).clone();
        let screen = report.screen && stream == Stream::Stdout;
        let lines = jobs.last_lines_beyond_file(&id, stream, &part).filter(|_| grep.is_none());
        if raw {
            return jobs.read_raw(&id, stream, range, limit);
        }
        if all && (screen || !jobs.tail(&id, stream).is_empty()) {
            // A full-screen program is shown by its screen. A stream longer than its file is shown by its beginning and end.
            condensed = report.condensed;
            let text = PerStream { stdout: &report.stdout, stderr: &report.stderr };
            return Ok(OutputText { text: (*text.get(stream)).clone(), truncated: true });
        }
        if let Some(lines) = lines {
            return Ok(OutputText::last_of(&rendered(&lines), limit));
        }
        jobs.read(&id, &OutputQuery { stream, bytes: range, grep: grep.as_ref(), context, limit })
    };
    let mut texts: PerStream<OutputText> = PerStream::default();
    let mut next: PerStream<Option<u64>> = PerStream::default();
    let is_wanted = |stream: &Stream| wanted == "both" || wanted == stream.name();
    for stream in Stream::BOTH.into_iter().filter(is_wanted) {
        *texts.get_mut(stream) = read(stream, limit)?;
        *next.get_mut(stream) = Some(ranges.get(stream).end);
    }
    // Both together have the tokens of one answer.
    let tokens = limit.amount();
    let wants = PerStream {
        stdout: estimate_tokens(&texts.stdout.text),
        stderr: estimate_tokens(&texts.stderr.text),
    };
    if wants.stdout.saturating_add(wants.stderr) > tokens.saturating_add(MARKS_MAX_TOKENS) {
        let shares = shares(tokens, &wants);
        for stream in Stream::BOTH.into_iter().filter(|stream| wants.get(*stream) > shares.get(*stream)) {
            *texts.get_mut(stream) = read(stream, Limit::Tokens(*shares.get(stream)))?;
        }
    }
    let truncated = texts.stdout.truncated || texts.stderr.truncated;
    let is_running = !report.status.is_final();
    let (stdout, stderr) = (texts.stdout.text, texts.stderr.text);
    let shown =
        Report { stdout, stderr, stdout_truncated: truncated, stderr_truncated: false, condensed, ..report };
    // A part was asked for: the rest was not saved.
    jobs.record_read(&id, RecordedView { of_tokens: None, ..cost::recorded(&shown) });
    let mut answered = Answered::about(&shown);
    // Only output that may grow is read on from here.
    if is_running || truncated {
        answered.note("stdout_next", next.stdout);
        answered.note("stderr_next", next.stderr.filter(|at| *at > 0));
    }
    if grep.is_some() && shown.stdout.is_empty() && shown.stderr.is_empty() {
        answered.say("matching_lines", 0);
    }
    Ok(answered)
}
