//! Rendered text, and which raw byte each place in it came from.

/// How far the text must have grown before another mark is worth its memory.
const APART: usize = 32;

/// Clean text of one stretch of raw bytes.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    marks: Marks,
    /// The stream's offset of the first raw byte.
    base: u64,
    /// How many raw bytes there were.
    length: usize,
}

impl Rendered {
    pub(super) fn new(text: String, marks: Marks, base: u64, length: usize) -> Self {
        Self { text, marks, base, length }
    }

    /// The stream's offset of the byte behind this place in the text: exact for plain text, else about a line
    /// off at most.
    pub(crate) fn raw_at(&self, place: usize) -> u64 {
        // Codes after the last character belong to it.
        let raw = if place >= self.text.len() { self.length } else { self.marks.raw_at(place) };
        self.base + raw.min(self.length) as u64
    }

    /// Puts a blank before every line that begins with one of `guarded`.
    pub(crate) fn indent_lines(&mut self, guarded: &[&str]) {
        let starts = |line: &str| guarded.iter().any(|start| line.starts_with(start));
        if !guarded.iter().any(|start| memchr::memmem::find(self.text.as_bytes(), start.as_bytes()).is_some())
        {
            return;
        }
        let mut text = String::with_capacity(self.text.len() + 16);
        let mut marks = Marks::default();
        let mut place = 0;
        for line in self.text.split_inclusive('\n') {
            marks.note(text.len(), self.marks.raw_at(place));
            if starts(line) {
                text.push(' ');
            }
            text.push_str(line);
            place += line.len();
        }
        self.text = text;
        self.marks = marks;
    }
}

/// Places in the text whose raw offset is known, both ascending. Between two marks text and bytes run in
/// step.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<(usize, usize)>);

impl Marks {
    /// The text at `place` came from the byte at `raw`.
    pub(super) fn note(&mut self, place: usize, raw: usize) {
        let (last_place, last_raw) = self.0.last().copied().unwrap_or_default();
        let in_step = raw.saturating_sub(last_raw) == place - last_place;
        let far = place - last_place >= APART || raw.saturating_sub(last_raw) >= 16 * APART;
        if !in_step && far {
            // Redrawn rows can come from earlier bytes than the row above them.
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
    fn text_without_marks_is_in_step() {
        let plain = Rendered::new("abc\ndef".to_owned(), Marks::default(), 100, 7);
        assert_eq!(plain.raw_at(0), 100);
        assert_eq!(plain.raw_at(4), 104);
        assert_eq!(plain.raw_at(7), 107);
    }

    #[test]
    fn marks_shift_what_follows_them() {
        let mut marks = Marks::default();
        marks.note(10, 10);
        marks.note(40, 500);
        marks.note(80, 540);
        assert_eq!(marks.0, [(40, 500)]);
        assert_eq!(marks.raw_at(39), 39);
        assert_eq!(marks.raw_at(90), 550);
    }

    #[test]
    fn lines_that_look_like_ours_are_indented() {
        let mut text = Rendered::new("[… a\nb [… c\n[… d".to_owned(), Marks::default(), 0, 20);
        text.indent_lines(&["[… "]);
        assert_eq!(text.text, " [… a\nb [… c\n [… d");
    }
}
