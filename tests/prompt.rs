//! The prompt on real terminals: tmux panes in which a person would type.

mod answers;
mod deceit;
mod look;
mod upsets;
mod watch;
