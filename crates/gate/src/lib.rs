//! shellgate: the gate that an agent's shell commands pass.

pub mod settings;
pub mod text;
