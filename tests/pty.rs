//! Terminals: what runs in one, who reads it, what may be typed at it, and people who sit there.

mod job;
mod judged;
mod output;
mod programs;
mod seated;
mod sourced;
mod tool;
mod typed;
mod waiting;
mod whole;
