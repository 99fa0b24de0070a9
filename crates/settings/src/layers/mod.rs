//! Layers: the sources of settings, how each is read, and how they are merged.

mod change;
mod describe;
mod file;
mod flags;
mod json;
mod load;
mod merge;
mod private_group;
mod project;
mod rules;
mod sources;
#[cfg(test)]
mod tests;
mod text;
mod toml;
mod untrusted;

pub use self::{
    flags::Flags,
    json::PARSE_OPTIONS as AGENTS_JSON,
    load::{LayerFile, LayerName, LayerState, Loaded, RootSource, project_file},
    project::ProjectSearch,
    sources::{PROJECT_FILE, Sources, Trust, TrustStore},
};
