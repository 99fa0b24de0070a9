//! A screen with unlimited rows and columns.

use std::collections::VecDeque;

use super::{marks::Marks, row::Row};

/// How many rows, counted from the last one, can be changed.
pub(super) const EDITABLE_ROWS: usize = 256;

/// The cursor can't be moved beyond this column if the row is shorter. Wide terminals have about as many columns.
const MAX_CURSOR_COLUMN: usize = 512;

/// Spaces and rows that cursor moves add may exceed the number of bytes read so far by this much. Without a limit a few
/// bytes could ask for megabytes.
const FREE_PADDING_CELLS: usize = 4096;

/// Which part of a row or screen to erase, relative to the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Erase {
    After,
    Before,
    All,
}

/// Settled rows, rows that can be changed, and a cursor among the latter.
pub(super) struct Screen {
    settled: String,
    marks: Marks,
    /// Never empty.
    rows: VecDeque<Row>,
    /// The number of `rows[0]`, counted from the first row of the output. Row numbers stay valid when rows settle.
    first: usize,
    row: usize,
    column: usize,
    saved: (usize, usize),
    /// The row that absolute addresses count from. `None`: there was no absolute address yet.
    top: Option<usize>,
    /// The raw offset that is being played.
    at: usize,
    padded: usize,
}

impl Screen {
    pub(super) fn new() -> Self {
        Self {
            settled: String::new(),
            marks: Marks::default(),
            rows: VecDeque::from([Row::default()]),
            first: 0,
            row: 0,
            column: 0,
            saved: (0, 0),
            top: None,
            at: 0,
            padded: 0,
        }
    }

    /// Sets the raw offset of the next calls.
    pub(super) fn set_position(&mut self, at: usize) {
        self.at = at;
    }

    /// Writes text without control characters at the cursor.
    pub(super) fn print(&mut self, text: &str) {
        let gap = self.column.saturating_sub(self.change(|row, _| row.width()));
        if gap > 0 {
            let padding = self.allow_padding(gap);
            self.column -= gap - padding;
            self.change(|row, _| row.pad(padding));
        }
        self.column = self.change(|row, column| row.write(column, text));
    }

    /// Moves to the start of the next row, and adds that row if it doesn't exist.
    pub(super) fn newline(&mut self) {
        if self.row == self.last() {
            self.add_row();
        }
        self.row += 1;
        self.column = 0;
    }

    pub(super) fn carriage_return(&mut self) {
        self.column = 0;
    }

    pub(super) fn up(&mut self, count: usize) {
        let highest = self.top.unwrap_or(0).max(self.first);
        self.row = self.row.saturating_sub(count).max(highest.min(self.row));
    }

    /// Moves down, at most to the last row.
    pub(super) fn down(&mut self, count: usize) {
        self.row = self.row.saturating_add(count).min(self.last());
    }

    pub(super) fn left(&mut self, count: usize) {
        self.column = self.column.saturating_sub(count);
    }

    pub(super) fn right(&mut self, count: usize) {
        self.move_to_column(self.column.saturating_add(count));
    }

    pub(super) fn move_to_column(&mut self, column: usize) {
        let rightmost = self.change(|row, _| row.width()).max(MAX_CURSOR_COLUMN);
        self.column = column.min(rightmost);
    }

    /// Moves to a row of the current screen, counted from 0. The first address starts a screen.
    pub(super) fn move_to_row(&mut self, row: usize) {
        if self.top.is_none() {
            let column = self.column;
            self.start_screen();
            self.column = column;
        }
        let top = self.top.unwrap_or(0).max(self.first);
        let wanted = top.saturating_add(row.min(EDITABLE_ROWS / 2));
        let added = self.allow_padding(wanted.saturating_sub(self.last()));
        for _ in 0..added {
            self.add_row();
        }
        self.row = wanted.min(self.last()).max(self.first);
    }

    pub(super) fn save(&mut self) {
        self.saved = (self.row, self.column);
    }

    pub(super) fn restore(&mut self) {
        self.row = self.saved.0.clamp(self.first, self.last());
        self.move_to_column(self.saved.1);
    }

    pub(super) fn erase_row(&mut self, part: Erase) {
        self.change(|row, column| match part {
            Erase::After => row.truncate(column),
            Erase::Before => row.blank(0, column + 1),
            Erase::All => row.truncate(0),
        });
    }

    /// Erases a part of the screen. Erasing above the cursor is ignored: rows above it may be older than the program's
    /// screen.
    pub(super) fn erase_screen(&mut self, part: Erase) {
        match part {
            Erase::After => {
                self.erase_row(Erase::After);
                self.rows.truncate(self.row - self.first + 1);
            }
            Erase::Before => {}
            Erase::All => self.start_screen(),
        }
    }

    pub(super) fn delete_characters(&mut self, count: usize) {
        self.change(|row, column| row.delete(column, count));
    }

    pub(super) fn blank_characters(&mut self, count: usize) {
        self.change(|row, column| row.blank(column, count));
    }

    pub(super) fn insert_characters(&mut self, count: usize) {
        let count = self.allow_padding(count.min(MAX_CURSOR_COLUMN));
        self.change(|row, column| row.insert(column, count));
    }

    pub(super) fn delete_rows(&mut self, count: usize) {
        let index = self.row - self.first;
        let end = index.saturating_add(count).min(self.rows.len());
        self.rows.drain(index..end);
        if index == self.rows.len() {
            self.rows.push_back(Row::at(self.at));
        }
    }

    pub(super) fn insert_rows(&mut self, count: usize) {
        let room = EDITABLE_ROWS - self.rows.len().min(EDITABLE_ROWS);
        let index = self.row - self.first;
        for _ in 0..self.allow_padding(count.min(room)) {
            self.rows.insert(index, Row::at(self.at));
        }
    }

    /// Starts a new screen below the output so far. A current screen that is still blank is used again.
    pub(super) fn start_screen(&mut self) {
        let lowest = self.top.unwrap_or(0).max(self.first);
        while self.last() > lowest && self.rows.back().is_some_and(Row::is_blank) {
            self.rows.pop_back();
        }
        self.row = self.last();
        let at = self.at;
        if self.change(|row, _| row.is_blank()) {
            self.change(|row, _| row.reset(at));
        } else {
            self.add_row();
            self.row += 1;
        }
        self.column = 0;
        self.top = Some(self.row);
    }

    /// The whole text, with the marks that map it back to the raw bytes.
    pub(super) fn finish(mut self) -> (String, Marks) {
        // Erased rows at the end are not lines, but the line above them has ended.
        let mut ended = false;
        while self.rows.len() > 1 && self.rows.back().is_some_and(Row::is_erased) {
            self.rows.pop_back();
            ended = true;
        }
        while self.rows.len() > 1 {
            self.settle_first();
        }
        if let Some(row) = self.rows.front() {
            self.marks.note(self.settled.len(), row.start);
            row.append_to(&mut self.settled);
        }
        if ended {
            self.settled.push('\n');
        }
        (self.settled, self.marks)
    }

    fn last(&self) -> usize {
        self.first + self.rows.len().saturating_sub(1)
    }

    /// Calls `change` with the row under the cursor and the cursor's column.
    fn change<T: Default>(&mut self, change: impl FnOnce(&mut Row, usize) -> T) -> T {
        let column = self.column;
        self.rows.get_mut(self.row - self.first).map(|row| change(row, column)).unwrap_or_default()
    }

    fn add_row(&mut self) {
        let mut row = if self.rows.len() >= EDITABLE_ROWS { self.settle_first() } else { Row::default() };
        row.reset(self.at);
        self.rows.push_back(row);
    }

    /// Moves the first row to the settled text. Returns the row, so that its memory can be used again.
    fn settle_first(&mut self) -> Row {
        let Some(row) = self.rows.pop_front() else { return Row::default() };
        self.marks.note(self.settled.len(), row.start);
        row.append_to(&mut self.settled);
        self.settled.push('\n');
        self.first += 1;
        self.row = self.row.max(self.first);
        row
    }

    /// How much of the wanted padding is allowed.
    fn allow_padding(&mut self, wanted: usize) -> usize {
        let allowed = wanted.min((FREE_PADDING_CELLS + self.at).saturating_sub(self.padded));
        self.padded += allowed;
        allowed
    }
}
