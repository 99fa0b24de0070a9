//! Lays out a question for a number of rows and columns.
//!
//! The text in the middle can be scrolled; the title is above it, the status line and the keys are below. With few rows,
//! the title is left out, and the meanings of the keys move to the end of the text.

use std::time::Duration;

use shellgate::text::layout::columns as width_of;
use shellgate::text::{LabelledRows, Style, StyledLine, escape};

use super::choices::KeyedAnswer;
use super::dialogue::{Dialogue, Page};

/// Rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// The rows to draw, from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) rows: Vec<StyledLine>,
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
        let answers = dialogue.answers();
        let title = match dialogue.page {
            Page::Always(_) => "shellgate: add this to your settings?",
            Page::Question | Page::Reason(_) => "shellgate: may this run?",
        };
        let title = (size.rows >= TITLE_MIN_ROWS).then(|| {
            StyledLine::new().with(Style::Strong, first_fitting(&[title, "may this run?"], columns))
        });
        let around = 1 + usize::from(title.is_some());
        let meanings: Vec<String> =
            answers.iter().map(|answer| format!("  {}  {}", answer.key, answer.meaning)).collect();
        let has_meanings = meanings.iter().all(|line| width_of(line) <= columns)
            && size.rows >= around + meanings.len() + TEXT_MIN_ROWS;
        let mut lines = dialogue.body(columns).to_vec();
        let (mut foot, mut cursor) =
            if has_meanings { (meanings, None) } else { (keys(&answers, columns), None) };
        if !has_meanings {
            lines.extend(key_meanings(&answers, columns));
        }
        if let Page::Reason(reason) = &dialogue.page {
            let (line, column) = reason_line(reason, columns);
            (foot, cursor) = (vec![line], Some(column));
        }
        foot.truncate(size.rows.saturating_sub(around + 1).max(1));
        let room = size.rows.saturating_sub(around + foot.len()).max(1);
        let range = dialogue.scroll_to_fit(room, lines.len());
        let state = status_line(dialogue, &range, lines.len(), left, columns);
        let mut rows: Vec<StyledLine> = title.into_iter().collect();
        rows.extend(lines.get(range).unwrap_or_default().iter().cloned());
        rows.resize(size.rows.saturating_sub(1 + foot.len()).max(1), StyledLine::new());
        rows.push(state);
        rows.extend(foot.into_iter().map(StyledLine::from));
        Self { rows, cursor }
    }
}

/// The keys without their meanings.
fn keys(answers: &[KeyedAnswer], columns: usize) -> Vec<String> {
    let words: Vec<String> =
        answers.iter().map(|answer| format!("{} {}", answer.key, answer.short)).collect();
    let line = words.join("  ");
    if line.len() <= columns {
        return vec![line];
    }
    let letters: Vec<String> = answers.iter().map(|answer| answer.key.to_string()).collect();
    vec![first_fitting(&[&letters.join(" "), &letters.concat()], columns)]
}

/// The meanings of the keys, for the end of the text.
fn key_meanings(answers: &[KeyedAnswer], columns: usize) -> Vec<StyledLine> {
    let mut rows = LabelledRows::new(columns, 0);
    for answer in answers {
        rows.own_words(&format!("key {}", answer.key), &answer.meaning);
    }
    rows.into_lines()
}

/// Which lines are shown, or a remark; and the time that is left, if it is short.
fn status_line(
    dialogue: &Dialogue,
    range: &std::ops::Range<usize>,
    total: usize,
    left: Duration,
    columns: usize,
) -> StyledLine {
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
    let rule = "─".repeat(room.saturating_sub(width_of(&text) + 4));
    let emphasis = if dialogue.note.is_some() { Style::Caution } else { Style::Plain };
    StyledLine::new()
        .with(Style::Faint, "── ")
        .with(emphasis, text)
        .with(Style::Faint, format!(" {rule}"))
        .with(Style::Caution, time)
}

/// The first text that fits, or the beginning of the last.
fn first_fitting(texts: &[&str], columns: usize) -> String {
    let fits = texts.iter().find(|text| width_of(text) <= columns);
    fits.map_or_else(
        || texts.last().map(|text| text.chars().take(columns).collect()).unwrap_or_default(),
        |text| (*text).to_owned(),
    )
}

/// The line in which the reason is typed, and the column of the cursor. A long reason shows its end.
fn reason_line(reason: &str, columns: usize) -> (String, usize) {
    let shown = escape::line(reason);
    let mut rest = shown.as_str();
    while width_of(rest) + 3 > columns {
        let mut chars = rest.chars();
        chars.next();
        rest = chars.as_str();
    }
    (format!("> {rest}"), 2 + width_of(rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use shellgate::views::QuestionView;

    use super::*;

    proptest! {
        #[test]
        fn every_size_is_filled_and_never_more(
            rows in 3_usize..60, columns in 16_usize..220, text in "(\\PC|\\s|[\\x00-\\x1f]){0,300}", left in 0_u64..100,
        ) {
            let view = QuestionView { description: Some(text.clone()), command: text, ..QuestionView::default() };
            let mut dialogue = Dialogue::new(view, shellgate::approval::Answer::No(None));
            let frame = Frame::new(&mut dialogue, Size { rows, columns }, Duration::from_secs(left));
            prop_assert_eq!(frame.rows.len(), rows);
            for row in frame.rows {
                let plain = row.to_string();
                prop_assert!(width_of(&plain) <= columns, "{:?} {}", plain, width_of(&plain));
                prop_assert!(!plain.chars().any(char::is_control), "{:?}", plain);
            }
        }
    }
}
