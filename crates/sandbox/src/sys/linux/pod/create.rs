//! Making a pod.

use std::os::fd::OwnedFd;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::error::{ConfineError, Context as _, Mechanism};
use super::namespaces::{self, Namespaces, OwnLinks};
use super::{devices, init, mounts};

/// Makes a pod around the calling process, which must have one thread. Its children have process ids of the pod, itself
/// keeps its own. `socket` is given to the pod's first process; see [`init::start`].
pub(crate) fn create(links: &OwnLinks, socket: OwnedFd) -> Result<(Namespaces, Pid), ConfineError> {
    let privileged = namespaces::is_privileged();
    if !privileged {
        namespaces::enter_user_namespace()?;
    }
    let new = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWPID;
    namespaces::unshare(new).context(Mechanism::Namespaces, "making them")?;
    mounts::make_private().context(Mechanism::Mounts, "cutting them off from the machine's")?;
    devices::mount()?;
    devices::mount_private_temp()?;
    let pid = init::start(socket)?;
    let link = |name: &str| links.get(name).context(Mechanism::Namespaces, name);
    let user = if privileged { None } else { Some(link("user")?) };
    let pod = Namespaces { user, mounts: link("mnt")?, ipc: link("ipc")?, pids: link("pid_for_children")? };
    Ok((pod, pid))
}
