//! The audit log: what was requested, judged, approved, run and ended. A crash loses no entry, and a changed entry shows.
//!
//! # Theory of operation
//!
//! The journal is an SQLite database, `journal.db`, in the state folder. The table `entries` is the record, and entries are
//! only ever appended. Each entry has a hash over its own content and over the hash of the entry before it, so a change
//! to one entry breaks the chain from there on. Smaller tables are derived from the entries and serve as indexes:
//! executions with their states, questions with their answers, grants, trusted files. [`Journal::verify`] compares them
//! with the entries.
//!
//! An execution is a series of entries: [`begin`](Journal::begin) writes `asked`, and usually `started`, before the process
//! exists; [`append`](Journal::append) writes what follows. Each call writes all of its entries or none: starts and ends as lines
//! of a log beside the database, which are entered later ([`enter`](Journal::enter)), everything else as one transaction. When the call has returned, its
//! entries survive the death of any process. Whether they survive a loss of power is a choice: [`Durability`].
//!
//! ```
//! use shellgate_journal::{
//!     EndStatus, Journal, Query, RecordedDecision, RecordedEnd, RecordedRequest, RecordedStart,
//!     RecordedStream, RecordedVerdict, Step,
//! };
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let journal = Journal::open(folder)?;
//! let asked = RecordedRequest {
//!     dialect: "shellgate".into(),
//!     text: "cargo test".into(),
//!     argv: None,
//!     request: None,
//!     description: Some("Run the tests".into()),
//!     root: "/home/me/project".into(),
//!     directory: ".".into(),
//!     verdict: RecordedVerdict {
//!         decision: RecordedDecision::Allow,
//!         rules: vec!["core: cargo test".into()],
//!         reasons: vec![],
//!     },
//!     wanted: Default::default(),
//!     asker: None,
//! };
//! journal.begin("01J1", "default", asked, vec![Step::Started(RecordedStart::default())])?;
//! // Only now is the process started.
//! let ended = RecordedEnd {
//!     status: EndStatus::Completed,
//!     exit_code: Some(0),
//!     signal: None,
//!     error: None,
//!     pid: Some(4711),
//!     started_at: Some(1_700_000_000_000),
//!     ended_at: 1_700_000_001_000,
//!     stdout: RecordedStream::default(),
//!     stderr: RecordedStream::default(),
//!     job: false,
//!     times: Vec::new(),
//!     denials: None,
//!     omitted_denials: 0,
//!     shown: None,
//!     effects: None,
//! };
//! journal.append("01J1", vec![Step::Ended(ended)])?;
//!
//! let found = journal.history(&Query { containing: Some("test".into()), ..Query::default() })?;
//! assert_eq!(found[0].id, "01J1");
//! # Ok::<(), shellgate_journal::Error>(())
//! ```
//!
//! The journal doesn't look at processes. Its user says whether the process behind a [`ProcessIdentity`] is alive.

mod body;
pub mod calendar;
mod canonical;
mod chain;
mod enter;
mod entry;
mod error;
mod execution;
mod export;
mod forget;
mod grants;
mod hash;
mod head_file;
mod history;
mod journal;
mod log;
mod log_first;
mod long_log;
mod new_file;
mod open;
mod prune;
mod question;
mod schema;
mod status;
mod trust;
mod verify;

pub use body::{
    AnswerOptions, ApprovalChannel, Checkpoint, EndStatus, EndedGrant, EntryBody, EntryKind, ForetoldCall,
    ForetoldEffect, Gap, GrantEndCause, GrantId, GrantScope, LossCause, Millis, Note, OutputDetail,
    PersonAnswer, ProcessIdentity, PruneCause, QuestionId, QuestionOutcome, RecordedAnswer, RecordedApproval,
    RecordedChoice, RecordedDecision, RecordedDenial, RecordedEffects, RecordedEnd, RecordedError,
    RecordedForecast, RecordedLoss, RecordedPart, RecordedProgram, RecordedQuestion, RecordedReason,
    RecordedRequest, RecordedStart, RecordedStdin, RecordedStream, RecordedVerdict, RecordedView,
    SessionGrant, SettingsLines, Step, Tombstone, TrustedFile, UnwrittenSettings,
};
pub use entry::JournalEntry;
pub use error::Error;
pub use forget::ForgetReport;
pub use grants::{GRANT_LIFETIME_MS, HeldGrant};
pub use hash::{Head, NotAHead, Sha};
pub use history::{PastExecution, Query, session_contains};
pub use journal::Journal;
pub use open::{BUSY_TIMEOUT, Durability};
pub use prune::{PruneReport, Retention};
pub use question::{AnswerResult, AskerState, QueuedQuestion};
pub use status::Status;
pub use verify::{Break, Difference, Intact, Verification};
