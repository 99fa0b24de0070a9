//! An event as one line: time, level, role, process, module, message, fields.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata};

use super::file::Role;
use crate::time;

/// A longer line is cut.
const MAX_LINE_BYTES: usize = 16 << 10;

/// The line, with its end.
pub(super) fn line(event: &Event<'_>, role: Role) -> String {
    let mut fields = Fields::default();
    event.record(&mut fields);
    let mut line = head(event.metadata(), role);
    let text = [&fields.message, &fields.others].map(|text| printable(text)).concat();
    line.push_str(&text);
    if line.len() > MAX_LINE_BYTES {
        line.truncate(line.floor_char_boundary(MAX_LINE_BYTES));
        line.push('…');
    }
    line.push('\n');
    line
}

fn head(metadata: &Metadata<'_>, role: Role) -> String {
    let target = metadata.target();
    let module = target.strip_prefix("shellgate_").unwrap_or(target);
    let (at, level, role, pid) =
        (time::exact(time::now()), metadata.level(), role.name(), std::process::id());
    format!("{at} {level:<5} {role} {pid} {module}: ")
}

/// Nothing in a line can end it or change a terminal: what doesn't print is escaped.
fn printable(text: &str) -> String {
    let keep = |c: char| matches!(c, '"' | '\'' | '\\');
    text.chars().fold(String::with_capacity(text.len()), |mut printable, c| {
        match keep(c) {
            true => printable.push(c),
            false => printable.extend(c.escape_debug()),
        }
        printable
    })
}

/// The message, and the other fields as ` name=value`.
#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Fields {
    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = match field.name() {
            "message" => self.message.write_fmt(value),
            name => write!(self.others, " {name}={value}"),
        };
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match value.contains([' ', '"', '=']) || value.is_empty() {
            true => self.add(field, format_args!("{value:?}")),
            false => self.add(field, format_args!("{value}")),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }
}
