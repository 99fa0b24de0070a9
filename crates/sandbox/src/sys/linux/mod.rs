//! Linux: `clone`, `signalfd`, `close_range`.

pub mod detach;
pub mod signals;
pub mod spawn;
pub mod title;
