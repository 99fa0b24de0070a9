//! Output that isn't text: recognised by its first bytes or by what it is made of, described instead of
//! shown.

mod examine;
mod magic;
mod share;

pub(super) use examine::examine;
pub use examine::{Binary, Hashed};
