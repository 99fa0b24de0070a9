//! Raw output bytes to clean text for a model.
//!
//! A command writes bytes: colours, progress bars that redraw themselves, a picture by mistake, gigabytes of
//! a log. A model gets text: what a person would have seen on a terminal with unlimited lines, cut to a
//! limit, with one honest line where something is missing. The spool file keeps the real bytes.
//!
//! How it works:
//! 1. [`view()`] looks at two samples. What is [`Binary`] is described by kind, size and hash, never shown.
//! 2. `render` plays the bytes on a screen without a bottom: carriage returns, cursor moves and erasures are
//!    applied, so a progress bar is left in its last state; all other codes and control characters vanish.
//! 3. `cut` keeps head and tail of what is longer than the [`Limit`] and puts a `marker` line between them.
//!
//! What it promises: time is linear in the bytes looked at, and those are bounded. Up to 8 MiB are rendered
//! whole; of more, only a window at each end is read. The text holds no control characters but newline and
//! tab, and no line of output can pass for a marker: one that looks like it is indented by a blank.
//!
//! [`Decoder`] is for live events: text as it comes, whole characters only, codes left in.

mod binary;
mod cut;
mod decoder;
mod marker;
mod render;
mod screen;
mod source;
#[cfg(test)]
mod tests;
mod view;

pub use binary::{Binary, Hashed};
pub use decoder::{Decoder, Piece};
pub use marker::STARTS as MARKERS;
pub use screen::{Screen, screen};
pub use source::Source;
pub use view::{Limit, View, last_line, last_line_in, one_line, view};

/// What a reader would see of a part of some output, without a look at the rest.
#[must_use]
pub fn rendered(bytes: &[u8]) -> String {
    render::render(bytes.to_vec(), 0).text
}
