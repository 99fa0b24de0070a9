//! Whether a request may run.
//!
//! [`admission`] checks a request and has it judged ([`judge`]). What the rules leave to a person becomes a question
//! ([`asking`], [`pending`]) that an [`approval::Approver`] answers, unless an earlier one covers it ([`earlier_approval`]), or a trial shows that it needs nothing ([`trial`]). [`trust`] is about settings files of projects, and
//! [`inside`] about what a command that shellgate runs may not do to shellgate.

mod admission;
pub mod approval;
pub(crate) mod asking;
pub(crate) mod earlier_approval;
pub mod inside;
pub mod judge;
mod pending;
pub(crate) mod trial;
pub(crate) mod trust;

pub use admission::Admitted;
pub use pending::{Considered, PendingQuestion, UnaskedQuestion};
