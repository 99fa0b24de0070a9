//! Stored output on a terminal: nothing in it may act on the terminal.

use shellgate::text::Decoder;

use crate::output::is_visible;

/// Makes bytes escaped, piece by piece.
#[derive(Debug)]
pub(crate) struct OutputEscaper {
    decoder: Decoder,
}

impl Default for OutputEscaper {
    fn default() -> Self {
        Self { decoder: Decoder::new() }
    }
}

impl OutputEscaper {
    /// The text of these bytes, and of what was held back before.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.decoder.push(bytes).map(|piece| escape_output(&piece.text)).unwrap_or_default()
    }

    /// What was held back.
    pub(crate) fn finish(&mut self) -> String {
        self.decoder.finish().map(|piece| escape_output(&piece.text)).unwrap_or_default()
    }
}

/// Text with its lines and tabs, and everything else that doesn't show as what it is called.
fn escape_output(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => escaped.push(c),
            c if is_visible(c) => escaped.push(c),
            c => escaped.extend(c.escape_default()),
        }
    }
    escaped
}
