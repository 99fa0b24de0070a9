//! Rendered text, with a map from positions in it back to raw bytes.

use crate::marker::{MARKER_STARTS, is_line_end, looks_like_one};

/// Marks are at least this many bytes of text apart, to save memory.
const MIN_MARK_DISTANCE: usize = 32;

/// The clean text of a range of raw bytes.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    marks: Marks,
    /// The offset of the first raw byte in the stream.
    base: u64,
    /// How many raw bytes there were.
    length: usize,
}

impl Rendered {
    pub(super) fn new(text: String, marks: Marks, base: u64, length: usize) -> Self {
        Self { text, marks, base, length }
    }

    /// The offset in the stream of the raw byte at this position in the text. It is exact for plain text, and else at
    /// most about a line off.
    pub(crate) fn raw_at(&self, place: usize) -> u64 {
        // Codes after the last character count as part of it.
        let raw = if place >= self.text.len() { self.length } else { self.marks.raw_at(place) };
        self.base + raw.min(self.length) as u64
    }

    /// Puts a space before every line that looks like a marker of ours.
    pub(crate) fn indent_marks(&mut self) {
        let has = |start: &&str| memchr::memmem::find(self.text.as_bytes(), start.as_bytes()).is_some();
        if !MARKER_STARTS.iter().any(has) {
            return;
        }
        let mut text = String::with_capacity(self.text.len() + 16);
        let mut marks = Marks::default();
        let mut place = 0;
        for line in self.text.split_inclusive(is_line_end) {
            marks.note(text.len(), self.marks.raw_at(place));
            if looks_like_one(line) {
                text.push(' ');
            }
            text.push_str(line);
            place += line.len();
        }
        self.text = text;
        self.marks = marks;
    }
}

/// Positions in the text and their raw offsets, both ascending. Between two marks, each byte of text is one raw byte.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<(usize, usize)>);

impl Marks {
    /// Notes that the text at `place` came from the raw byte at `raw`.
    pub(super) fn note(&mut self, place: usize, raw: usize) {
        let (last_place, last_raw) = self.0.last().copied().unwrap_or_default();
        let in_step = raw.saturating_sub(last_raw) == place - last_place;
        let far =
            place - last_place >= MIN_MARK_DISTANCE || raw.saturating_sub(last_raw) >= 16 * MIN_MARK_DISTANCE;
        if !in_step && far {
            // A redrawn row can come from earlier bytes than the row above it.
            self.0.push((place, raw.max(last_raw)));
        }
    }

    fn raw_at(&self, place: usize) -> usize {
        let after = self.0.partition_point(|mark| mark.0 <= place);
        let (before, raw) =
            after.checked_sub(1).and_then(|index| self.0.get(index)).copied().unwrap_or_default();
        let next = self.0.get(after).map_or(usize::MAX, |mark| mark.1);
        (raw + (place - before)).min(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_marks_each_byte_of_text_is_one_raw_byte() {
        let plain = Rendered::new("abc\ndef".to_owned(), Marks::default(), 100, 7);
        assert_eq!(plain.raw_at(0), 100);
        assert_eq!(plain.raw_at(4), 104);
        assert_eq!(plain.raw_at(7), 107);
    }

    #[test]
    fn a_mark_shifts_the_positions_after_it() {
        let mut marks = Marks::default();
        marks.note(10, 10);
        marks.note(40, 500);
        marks.note(80, 540);
        assert_eq!(marks.0, [(40, 500)]);
        assert_eq!(marks.raw_at(39), 39);
        assert_eq!(marks.raw_at(90), 550);
    }

    #[test]
    fn lines_that_look_like_marks_are_indented() {
        let mut text = Rendered::new("[… a\nb [… c\n[… d".to_owned(), Marks::default(), 0, 20);
        text.indent_marks();
        assert_eq!(text.text, " [… a\nb [… c\n [… d");
    }
}
