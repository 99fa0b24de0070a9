//! The place a command runs in, and the spawn itself.
