//! Makes foreign bytes readable and harmless.
//!
//! For models, [`view()`] turns raw output into clean text, as described below. For people, [`escape`] writes out what
//! doesn't show ([`characters`] is the table), [`Picture`] draws a command with its parts marked, and [`LabelledRows`]
//! keeps foreign text apart from our own words. [`StyledLine`]s leave colors to the front end.
//!
//! # Turning raw output bytes into clean text for a model
//!
//! A command writes bytes: colours, progress bars that redraw themselves, a picture by mistake, gigabytes of
//! a log. A model gets text: what a person would have seen on a terminal with unlimited lines, cut to a
//! limit, with one line that says what is missing. The spool file keeps the raw bytes.
//!
//! How it works:
//! 1. [`view()`] examines two samples. [`Binary`] output is described by kind, size and hash, never shown.
//! 2. `render` plays the bytes on a screen with unlimited rows. It applies carriage returns, cursor moves and
//!    erasures, so a progress bar appears in its last state. It drops all other codes and control characters.
//! 3. [`condense`] shortens what is long, by rules for the program that wrote it, if a caller asks for that.
//! 4. `cut` keeps the head and the tail of a text that is longer than the [`Limit`], with a `marker` line
//!    between them.
//!
//! What it promises:
//! - Time is linear in the bytes read, and those are bounded: streams up to 8 MiB are rendered whole, of
//!   longer ones only a window at each end is read.
//! - The text contains no control characters except newline and tab.
//! - Output can't forge a marker: a line of output that looks like one is indented by a space.
//!
//! [`Decoder`] is for live events: it decodes text as it comes, in whole characters, and keeps the codes.

mod binary;
pub mod characters;
pub mod condense;
mod cut;
mod decoder;
pub mod escape;
mod foreign;
mod labelled_rows;
pub mod layout;
mod marker;
mod own_text;
mod picture;
mod render;
mod screen;
mod source;
mod styled;
#[cfg(test)]
mod tests;
mod token_pairs;
mod token_table;
mod tokens;
mod view;

pub use binary::{Binary, Hashed};
pub use decoder::{Decoder, Piece};
pub use foreign::{foreign, quoted};
pub use labelled_rows::LabelledRows;
pub use marker::{indent_marks, with_commas};
pub use own_text::own_text;
pub use picture::{Marked, Picture, Row};
pub use screen::{Screen, screen};
pub use source::{ReadAs, Source};
pub use styled::{Style, StyledLine, plain_text};
pub use tokens::estimate_tokens;
pub use view::{Limit, Shares, View, ViewOptions, last_line, last_line_in, one_line, view, view_with};

/// Renders a part of some output by itself, without the rest.
#[must_use]
pub fn rendered(bytes: &[u8]) -> String {
    render::render(bytes.to_vec(), 0).text
}
