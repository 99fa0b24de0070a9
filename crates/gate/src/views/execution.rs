//! A past execution: its request, its entries in the record and its end.

use serde::Serialize;
use shellgate_journal::calendar::exact;
use shellgate_journal::{
    JournalEntry, PastExecution, RecordedApproval, RecordedDenial, RecordedEffects, RecordedEnd,
    RecordedError, RecordedForecast, RecordedRequest, RecordedStream, RecordedVerdict, RecordedView, Status,
};
use shellgate_text::{Style, StyledLine, escape, plain_text};

use super::entry::entry_lines;
use super::{foretold, format_time};
use crate::answer::comparison::Comparison;
use crate::answer::signal_names::SignalName;

/// Columns before the text of an entry.
const ENTRY_COLUMN: usize = 33;

/// A past execution, and its entries in the record.
#[derive(Clone, Copy, Debug)]
pub struct ExecutionView<'a> {
    execution: &'a PastExecution,
    entries: &'a [JournalEntry],
}

/// A past execution without its output and entries, for programs.
#[derive(Debug, Serialize)]
pub struct ExecutionSummary<'a> {
    id: &'a str,
    session: &'a str,
    at: String,
    status: Status,
    command: Option<&'a str>,
    argv: Option<&'a Vec<String>>,
    description: Option<&'a str>,
    dialect: Option<&'a str>,
    root: Option<&'a str>,
    directory: Option<&'a str>,
    verdict: Option<&'a RecordedVerdict>,
    approved_by: Option<&'a RecordedApproval>,
    error: Option<&'a RecordedError>,
    exit_code: Option<i32>,
    signal: Option<SignalName>,
    ended_at: Option<String>,
    duration_ms: Option<i64>,
    stdout: Option<&'a RecordedStream>,
    stderr: Option<&'a RecordedStream>,
    denials: Option<&'a Vec<RecordedDenial>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<&'a RecordedView>,
    effects: Option<&'a RecordedEffects>,
    foretold: Option<&'a RecordedForecast>,
    compared: Option<Comparison>,
}

impl<'a> ExecutionView<'a> {
    /// The view of an execution. `entries`: its entries in the record, to show them as well.
    #[must_use]
    pub const fn new(execution: &'a PastExecution, entries: &'a [JournalEntry]) -> Self {
        Self { execution, entries }
    }

    /// Its status, with the exit code or the signal if it failed.
    #[must_use]
    pub fn status(&self) -> String {
        let failed = self.execution.status == Status::Failed;
        let ended = self.execution.ended.as_ref().filter(|_| failed);
        match ended.map(|ended| (ended.exit_code, ended.signal)) {
            Some((Some(code), _)) => format!("failed {code}"),
            Some((None, Some(signal))) => format!("failed {}", SignalName::new(signal).name),
            _ => self.execution.status.name().to_owned(),
        }
    }

    /// The command as one line.
    #[must_use]
    pub fn command(&self) -> String {
        escape::line(self.execution.asked.as_ref().map_or("(forgotten)", |asked| &asked.text))
    }

    /// What programs get of it, without its entries.
    #[must_use]
    pub fn summary(&self) -> ExecutionSummary<'a> {
        let PastExecution { id, session, at, status, asked, refused, started, ended, .. } = self.execution;
        let asked: Option<&RecordedRequest> = asked.as_ref();
        let ended: Option<&RecordedEnd> = ended.as_ref();
        ExecutionSummary {
            id,
            session,
            at: exact(*at),
            status: *status,
            command: asked.map(|asked| asked.text.as_str()),
            argv: asked.and_then(|asked| asked.argv.as_ref()),
            description: asked.and_then(|asked| asked.description.as_deref()),
            dialect: asked.map(|asked| asked.dialect.as_str()),
            root: asked.map(|asked| asked.root.as_str()),
            directory: asked.map(|asked| asked.directory.as_str()),
            verdict: asked.map(|asked| &asked.verdict),
            approved_by: started.as_ref().and_then(|started| started.approved_by.as_ref()),
            error: refused.as_ref().or_else(|| ended?.error.as_deref()),
            exit_code: ended.and_then(|ended| ended.exit_code),
            signal: ended.and_then(|ended| ended.signal).map(SignalName::new),
            ended_at: ended.map(|ended| exact(ended.ended_at)),
            duration_ms: ended.and_then(|ended| Some(ended.ended_at - ended.started_at?)),
            stdout: ended.map(|ended| &ended.stdout),
            stderr: ended.map(|ended| &ended.stderr),
            denials: ended.and_then(|ended| ended.denials.as_ref()),
            shown: ended.and_then(|ended| ended.shown.as_deref()),
            effects: ended.and_then(|ended| ended.effects.as_deref()),
            foretold: started.as_ref().and_then(|started| started.foretold.as_deref()),
            compared: Comparison::of(self.execution),
        }
    }

    /// Its lines.
    #[must_use]
    pub fn lines(&self) -> Vec<StyledLine> {
        let execution = self.execution;
        let head = StyledLine::from(format!("{}  ", execution.id));
        let mut lines = vec![head.with(status_style(execution.status), self.status())];
        if let Some(asked) = &execution.asked {
            for line in asked.text.split('\n') {
                lines.push(format!("  | {}", escape::line(line)).into());
            }
            if let Some(description) = &asked.description {
                lines.push(format!("  agent says: {}", escape::line(description)).into());
            }
            for (name, value) in
                [("session", &execution.session), ("root", &asked.root), ("directory", &asked.directory)]
            {
                lines.push(format!("  {name}: {}", escape::line(value)).into());
            }
        }
        for entry in self.entries {
            let mut texts = entry_lines(entry).into_iter();
            let first = texts.next().unwrap_or_default();
            let line = StyledLine::from(format!("  {}  ", format_time(entry.at)));
            lines.push(if first.is_empty() {
                line.with(Style::Strong, entry.kind.name())
            } else {
                line.with(Style::Strong, format!("{:<9}", entry.kind.name()))
                    .with(Style::Plain, format!(" {first}"))
            });
            lines.extend(texts.map(|text| StyledLine::from(format!("{}{text}", " ".repeat(ENTRY_COLUMN)))));
        }
        lines.extend(foretold::lines(execution));
        lines
    }

    /// Its lines as plain text.
    #[must_use]
    pub fn to_text(&self) -> String {
        plain_text(&self.lines())
    }
}

/// The style of a status.
#[must_use]
pub const fn status_style(status: Status) -> Style {
    match status {
        Status::Completed => Style::Good,
        Status::Asked | Status::Running => Style::Caution,
        Status::Refused | Status::Failed | Status::TimedOut | Status::Lost => Style::Bad,
        Status::Canceled | Status::Forgotten => Style::Faint,
    }
}
