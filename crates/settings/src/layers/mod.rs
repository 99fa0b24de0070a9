//! Layers: where settings come from, how each is read, and how they are put together.

mod change;
mod describe;
mod file;
mod flags;
mod json;
mod load;
mod merge;
mod rules;
mod sources;
#[cfg(test)]
mod tests;
mod text;
mod toml;
mod untrusted;

pub use self::{
    flags::Flags,
    json::OPTIONS as AGENTS_JSON,
    load::project_file,
    sources::{PROJECT_FILE, Sources, Trust, TrustStore},
};
