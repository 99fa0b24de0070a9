//! The prompt on real terminals: tmux panes in which a person would type.

#![expect(clippy::unwrap_used, reason = "a test may")]

#[path = "prompt/answers.rs"]
mod answers;
#[path = "prompt/deceit.rs"]
mod deceit;
#[path = "prompt/look.rs"]
mod look;
#[path = "prompt/pane.rs"]
mod pane;
mod support;
#[path = "prompt/upsets.rs"]
mod upsets;
