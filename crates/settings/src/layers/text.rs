//! The text of a settings file, with lines and columns of its bytes.

use std::{cell::Cell, path::Path, sync::Arc};

use crate::{At, Origin, Place, Problem, SettingsError};

/// The text of a settings file.
#[derive(Debug)]
pub(super) struct Text {
    path: Arc<Path>,
    text: String,
    /// The last place that was asked for. The next one mostly follows it, so counting continues from here. Counting from the
    /// start each time would make the time quadratic in the number of entries.
    last: Cell<Cursor>,
}

#[derive(Debug, Clone, Copy)]
struct Cursor {
    offset: usize,
    line: u32,
    column: u32,
}

const START_OF_TEXT: Cursor = Cursor { offset: 0, line: 1, column: 1 };

impl Text {
    /// The text of these bytes. They must be UTF-8. A byte order mark is dropped.
    pub(super) fn new(path: &Path, bytes: Vec<u8>) -> Result<Self, SettingsError> {
        let path: Arc<Path> = path.into();
        match String::from_utf8(bytes) {
            Ok(mut text) => {
                if text.starts_with('\u{feff}') {
                    text.remove(0);
                }
                Ok(Self { path, text, last: Cell::new(START_OF_TEXT) })
            }
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let byte = bytes.get(valid).copied().unwrap_or_default();
                let text = String::from_utf8_lossy(bytes.get(..valid).unwrap_or_default()).into_owned();
                let text = Self { path, text, last: Cell::new(START_OF_TEXT) };
                Err(text.error(valid, Problem::NotUtf8 { byte }))
            }
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The line and column of a byte.
    pub(super) fn place(&self, offset: usize) -> Place {
        let mut at = self.last.get();
        if at.offset > offset {
            at = START_OF_TEXT;
        }
        for (skipped, c) in self.text.get(at.offset..).unwrap_or_default().char_indices() {
            if at.offset + skipped >= offset {
                break;
            }
            if c == '\n' {
                at.line = at.line.saturating_add(1);
                at.column = 1;
            } else {
                at.column = at.column.saturating_add(1);
            }
        }
        at.offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        self.last.set(at);
        Place { path: Arc::clone(&self.path), line: at.line, column: at.column }
    }

    pub(super) fn origin(&self, offset: usize) -> Origin {
        Origin::File(self.place(offset))
    }

    pub(super) fn error(&self, offset: usize, problem: Problem) -> SettingsError {
        SettingsError::new(At::Place(self.place(offset)), problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let text = Text::new(Path::new("/x"), "ab\nçd\r\n\nz".into()).unwrap();
        let expected = [
            (0, 1, 1),
            (1, 1, 2),
            (2, 1, 3),
            (3, 2, 1),
            (5, 2, 2),
            (8, 3, 1),
            (9, 4, 1),
            (10, 4, 2),
            (99, 4, 2),
        ];
        for (offset, line, column) in expected.into_iter().chain(expected.into_iter().rev()) {
            let place = text.place(offset);
            assert_eq!((place.line, place.column), (line, column), "{offset}");
        }
    }

    #[test]
    fn not_utf8() {
        let error = Text::new(Path::new("/x"), b"a\n\xc3\xa7 \xff".to_vec()).unwrap_err();
        insta::assert_snapshot!(error, @"/x:2:3: a settings file must be UTF-8 text, found the byte 0xff");
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let text = Text::new(Path::new("/x"), "\u{feff}a".into()).unwrap();
        assert_eq!(text.as_str(), "a");
        assert_eq!(text.place(0).column, 1);
    }
}
