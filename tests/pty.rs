//! Terminals: what runs in one, who reads it, what may be typed at it, and people who sit there.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may")]

#[path = "pty/job.rs"]
mod job;
#[path = "pty/judged.rs"]
mod judged;
#[path = "pty/output.rs"]
mod output;
#[path = "prompt/pane.rs"]
#[allow(dead_code, clippy::allow_attributes, reason = "the other user of it uses all")]
mod pane;
#[path = "pty/programs.rs"]
mod programs;
#[path = "pty/seated.rs"]
mod seated;
#[path = "pty/sourced.rs"]
mod sourced;
mod support;
#[path = "pty/tool.rs"]
mod tool;
#[path = "pty/typed.rs"]
mod typed;
#[path = "pty/waiting.rs"]
mod waiting;
#[path = "pty/whole.rs"]
mod whole;
