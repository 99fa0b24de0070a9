//! Linux: `clone`, `signalfd`, `close_range`.

pub mod detach;
pub mod probe;
pub mod reap;
pub mod signals;
pub mod spawn;
pub mod title;
