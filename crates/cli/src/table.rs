//! Aligned columns. On a terminal, wide columns are cut so that rows fit the screen.

use std::io::{self, IsTerminal as _};

use shellgate::text::layout::{columns, cut};

/// A cell: text without control characters, and its color code, if any.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    color: &'static str,
}

impl Cell {
    pub(crate) fn colored(text: impl Into<String>, color: &'static str) -> Self {
        Self { text: text.into(), color }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), color: "" }
    }
}

/// No column is made narrower than this.
const COLUMN_MIN_WIDTH: usize = 10;

/// The columns of standard output. `None`: it is not a terminal, and nothing is cut.
pub(crate) fn width() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten()?;
    // Some terminals report no width.
    Some(if size.ws_col == 0 { 80 } else { usize::from(size.ws_col).clamp(40, 400) })
}

/// The table as text: a line with `heads`, then a line per row.
pub(crate) fn table<const N: usize>(heads: [&str; N], rows: &[[Cell; N]], width: Option<usize>) -> String {
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(&cell.text));
        cells.chain(heads.get(column).map(|head| columns(head))).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..N).map(widest).collect();
    if let Some(width) = width {
        let least = heads.map(|head| columns(head).max(COLUMN_MIN_WIDTH));
        narrow(&mut widths, &least, width);
    }
    let mut text = String::new();
    let heads = heads.map(|head| Cell::colored(head, "\x1b[1m"));
    for row in std::iter::once(&heads).chain(rows) {
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let shown = cut(&cell.text, *width);
            let blanks = if at + 1 == N { 0 } else { width + 2 - columns(&shown) };
            let end = if cell.color.is_empty() { "" } else { "\x1b[0m" };
            text.push_str(&format!("{}{shown}{end}{}", cell.color, " ".repeat(blanks)));
        }
        text.push('\n');
    }
    text
}

/// Narrows columns until a row fits into `width` or nothing can be narrowed: first the last column, then the widest.
/// The first column holds the id that people type, and stays.
fn narrow(widths: &mut [usize], least: &[usize], width: usize) {
    loop {
        let all: usize = widths.iter().map(|width| width + 2).sum();
        let over = (all - 2).saturating_sub(width);
        let can =
            |at: &usize| widths.get(*at).zip(least.get(*at)).is_some_and(|(width, least)| width > least);
        let last = widths.len().saturating_sub(1);
        let next = Some(last)
            .filter(can)
            .or_else(|| (1..last).filter(can).max_by_key(|at| widths.get(*at).copied()));
        match next.and_then(|at| widths.get_mut(at)) {
            Some(width) if over > 0 => *width -= 1,
            _ => return,
        }
    }
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
        let rows = [["id".into(), "a long one in the middle".into(), "the rest of it".into()]];
        let cut = anstream::adapter::strip_str(&table(["x", "yy", "z"], &rows, Some(30))).to_string();
        assert_eq!(cut.lines().nth(1), Some("id  a long one in…  the rest …"), "{cut}");
    }
}
