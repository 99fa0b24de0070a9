//! Raw output bytes to clean text for a model.
//!
//! [`Decoder`] is for live events: text as it comes, whole characters only, codes left in.

mod decoder;

pub use decoder::{Decoder, Piece};
