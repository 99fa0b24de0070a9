//! The subscriber: takes the events of shellgate's own crates and writes each as a line.

use std::sync::{Mutex, PoisonError};

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

use super::file::{LogFile, Role};
use super::line::line;
use crate::output::print_note;

/// Writes events of `level` and above to a file.
pub(super) struct Collector {
    level: LevelFilter,
    /// A keeper has one thread, so it never waits for this lock.
    file: Mutex<LogFile>,
}

impl Collector {
    pub(super) const fn new(level: LevelFilter, file: LogFile) -> Self {
        Self { level, file: Mutex::new(file) }
    }

    /// Other crates have events too. Those of a protocol library may carry whole messages, so none is taken.
    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.level && metadata.target().starts_with("shellgate")
    }
}

impl Subscriber for Collector {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.wants(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.wants(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err((error, Role::FrontEnd | Role::Server)) = file.write(|role| line(event, role)) {
            // Only these have a standard error that a person may see.
            print_note(&format!("lines of the log may be missing: {error}"));
        }
    }

    // Events carry what they are about in their own fields, so spans aren't followed.

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[cfg(test)]
mod tests {
    use tracing::{debug, error, info, trace};

    use super::*;

    /// What `events` leave in a log of `level`, without the time and the process.
    fn logged(level: LevelFilter, events: impl FnOnce()) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = LogFile::open(folder.path(), Role::Server).unwrap();
        tracing::subscriber::with_default(Collector::new(level, file), events);
        let text = std::fs::read_to_string(folder.path().join("server.log")).unwrap();
        let pid = std::process::id().to_string();
        let line = |line: &str| {
            let (at, rest) = line.split_once(' ').unwrap();
            assert!(at.len() == 24 && at.ends_with('Z'), "{at}");
            rest.replacen(&pid, "PID", 1)
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn an_event_is_one_line_with_its_fields() {
        let lines = logged(LevelFilter::DEBUG, || {
            info!(target: "shellgate_exec::keeper", id = %"01J", pid = 7, code = ?Some(3), "spawned");
            error!(target: "shellgate::gate", reason = "two words", empty = "", "failed");
        });
        assert_eq!(
            lines,
            [
                "INFO  server PID exec::keeper: spawned id=01J pid=7 code=Some(3)",
                "ERROR server PID shellgate::gate: failed reason=\"two words\" empty=\"\"",
            ]
        );
    }

    #[test]
    fn levels_below_and_other_crates_are_left_out() {
        let lines = logged(LevelFilter::DEBUG, || {
            trace!(target: "shellgate_exec", "command text");
            debug!(target: "rmcp::service", "a whole message");
            debug!(target: "shellgate_exec", "kept");
        });
        assert_eq!(lines, ["DEBUG server PID exec: kept"]);
    }

    #[test]
    fn nothing_in_an_event_ends_the_line_or_reaches_the_terminal() {
        let text = "a\nb\u{1b}[31m\u{202e}c\u{7}é\\\"";
        let lines = logged(LevelFilter::TRACE, || {
            trace!(target: "shellgate", shown = %text, quoted = text, "{text}");
        });
        let shown = "a\\nb\\u{1b}[31m\\u{202e}c\\u{7}é\\\"";
        assert!(
            lines.len() == 1 && lines[0].contains(&format!("shellgate: {shown} shown={shown}")),
            "{lines:?}"
        );
        assert!(!lines[0].contains('\u{1b}'));
    }

    #[test]
    fn a_long_line_is_cut() {
        let lines = logged(LevelFilter::TRACE, || trace!(target: "shellgate", "{}", "é".repeat(1 << 20)));
        assert!(lines.len() == 1 && lines[0].ends_with("é…") && lines[0].len() < 20_000);
    }
}
