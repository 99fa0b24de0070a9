//! Making a pod.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::error::{ConfineError, Context as _, Mechanism};
use super::namespaces::{self, Namespaces, OwnLinks};
use super::{devices, init, mounts};

/// Makes a pod around the calling process, which must have one thread. Its children still have process ids of its own
/// namespace, until it calls [`Namespaces::enter_processes`]. `socket` is given to the pod's first process; see
/// [`init::start`].
pub(crate) fn create(links: &OwnLinks, socket: OwnedFd) -> Result<(Namespaces, Pid), ConfineError> {
    let privileged = namespaces::is_privileged();
    if !privileged {
        namespaces::enter_user_namespace()?;
    }
    let new = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    namespaces::unshare(new).context(Mechanism::Namespaces, "making them")?;
    mounts::make_private().context(Mechanism::Mounts, "cutting them off from the machine's")?;
    devices::mount()?;
    devices::mount_private_temp()?;
    let (pids, pid) = make_processes(socket)?;
    let link = |name: &str| links.get(name).context(Mechanism::Namespaces, name);
    let user = if privileged { None } else { Some(link("user")?) };
    let pod = Namespaces { user, mounts: link("mnt")?, ipc: link("ipc")?, pids };
    Ok((pod, pid))
}

/// Makes a process namespace and its first process.
///
/// A thread that makes a process namespace can't give its children ids of its own namespace any more, and the broker must
/// have one of those. So a thread of its own does it, and ends.
fn make_processes(socket: OwnedFd) -> Result<(OwnedFd, Pid), ConfineError> {
    let make = move || {
        let links = OwnLinks::open_for_thread().context(Mechanism::Namespaces, "/proc/thread-self/ns")?;
        namespaces::unshare(UnshareFlags::NEWPID)
            .context(Mechanism::Namespaces, "making one for processes")?;
        let pid = init::start(socket)?;
        Ok((links.get("pid_for_children").context(Mechanism::Namespaces, "pid_for_children")?, pid))
    };
    let failed =
        |source| ConfineError::new(Mechanism::Process, "a thread for the pod's first process", source);
    let thread = std::thread::Builder::new().spawn(make).map_err(failed)?;
    thread.join().unwrap_or_else(|_| Err(failed(io::Error::other("it panicked"))))
}
