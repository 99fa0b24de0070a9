//! One row of the screen.

/// On longer rows, edits that move cells do nothing: a few bytes of input could cost time in proportion to the row.
const MAX_MOVABLE_WIDTH: usize = 1024;

/// A row. It is a text while it is only appended to, and cells after the first other change.
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

    /// Empties the row, which then begins at this raw offset. Keeps its memory.
    pub(super) fn reset(&mut self, start: usize) {
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

    /// Whether the row was drawn and erased again. An empty line that was printed is not erased.
    pub(super) fn is_erased(&self) -> bool {
        self.edited && self.is_blank()
    }

    /// Writes `text` over the row from `column` on. `column` must not be beyond the end. Returns the column after the text.
    pub(super) fn write(&mut self, column: usize, text: &str) -> usize {
        if !self.edited && column >= self.width {
            self.text.push_str(text);
            self.width += if text.is_ascii() { text.len() } else { text.chars().count() };
            return self.width;
        }
        self.make_editable();
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

    /// Appends spaces.
    pub(super) fn pad(&mut self, count: usize) {
        if self.edited {
            self.cells.resize(self.cells.len() + count, ' ');
        } else {
            self.text.extend(std::iter::repeat_n(' ', count));
        }
        self.width += count;
    }

    /// Removes everything from `column` on.
    pub(super) fn truncate(&mut self, column: usize) {
        if column < self.width {
            self.make_editable();
            self.cells.truncate(column);
            self.width = column;
        }
    }

    /// Replaces `count` characters by spaces.
    pub(super) fn blank(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count).min(self.width);
        if self.is_movable() && column < end {
            self.make_editable();
            self.cells.get_mut(column..end).unwrap_or_default().fill(' ');
        }
    }

    /// Removes `count` characters. The rest moves left.
    pub(super) fn delete(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count).min(self.width);
        if self.is_movable() && column < end {
            self.make_editable();
            self.cells.drain(column..end);
            self.width = self.cells.len();
        }
    }

    /// Inserts `count` spaces. The rest moves right.
    pub(super) fn insert(&mut self, column: usize, count: usize) {
        if self.is_movable() && column < self.width {
            self.make_editable();
            self.cells.splice(column..column, std::iter::repeat_n(' ', count));
            self.width = self.cells.len();
        }
    }

    /// Appends the row to `out`. Spaces at the end of an edited row are left out: they only painted over earlier text.
    pub(super) fn append_to(&self, out: &mut String) {
        if self.edited {
            let shown = self.cells.iter().rposition(|cell| *cell != ' ').map_or(0, |last| last + 1);
            out.extend(self.cells.iter().take(shown));
        } else {
            out.push_str(&self.text);
        }
    }

    fn is_movable(&self) -> bool {
        self.width <= MAX_MOVABLE_WIDTH
    }

    /// Turns the text into cells. It stays cells, so that alternating changes are cheap.
    fn make_editable(&mut self) {
        if !self.edited {
            self.cells.extend(self.text.chars());
            self.text.clear();
            self.edited = true;
        }
    }
}
