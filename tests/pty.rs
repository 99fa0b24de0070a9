//! Terminals: commands that run in one, typing at them, and people who use them.

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
