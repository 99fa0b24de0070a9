//! One row of the screen.

/// Edits that move cells stop working on rows longer than this: they cost time in proportion to the row, for
/// a few bytes of input.
const MOVABLE: usize = 1024;

/// A row: text as long as it was only appended to, cells from the first change on.
#[derive(Debug, Default)]
pub(super) struct Row {
    text: String,
    cells: Vec<char>,
    edited: bool,
    /// In characters.
    width: usize,
    /// The raw offset at which the row began.
    pub(super) start: usize,
}

impl Row {
    /// An empty row that begins at this raw offset.
    pub(super) fn at(start: usize) -> Self {
        Self { start, ..Self::default() }
    }

    /// Makes the row an empty one that begins at this raw offset, keeping its memory.
    pub(super) fn renew(&mut self, start: usize) {
        self.text.clear();
        self.cells.clear();
        self.edited = false;
        self.width = 0;
        self.start = start;
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Whether the row shows nothing.
    pub(super) fn is_blank(&self) -> bool {
        if self.edited { self.cells.iter().all(|cell| *cell == ' ') } else { self.text.is_empty() }
    }

    /// Whether the row was painted and wiped again, as opposed to an empty line that was printed.
    pub(super) fn is_wiped(&self) -> bool {
        self.edited && self.is_blank()
    }

    /// Writes over what is there from `column` on, which must not lie beyond the end; answers the column
    /// after it.
    pub(super) fn write(&mut self, column: usize, text: &str) -> usize {
        if !self.edited && column >= self.width {
            self.text.push_str(text);
            self.width += if text.is_ascii() { text.len() } else { text.chars().count() };
            return self.width;
        }
        self.edit();
        let mut at = column;
        for character in text.chars() {
            match self.cells.get_mut(at) {
                Some(cell) => *cell = character,
                None => self.cells.push(character),
            }
            at += 1;
        }
        self.width = self.cells.len();
        at
    }

    /// Appends blanks.
    pub(super) fn pad(&mut self, count: usize) {
        if self.edited {
            self.cells.resize(self.cells.len() + count, ' ');
        } else {
            self.text.extend(std::iter::repeat_n(' ', count));
        }
        self.width += count;
    }

    /// Drops everything from `column` on.
    pub(super) fn truncate(&mut self, column: usize) {
        if column < self.width {
            self.edit();
            self.cells.truncate(column);
            self.width = column;
        }
    }

    /// Replaces `count` characters by blanks.
    pub(super) fn blank(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count).min(self.width);
        if self.is_movable() && column < end {
            self.edit();
            self.cells.get_mut(column..end).unwrap_or_default().fill(' ');
        }
    }

    /// Removes `count` characters; the rest moves left.
    pub(super) fn delete(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count).min(self.width);
        if self.is_movable() && column < end {
            self.edit();
            self.cells.drain(column..end);
            self.width = self.cells.len();
        }
    }

    /// Inserts blanks; the rest moves right.
    pub(super) fn insert(&mut self, column: usize, count: usize) {
        if self.is_movable() && column < self.width {
            self.edit();
            self.cells.splice(column..column, std::iter::repeat_n(' ', count));
            self.width = self.cells.len();
        }
    }

    /// Appends the row to `out`. Blanks at the end of an edited row only painted over something.
    pub(super) fn append_to(&self, out: &mut String) {
        if self.edited {
            let shown = self.cells.iter().rposition(|cell| *cell != ' ').map_or(0, |last| last + 1);
            out.extend(self.cells.iter().take(shown));
        } else {
            out.push_str(&self.text);
        }
    }

    fn is_movable(&self) -> bool {
        self.width <= MOVABLE
    }

    /// From now on the row is cells. It never goes back, so that alternating changes stay cheap.
    fn edit(&mut self) {
        if !self.edited {
            self.cells.extend(self.text.chars());
            self.text.clear();
            self.edited = true;
        }
    }
}
