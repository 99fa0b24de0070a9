//! The reader from outside: data files, real bash as the reference, and texts made at random.

mod expansions;
mod findings;
mod limits;
mod oracle;
mod render;
mod support;
mod vectors;
mod words;
