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

mod admit;
mod answer;
mod builder;
mod confine;
pub mod doctor;
mod error;
mod gate;
mod hint;
mod intake;
pub mod jobs;
mod locations;
mod record;
mod root;
mod run;
mod scope;
mod session_name;
mod sys;
pub mod views;

pub use admit::trust::ProjectFile;
pub use admit::{Admitted, Considered, PendingQuestion, UnaskedQuestion, approval, inside, judge};
pub use answer::artifacts::Artifact;
pub use answer::condensed::Condensed;
pub use answer::denials::Denial;
pub use answer::duration::seconds;
pub use answer::report::{Background, Report};
pub use answer::signal_names::SignalName;
pub use builder::{GateBuilder, StartLog};
pub use error::{Code, ErrorObject, SpawnFailure};
pub use gate::{Gate, Refused};
pub use hint::Hint;
pub use intake::dialect::{
    Advertised, DefaultApproval, DefaultPreset, DefaultRoot, Dialect, DialectAnswer, Envelope,
};
pub use intake::request::Request;
pub use intake::{dialect, request};
pub use locations::log_folder;
pub use record::{Gain, GivenAnswer, ProgramGain, RecordStore, Stopped, TokenCount};
pub use run::execution::{Event, Execution};
pub use run::hook::{keeper_hook, keeper_hook_with_log};
pub use scope::{Scope, ScopedGate};
pub use shellgate_exec::{
    Follow, Input, InputKind, InputState, JobKind, KEEPER_CHECK_INTERVAL, LOG_VARIABLE, PerStream, Size,
    State, Stopper, Stream, Surroundings, Urgency, surroundings,
};
pub use shellgate_journal as journal;
pub use shellgate_settings as settings;
pub use shellgate_settings::environment;
pub use shellgate_text as text;
pub use shellgate_text::{Screen, screen};
