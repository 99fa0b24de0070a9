//! Binary output. It is recognised by its first bytes or by its share of bytes that text doesn't have, and described
//! instead of shown.

mod examine;
mod magic;
mod share;

pub(super) use examine::examine;
pub use examine::{Binary, Hashed};
