//! Judges what [`shellgate_syntax`] found, by rules and by what each program can do.
//!
//! This crate spawns nothing, asks nobody and knows no dialects.

pub mod program;
