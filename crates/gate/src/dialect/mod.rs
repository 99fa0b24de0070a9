//! The forms that agents expect: how arguments are read, how answers are written.
//!
//! A dialect is data and two functions. Nothing else asks which one is in use.

mod fields;
mod json;
mod native;

use crate::ErrorObject;
use crate::report::Report;
use crate::request::Request;

/// One form.
#[derive(Debug)]
pub struct Dialect {
    /// Its name, as `--dialect` takes it.
    pub name: &'static str,
    /// The name of its tool.
    pub tool: &'static str,
    /// From arguments, as JSON, to a request.
    pub read: fn(&str) -> Result<Request, ErrorObject>,
    /// From a report to what the model gets.
    pub write: fn(&Report) -> String,
}

impl Dialect {
    /// Every dialect that is built.
    pub const ALL: &'static [&'static Self] = &[&native::DIALECT];

    /// Our own, which is the default.
    pub const SHELLGATE: &'static Self = &native::DIALECT;

    /// The dialect called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().copied().find(|dialect| dialect.name == name)
    }
}
