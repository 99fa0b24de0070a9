//! Linux: `clone`, `signalfd`, `close_range`.

mod broker;
mod descriptors;
pub mod folder_watch;
pub mod fork;
pub mod launcher;
pub mod pod;
pub mod probe;
pub mod reap;
pub mod signals;
pub mod spawn;
mod tag;
pub mod title;
pub mod trace;
pub mod walls;
