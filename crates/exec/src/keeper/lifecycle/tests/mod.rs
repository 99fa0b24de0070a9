//! Lifecycles with a fake clock and fake processes.

mod cases;
mod matrix;
mod properties;
mod queue;
mod world;
