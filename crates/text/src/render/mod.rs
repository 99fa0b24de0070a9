//! Renders bytes as the text that a terminal with unlimited lines would show in the end.
//!
//! `play` walks over the bytes: runs of ordinary text go to the [`screen::Screen`] in one piece, escape
//! sequences go through the `vte` parser in `codes`. `plain` recognises text without control characters, which
//! is most output, and copies nothing. `marks` map positions in the text back to raw bytes.
//!
//! What differs from a terminal, on purpose:
//! - A newline also returns to the first column: pipes carry `\n` alone.
//! - Every character is one column wide, a tab too. Redrawn lines mostly repeat the same characters, so that
//!   rarely shows.
//! - Clearing the screen, the first absolute cursor address, and entering or leaving the alternate screen
//!   start a new screen below the output so far, so none of it is lost. Redrawing in place after that is
//!   applied.
//! - Only the last [`screen::EDITABLE_ROWS`] rows can be changed; the cursor can't go above them.
//! - Spaces at the end of a redrawn line are dropped: they only painted over earlier text.
//! - A string sequence (OSC, DCS, …) without an end is not treated as one: the text after it is shown.

mod codes;
mod marks;
mod plain;
mod play;
mod row;
mod screen;
#[cfg(test)]
mod tests;

pub(super) use marks::Rendered;
pub(super) use play::render;
