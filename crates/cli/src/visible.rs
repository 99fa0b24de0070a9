//! Stored output on a terminal: nothing in it may act on the terminal.

use shellgate::text::Decoder;

use crate::output::shows;

/// Makes bytes visible, piece by piece.
#[derive(Debug)]
pub(crate) struct Visible {
    decoder: Decoder,
}

impl Default for Visible {
    fn default() -> Self {
        Self { decoder: Decoder::new() }
    }
}

impl Visible {
    /// The text of these bytes, and of what was held back before.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.decoder.push(bytes).map(|piece| visible(&piece.text)).unwrap_or_default()
    }

    /// What was held back.
    pub(crate) fn finish(&mut self) -> String {
        self.decoder.finish().map(|piece| visible(&piece.text)).unwrap_or_default()
    }
}

/// Text with its lines and tabs, and everything else that doesn't show as what it is called.
fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => visible.push(c),
            c if shows(c) => visible.push(c),
            c => visible.extend(c.escape_default()),
        }
    }
    visible
}
