//! Edits the text of a settings file, and reverts an edit.
//!
//! The editor of a format is not trusted. Only the lines that it changed are taken from its result, so every other line
//! stays the same byte for byte. Then the values of the new text are compared with the expected values.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::format::{Broken, Format};
use super::step::{NotATable, Step};

/// Why a text can't be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Uneditable {
    /// It has a syntax error.
    Broken(Broken),
    /// The value at this path should be a table, and isn't.
    NotATable(String),
    /// It is valid, but written in a way that the editor can't change.
    Unsupported,
}

impl From<Broken> for Uneditable {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<NotATable> for Uneditable {
    fn from(NotATable(path): NotATable) -> Self {
        Self::NotATable(path)
    }
}

/// A text after some steps, and the steps that revert them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) back: Vec<Step>,
}

/// Applies `steps` to a text.
pub(crate) fn edit(format: Format, text: &str, steps: &[Step]) -> Result<Edited, Uneditable> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let before = body.replace("\r\n", "\n");
    let mut values = format.read(&before)?;
    let mut after = before.clone();
    let mut back: Vec<Step> = Vec::new();
    for step in steps {
        if !step.would_change(&values) {
            continue;
        }
        back.splice(..0, step.inverse(&values));
        step.apply_to(&mut values)?;
        after = format.apply(&after, step).map_err(|_| Uneditable::Unsupported)?;
    }
    let text = format!("{mark}{}", merge_lines(body, &before, &after));
    let written: Value =
        format.read(text.trim_start_matches('\u{feff}')).map_err(|_| Uneditable::Unsupported)?;
    if !format.same(&written, &values) {
        return Err(Uneditable::Unsupported);
    }
    Ok(Edited { text, back })
}

/// Applies the changed lines between `before` and `after` to `raw`. `before` is `raw` with `\n` as the end of each line.
fn merge_lines(raw: &str, before: &str, after: &str) -> String {
    let (given, old, new) = (lines(raw), lines(before), lines(after));
    let windows = given.iter().filter(|line| line.ends_with("\r\n")).count() * 2 > given.len();
    let mut text = String::with_capacity(after.len());
    let mut next = 0;
    for (of_old, of_new) in differences(&old, &new) {
        text.extend(given.iter().take(of_old.start).skip(next).copied());
        for line in new.iter().take(of_new.end).skip(of_new.start) {
            match line.strip_suffix('\n').filter(|_| windows) {
                Some(line) => text.extend([line, "\r\n"]),
                None => text.push_str(line),
            }
        }
        next = of_old.end;
    }
    text.extend(given.iter().skip(next).copied());
    text
}

/// Ranges of old lines and the new lines that replace them. They are derived from the equal lines alone, because the
/// crate's other operations can overlap.
fn differences(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut differences = Vec::new();
    let (mut old_next, mut new_next) = (0, 0);
    let equal = capture_diff_slices(Algorithm::Myers, old, new).into_iter().filter_map(|op| match op {
        DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
        _ => None,
    });
    for (old_index, new_index, len) in equal.chain([(old.len(), new.len(), 0)]) {
        if (old_next, new_next) != (old_index, new_index) {
            differences.push((old_next..old_index, new_next..new_index));
        }
        (old_next, new_next) = (old_index + len, new_index + len);
    }
    differences
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A range of lines, and the text that was there before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hunk {
    /// Number of the first line, counted from 0.
    at: usize,
    /// Number of lines.
    lines: usize,
    /// The text that was there before.
    was: String,
}

/// The hunks that turn `after` back into `before`.
pub(crate) fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new) = (lines(before), lines(after));
    let hunk = |(of_new, of_old): (Range<usize>, Range<usize>)| Hunk {
        at: of_new.start,
        lines: of_new.len(),
        was: old.iter().take(of_old.end).skip(of_old.start).copied().collect(),
    };
    differences(&new, &old).into_iter().map(hunk).collect()
}

/// Applies hunks to the text after a change, which gives the text before it.
pub(crate) fn unpatch(after: &str, hunks: &[Hunk]) -> String {
    let new = lines(after);
    let mut text = String::with_capacity(after.len());
    let mut next = 0;
    for hunk in hunks {
        text.extend(new.iter().skip(next).take(hunk.at.saturating_sub(next)).copied());
        text.push_str(&hunk.was);
        next = hunk.at + hunk.lines;
    }
    text.extend(new.iter().skip(next).copied());
    text
}

#[cfg(test)]
mod tests;
