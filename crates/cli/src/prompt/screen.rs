//! What a question looks like in so many rows and columns.
//!
//! The text is in the middle and can be scrolled; title, state and keys stand around it. Where rows are few, the title
//! goes, then the meaning of each key moves to the end of the text.

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

/// Rows as they are drawn, from the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) rows: Vec<String>,
    /// The column in the last row where something is typed.
    pub(crate) cursor: Option<usize>,
}

/// Fewer rows have no title.
const TITLE_MIN_ROWS: usize = 10;
/// The text has at least so many rows when the meaning of each key stands below it.
const TEXT_MIN_ROWS: usize = 9;
/// The time is shown when so little is left.
const COUNTDOWN_FROM: Duration = Duration::from_secs(60);

impl Frame {
    /// Draws `dialogue`, for which so much time is left.
    pub(crate) fn new(dialogue: &mut Dialogue, size: Size, left: Duration) -> Self {
        let columns = size.columns.max(4);
        let entries = dialogue.entries();
        let title = match dialogue.page {
            Page::Always => "shellgate: write this into your settings?",
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

/// The keys alone, in as many rows as they need.
fn keys(entries: &[Entry], columns: usize) -> Vec<String> {
    let words: Vec<String> = entries.iter().map(|entry| format!("{} {}", entry.key, entry.short)).collect();
    let line = words.join("  ");
    if line.len() <= columns {
        return vec![line];
    }
    let letters: Vec<String> = entries.iter().map(|entry| entry.key.to_string()).collect();
    vec![first_fitting(&[&letters.join(" "), &letters.concat()], columns)]
}

/// What the keys mean, as the end of the text.
fn key_meanings(entries: &[Entry], columns: usize) -> Vec<String> {
    let mut table = Table::new(columns, 0);
    for entry in entries {
        table.own_words(&format!("key {}", entry.key), &entry.meaning);
    }
    table.lines
}

/// Which lines are shown, or what there is to say; and the time, when there is little left.
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
        (Page::Reason(_), _) => vec!["why not? Enter sends it, Esc goes back", "why not?"],
        (_, Some(note)) => vec![note, note.split(':').next().unwrap_or(note)],
        _ if more.is_empty() => vec!["your answer", "?"],
        _ => places.iter().map(String::as_str).collect(),
    };
    texts.extend(places.last().map(String::as_str));
    let time = if left > COUNTDOWN_FROM { String::new() } else { format!(" no in {} s", left.as_secs() + 1) };
    let room = columns.saturating_sub(time.len());
    let text = first_fitting(&texts, room.saturating_sub(6));
    let rule = "─".repeat(room.saturating_sub(text.width() + 4));
    let emphasis = if dialogue.note.is_some() { "\x1b[1;33m" } else { "" };
    format!("\x1b[2m──\x1b[0m {emphasis}{text}\x1b[0m \x1b[2m{rule}\x1b[0m\x1b[1;33m{time}\x1b[0m")
}

/// The first text that fits, else the beginning of the last.
fn first_fitting(texts: &[&str], columns: usize) -> String {
    let fits = texts.iter().find(|text| text.width() <= columns);
    fits.map_or_else(
        || texts.last().map(|text| text.chars().take(columns).collect()).unwrap_or_default(),
        |text| (*text).to_owned(),
    )
}

/// What was typed: its end, if it is too long.
fn reason_line(reason: &str, columns: usize) -> (String, usize) {
    let shown = super::escape::line(reason);
    // A blank that was just typed is no blank to wonder about.
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
