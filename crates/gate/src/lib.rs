//! shellgate: the gate that an agent's shell commands pass.
//!
//! A [`Gate`] takes a [`Request`], or the JSON of a tool call in some [`Dialect`], judges it, runs it through the
//! keeper of its session and answers with a [`Report`], or with the text that the dialect's model expects.
//!
//! ```no_run
//! use shellgate::{Dialect, Gate};
//!
//! // First thing in `main`: lets this program be its own keeper.
//! shellgate::keeper_hook();
//! let gate = Gate::builder().root("/home/me/project").build()?;
//! println!("{}", gate.call(Dialect::SHELLGATE, r#"{"command": "cargo test"}"#));
//! # Ok::<(), shellgate::ErrorObject>(())
//! ```
//!
//! The library never prints, never forks the program that it is part of, and never changes how that program's own
//! children are reaped.

pub mod approval;
mod artifacts;
mod builder;
pub mod dialect;
pub mod doctor;
pub mod environment;
mod error;
mod execution;
mod gate;
mod hook;
pub mod inside;
pub mod jobs;
pub mod judge;
mod limits;
mod record;
mod report;
pub mod request;
mod root;
mod screen;
mod session_name;
pub mod settings;
mod signal_names;
mod sys;
pub mod text;
mod trust;

pub use artifacts::Artifact;
pub use builder::GateBuilder;
pub use dialect::{DefaultRoot, Dialect, Envelope};
pub use error::{Code, ErrorObject, SpawnTrouble};
pub use execution::{Event, Execution};
pub use gate::{Admitted, Considered, Gate, Pending, Refused, Unasked};
pub use hook::keeper_hook;
pub use record::RecordStore;
pub use report::{Background, Report, seconds};
pub use request::Request;
pub use screen::{Screen, screen};
pub use shellgate_exec::{
    Bond, Channel, Follow, Input, PerStream, Reading, Size, State, Stopper, Stream, Surroundings, Urgency,
    surroundings,
};
pub use shellgate_journal as journal;
pub use signal_names::SignalName;
pub use trust::ProjectFile;
