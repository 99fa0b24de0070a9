//! Keeps the record: what was asked, judged, answered, run and ended, so that nobody can lose or quietly change it.
//!
//! # Theory of operation
//!
//! The journal is an SQLite database, `journal.db`, in the state folder. Its truth is one table of entries that is only
//! ever appended to; each entry carries a hash over itself and over the entry before it, so a change anywhere shows
//! from there on. Beside it are small tables that are derived from the entries and find things quickly: executions
//! with their state, questions and their answers, grants, trusted files. [`Journal::verify`] compares them too.
//!
//! An execution's life is entries: [`begin`](Journal::begin) (`asked`, and usually `started` with it) before there is a
//! process, [`append`](Journal::append) for what follows. Each call is one transaction. When it has returned, the death
//! of this process, or of any other, takes nothing back. What a loss of power may take is a choice: [`Durability`].
//!
//! ```
//! use shellgate_journal::{Asked, Decision, Ended, Finish, Journal, Query, Started, Step, Stream, Verdict};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let journal = Journal::open(folder)?;
//! let asked = Asked {
//!     dialect: "shellgate".into(),
//!     text: "cargo test".into(),
//!     argv: None,
//!     request: None,
//!     description: Some("Run the tests".into()),
//!     root: "/home/me/project".into(),
//!     directory: ".".into(),
//!     verdict: Verdict { decision: Decision::Allow, rules: vec!["core: cargo test".into()], reasons: vec![] },
//!     wanted: Default::default(),
//!     asker: None,
//! };
//! journal.begin("01J1", "default", asked, vec![Step::Started(Started::default())])?;
//! // Only now is the process started.
//! let ended = Ended {
//!     finish: Finish::Completed,
//!     exit_code: Some(0),
//!     signal: None,
//!     error: None,
//!     pid: Some(4711),
//!     started_at: Some(1_700_000_000_000),
//!     ended_at: 1_700_000_001_000,
//!     stdout: Stream::default(),
//!     stderr: Stream::default(),
//!     job: false,
//!     times: Vec::new(),
//! };
//! journal.append("01J1", vec![Step::Ended(ended)])?;
//!
//! let found = journal.history(&Query { containing: Some("test".into()), ..Query::default() })?;
//! assert_eq!(found[0].id, "01J1");
//! # Ok::<(), shellgate_journal::Error>(())
//! ```
//!
//! The journal knows nothing of processes: whether an asker or a keeper is alive is for the caller to say, who gave it
//! an [`Owner`] to recognise them by.

pub mod calendar;
mod canonical;
mod chain;
mod entry;
mod error;
mod execution;
mod export;
mod forget;
mod hash;
mod history;
mod journal;
mod open;
mod prune;
mod question;
mod record;
mod schema;
mod standing;
mod status;
mod verify;

pub use entry::Entry;
pub use error::Error;
pub use forget::Forgotten;
pub use hash::{Head, NotAHead, Sha};
pub use history::{Execution, Query};
pub use journal::Journal;
pub use open::Durability;
pub use prune::{Pruned, Retention};
pub use question::{Answering, Pending};
pub use record::{
    Always, Answer, Answered, ApprovedBy, Asked, Cause, Channel, Checkpoint, Choice, Closed, Closing,
    Decision, Ended, Finish, Grant, Input, Kind, Millis, Note, Owner, Part, Problem, Question, QuestionId,
    Reason, Record, Scope, Settled, Shows, Started, Step, Stream, Tombstone, Trusted, Verdict, Wanted,
};
pub use status::Status;
pub use verify::{Break, Difference, Intact, Verification};
