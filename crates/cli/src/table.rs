//! Aligned columns. On a terminal the last one is cut to the width of the screen; in a pipe nothing is.

use std::io::{self, IsTerminal as _};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A cell: text without control characters, and the code for its colour, if it has one.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    colour: &'static str,
}

impl Cell {
    pub(crate) fn painted(text: impl Into<String>, colour: &'static str) -> Self {
        Self { text: text.into(), colour }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), colour: "" }
    }
}

/// How wide standard output is. `None`: as wide as anybody likes.
pub(crate) fn width() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten()?;
    // A terminal that doesn't know its width is as wide as most were.
    Some(if size.ws_col == 0 { 80 } else { usize::from(size.ws_col).clamp(40, 400) })
}

/// The table as text, a line a row, `heads` above.
pub(crate) fn table<const N: usize>(heads: [&str; N], rows: &[[Cell; N]], width: Option<usize>) -> String {
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width());
        cells.chain(heads.get(column).map(|head| head.width())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(widest).collect();
    let before: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    let room = width.map(|width| width.saturating_sub(before).max(10));
    let mut text = String::new();
    let heads = heads.map(|head| Cell::painted(head, "\x1b[1m"));
    for row in std::iter::once(&heads).chain(rows) {
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let last = at + 1 == N;
            let shown = if last { cut(&cell.text, room) } else { cell.text.clone() };
            let blanks = if last { 0 } else { width + 2 - shown.width() };
            let end = if cell.colour.is_empty() { "" } else { "\x1b[0m" };
            text.push_str(&format!("{}{shown}{end}{}", cell.colour, " ".repeat(blanks)));
        }
        text.push('\n');
    }
    text
}

/// As much of a text as there is room for.
fn cut(text: &str, room: Option<usize>) -> String {
    let Some(room) = room.filter(|room| text.width() > *room) else { return text.to_owned() };
    let mut shown = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        shown.push(c);
    }
    shown.push('…');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_the_last_is_cut() {
        let rows =
            [["a".into(), "bb".into(), "the rest of it".into()], ["ää".into(), "".into(), "漢字".into()]];
        let full = table(["x", "yy", "z"], &rows, None);
        assert_eq!(
            anstream::adapter::strip_str(&full).to_string(),
            "x   yy  z\na   bb  the rest of it\nää      漢字\n"
        );
        let cut = table(["x", "yy", "z"], &rows, Some(18));
        assert!(anstream::adapter::strip_str(&cut).to_string().contains("a   bb  the rest …\n"), "{cut}");
    }
}
