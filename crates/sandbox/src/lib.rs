//! The place a command runs in, and the spawn itself.
//!
//! This is the only crate of shellgate with `unsafe` code. It wraps the few kernel interfaces that have no safe
//! wrapper elsewhere, each as a small function whose contract a reader can check on one screen:
//!
//! - [`spawn`](mod@spawn): start a program as the leader of a session of its own, at the price of a `posix_spawn`;
//! - [`fork`]: fork a detached process off a small one, and one that tries something and ends;
//! - [`pod`]: the namespaces that the commands of a session share;
//! - [`folder_watch`]: whether anything has changed in some folders;
//! - [`launcher`]: a process that is confined once and starts commands, with a broker that does for them what needs a
//!   decision;
//! - [`reap`](mod@reap): wait for children, with what they used;
//! - [`signals`]: block signals and read them from a descriptor;
//! - [`probe`]: ask the kernel what it can do;
//! - [`seatbelt`]: a confinement as a profile for the sandbox of macOS; not used yet;
//! - [`title`]: take a command's text out of our own process listing;
//! - [`trace`]: stop commands at every program that they start;
//! - [`walls`]: what a launcher puts around itself: capabilities, Landlock, seccomp.
//!
//! It decides nothing: what may run, and how it is confined, comes in as data ([`Confinement`]).

mod confinement;
mod effect;
pub mod links;
mod observation;
mod path_bytes;
pub mod seatbelt;

pub use confinement::{Confinement, Debugging, Network, Observing, Protected, Readable, Temp, Tracing};
pub use effect::{Effect, EffectKind};
pub use observation::{Observation, Operation, RefusalRule};

#[cfg(target_os = "linux")]
#[path = "sys/linux/mod.rs"]
mod sys;

#[cfg(target_os = "linux")]
pub use sys::{folder_watch, fork, launcher, pod, probe, reap, signals, spawn, title, trace, walls};
