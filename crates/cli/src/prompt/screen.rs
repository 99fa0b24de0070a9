//! Lays out a question for a number of rows and columns.
//!
//! The text in the middle can be scrolled; the title is above it, the status line and the keys are below. With few rows,
//! the title is left out, and the meanings of the keys move to the end of the text.

use std::time::Duration;

use unicode_width::UnicodeWidthStr as _;

use super::choices::Entry;
use super::dialogue::{Dialogue, Page};
use super::table::Table;

/// Rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// The rows to draw, from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) rows: Vec<String>,
    /// Column of the cursor in the last row, while a reason is typed.
    pub(crate) cursor: Option<usize>,
}

/// With fewer rows, the title is left out.
const TITLE_MIN_ROWS: usize = 10;
/// The meanings of the keys are shown below the text only if the text keeps this many rows.
const TEXT_MIN_ROWS: usize = 9;
/// The time that is left is shown from here on.
const COUNTDOWN_FROM: Duration = Duration::from_secs(60);

impl Frame {
    /// Draws `dialogue`. `left`: the time until the question times out.
    pub(crate) fn new(dialogue: &mut Dialogue, size: Size, left: Duration) -> Self {
        let columns = size.columns.max(4);
        let entries = dialogue.entries();
        let title = match dialogue.page {
            Page::Always => "shellgate: add this to your settings?",
            Page::Question | Page::Reason(_) => "shellgate: may this run?",
        };
        let title = (size.rows >= TITLE_MIN_ROWS)
            .then(|| format!("\x1b[1m{}\x1b[0m", first_fitting(&[title, "may this run?"], columns)));
        let around = 1 + usize::from(title.is_some());
        let meanings: Vec<String> =
            entries.iter().map(|entry| format!("  {}  {}", entry.key, entry.meaning)).collect();
        let has_meanings = meanings.iter().all(|line| line.width() <= columns)
            && size.rows >= around + meanings.len() + TEXT_MIN_ROWS;
        let mut lines = dialogue.body(columns).to_vec();
        let (mut foot, mut cursor) =
            if has_meanings { (meanings, None) } else { (keys(&entries, columns), None) };
        if !has_meanings {
            lines.extend(key_meanings(&entries, columns));
        }
        if let Page::Reason(reason) = &dialogue.page {
            let (line, column) = reason_line(reason, columns);
            (foot, cursor) = (vec![line], Some(column));
        }
        foot.truncate(size.rows.saturating_sub(around + 1).max(1));
        let room = size.rows.saturating_sub(around + foot.len()).max(1);
        let range = dialogue.scroll_to_fit(room, lines.len());
        let state = status_line(dialogue, &range, lines.len(), left, columns);
        let mut rows: Vec<String> = title.into_iter().collect();
        rows.extend(lines.get(range).unwrap_or_default().iter().cloned());
        rows.resize(size.rows.saturating_sub(1 + foot.len()).max(1), String::new());
        rows.push(state);
        rows.extend(foot);
        Self { rows, cursor }
    }
}

/// The keys without their meanings.
fn keys(entries: &[Entry], columns: usize) -> Vec<String> {
    let words: Vec<String> = entries.iter().map(|entry| format!("{} {}", entry.key, entry.short)).collect();
    let line = words.join("  ");
    if line.len() <= columns {
        return vec![line];
    }
    let letters: Vec<String> = entries.iter().map(|entry| entry.key.to_string()).collect();
    vec![first_fitting(&[&letters.join(" "), &letters.concat()], columns)]
}

/// The meanings of the keys, for the end of the text.
fn key_meanings(entries: &[Entry], columns: usize) -> Vec<String> {
    let mut table = Table::new(columns, 0);
    for entry in entries {
        table.own_words(&format!("key {}", entry.key), &entry.meaning);
    }
    table.lines
}

/// Which lines are shown, or a remark; and the time that is left, if it is short.
fn status_line(
    dialogue: &Dialogue,
    range: &std::ops::Range<usize>,
    total: usize,
    left: Duration,
    columns: usize,
) -> String {
    let (first, last) = (range.start + 1, range.end);
    let more = match (range.start > 0, last < total) {
        (true, true) => ", more above and below",
        (true, false) => ", more above",
        (false, true) => ", more below",
        (false, false) => "",
    };
    let arrow = if last < total { "↓" } else { "" };
    let places = [
        format!("lines {first}–{last} of {total}{more} (j, k, PageDown, PageUp, g, G)"),
        format!("lines {first}–{last} of {total}{more}"),
        format!("{last}/{total}{arrow}"),
    ];
    let mut texts: Vec<&str> = match (&dialogue.page, dialogue.note) {
        (Page::Reason(_), _) => vec!["reason: Enter sends it, Esc goes back", "reason"],
        (_, Some(note)) => vec![note, note.split(':').next().unwrap_or(note)],
        _ if more.is_empty() => vec!["your answer", "?"],
        _ => places.iter().map(String::as_str).collect(),
    };
    texts.extend(places.last().map(String::as_str));
    let time = if left > COUNTDOWN_FROM { String::new() } else { format!(" {} s left", left.as_secs() + 1) };
    let room = columns.saturating_sub(time.len());
    let text = first_fitting(&texts, room.saturating_sub(6));
    let rule = "─".repeat(room.saturating_sub(text.width() + 4));
    let emphasis = if dialogue.note.is_some() { "\x1b[1;33m" } else { "" };
    format!("\x1b[2m──\x1b[0m {emphasis}{text}\x1b[0m \x1b[2m{rule}\x1b[0m\x1b[1;33m{time}\x1b[0m")
}

/// The first text that fits, or the beginning of the last.
fn first_fitting(texts: &[&str], columns: usize) -> String {
    let fits = texts.iter().find(|text| text.width() <= columns);
    fits.map_or_else(
        || texts.last().map(|text| text.chars().take(columns).collect()).unwrap_or_default(),
        |text| (*text).to_owned(),
    )
}

/// The line in which the reason is typed, and the column of the cursor. A long reason shows its end.
fn reason_line(reason: &str, columns: usize) -> (String, usize) {
    let shown = super::escape::line(reason);
    // A blank that the person just typed needs no mark.
    let shown = shown.replace('·', " ");
    let mut rest = shown.as_str();
    while rest.width() + 3 > columns {
        let mut chars = rest.chars();
        chars.next();
        rest = chars.as_str();
    }
    (format!("> {rest}"), 2 + rest.width())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::choices::Choices;
    use super::super::facts::Facts;
    use super::*;

    proptest! {
        #[test]
        fn every_size_is_filled_and_never_more(
            rows in 3_usize..60, columns in 16_usize..220, text in "(\\PC|\\s|[\\x00-\\x1f]){0,300}", left in 0_u64..100,
        ) {
            let facts = Facts { description: Some(text.clone()), text, ..Facts::default() };
            let mut dialogue = Dialogue::new(facts, Choices::default());
            let frame = Frame::new(&mut dialogue, Size { rows, columns }, Duration::from_secs(left));
            prop_assert_eq!(frame.rows.len(), rows);
            for row in frame.rows {
                let plain = anstream::adapter::strip_str(&row).to_string();
                prop_assert!(plain.width() <= columns, "{:?} {}", plain, plain.width());
                prop_assert!(!plain.chars().any(char::is_control), "{:?}", plain);
            }
        }
    }
}
