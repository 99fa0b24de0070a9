//! The pod: the namespaces that the commands of a session share.
//!
//! Processes of a pod see each other and no process outside. The pod lives as long as its first process, which has the
//! process id 1 in it (`init.rs`): when that ends, the kernel kills every process of the pod. It ends when the keeper closes
//! its socket, so a keeper that is killed takes the pod with it.
//!
//! The first launcher of a session makes the pod (`create.rs`). Later ones, for commands with another confinement, join it
//! (`namespaces.rs`). Each launcher then takes a copy of the pod's mounts and changes that (`view.rs`).

mod aliases;
mod create;
mod devices;
mod error;
mod init;
mod links;
mod mounts;
mod namespaces;
mod owned_copies;
mod view;

pub(super) use create::create;
pub(super) use error::Context;
pub use error::{ConfineError, Mechanism};
pub use init::INIT_NAME;
pub(super) use init::SUSPEND;
pub(super) use links::protected_with_targets;
pub use namespaces::Namespaces;
pub(super) use namespaces::{OwnLinks, take_private_network};
pub(super) use view::{existing, lay_out};
