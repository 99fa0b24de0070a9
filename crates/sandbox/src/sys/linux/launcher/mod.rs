//! The launcher: a process that is confined once and starts commands, which inherit its confinement.
//!
//! ```text
//!  keeper ──fork──▶ launcher          the keeper is trusted and stays outside
//!    │                │ joins the pod, lays out its mounts, puts up its walls
//!    │                │──clone(CLONE_PARENT)──▶ broker   it answers the calls that the walls hold
//!    │──Plan, fds────▶│
//!    │                │──clone(CLONE_PARENT)──▶ command
//!    │◀──pid──────────│                            │
//!    │◀──────────────── exit status ───────────────┘ the command is the keeper's own child
//! ```
//!
//! Confining a process costs some milliseconds, starting a confined one almost nothing. The launcher itself is in the
//! machine's process namespace, so commands can neither see nor signal it. It ends when the keeper closes its socket, and
//! when its broker ends. Commands go on; the broker ends after the last of them.

mod freshness;
mod handle;
mod message;
mod observations;
mod process;
mod walls;

pub use handle::{Launcher, Pod};
pub use observations::{Next, Observations};
