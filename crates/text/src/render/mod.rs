//! Bytes to the text a terminal with unlimited lines would show in the end.
//!
//! `play` walks over the bytes: runs of ordinary text go to the [`screen::Screen`] in one piece, escape
//! sequences go through the `vte` parser in `codes`. `plain` recognises text without any of that, which is
//! most output, and copies nothing. `marks` remember which raw byte a place in the text came from.
//!
//! What differs from a terminal, on purpose:
//! - A newline also returns to the first column: pipes carry `\n` alone.
//! - Every character is one column wide, a tab too. Redrawn lines repeat the same characters, so it rarely
//!   shows.
//! - Clearing the screen, the first absolute cursor address, and entering or leaving the alternate screen
//!   start a new screen below what was printed; nothing printed is lost by them. Redrawing in place after
//!   that is applied.
//! - Only the last [`screen::EDITABLE_ROWS`] rows can be changed; the cursor can't go above them.
//! - Blanks at the end of a line that was redrawn are dropped: they are there to paint over something.
//! - A string sequence (OSC, DCS, …) that never ends is not one; what follows it is shown.

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
