//! The broker: a process beside each launcher that does for commands what needs a decision.
//!
//! Two things can't be decided by a list of paths that exist: whether a new name may be made, and whether a Unix socket may
//! be reached. The launcher's filter holds the calls that do this, and the broker gets them one by one.
//!
//! ```text
//!  keeper ──▶ launcher ──clone(CLONE_PARENT)──▶ broker     the same Landlock domain, no filter, outside the pod's processes
//!                │ then: process namespace of the pod, no capabilities, filter
//!                └────────▶ command ──mkdir──▶ held ──▶ broker: copies the path, resolves it, checks it, does it
//!                              ▲                           │
//!                              └────────── result ─────────┘
//! ```
//!
//! # What makes it free of races
//!
//! A command can change its memory, its descriptors and its folders while a call is held. So the broker never tells the
//! kernel to go on with a call, unless the registers alone make it harmless. It copies what the call names ([`target`]),
//! resolves paths to descriptors ([`walk`]), checks those by the path that the kernel tells for them
//! ([`protections`]), and uses the same descriptors ([`open`], [`create`], [`connect`], [`send`]).
//!
//! # What it can do
//!
//! It is in the launcher's mount namespace and Landlock domain: what commands can't write, it can't either. It has the
//! capability to read commands' memory where Yama forbids that, for single calls ([`privilege`]), and no other. Commands
//! can neither see nor signal it. It reaches the machine's `/proc` by a descriptor that was opened before the pod's own
//! was mounted.
//!
//! # Its end
//!
//! It ends when no process has the filter any more: the launcher and all of its commands have ended. It is a child of the
//! keeper, and the kernel kills it when the keeper ends. If it is killed, held calls fail with `ENOSYS`, and the launcher
//! ends.

mod address;
mod calls;
mod changes;
mod connect;
mod context;
mod create;
mod datagrams;
mod effects;
mod kernel;
mod name_watch;
mod needs;
mod notifications;
mod open;
mod pool;
mod privilege;
mod protections;
mod refusals;
mod send;
mod serve;
mod session;
mod start;
mod target;
mod terminal;
mod turn;
mod walk;

pub(super) use kernel::read_memory;
pub(super) use session::create as create_session;
pub(super) use start::{Parts, Started, start};
