//! Making and joining namespaces.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::thread::{CapabilitySet, LinkNameSpaceType, UnshareFlags};

use super::error::{ConfineError, Context as _, Mechanism};
use super::mounts::last_error;

/// The namespaces of a pod, as descriptors that keep them alive.
#[derive(Debug)]
pub struct Namespaces {
    /// The user namespace, unless the pod was made by root.
    pub(crate) user: Option<OwnedFd>,
    /// The mounts that launchers copy.
    pub(crate) mounts: OwnedFd,
    /// System V IPC and POSIX message queues.
    pub(crate) ipc: OwnedFd,
    /// Process ids.
    pub(crate) pids: OwnedFd,
}

/// A folder of links to the namespaces of the calling process. Open it early: it also works when `/proc` is covered.
pub(crate) struct OwnLinks(OwnedFd);

impl OwnLinks {
    pub(crate) fn open() -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open("/proc/self/ns", flags, Mode::empty()).map(Self)
    }

    /// The same for the calling thread.
    pub(super) fn open_for_thread() -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open("/proc/thread-self/ns", flags, Mode::empty()).map(Self)
    }

    pub(super) fn get(&self, name: &str) -> rustix::io::Result<OwnedFd> {
        rustix::fs::openat(&self.0, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    }
}

impl Namespaces {
    /// Moves the calling process into the pod. Its children still have process ids of its own namespace.
    pub(crate) fn join(&self) -> Result<(), ConfineError> {
        let enter = |namespace: &OwnedFd, kind| {
            rustix::thread::move_into_link_name_space(namespace.as_fd(), Some(kind))
                .context(Mechanism::Namespaces, "joining the pod")
        };
        // First, because it gives the right to enter the others.
        if let Some(user) = &self.user {
            enter(user, LinkNameSpaceType::User)?;
        }
        enter(&self.ipc, LinkNameSpaceType::InterProcessCommunication)?;
        enter(&self.mounts, LinkNameSpaceType::Mount)?;
        own_proc_files()
    }

    /// Gives process ids of the pod to all further children of the calling process. Itself keeps its own.
    pub(crate) fn enter_processes(&self) -> Result<(), ConfineError> {
        rustix::thread::move_into_link_name_space(self.pids.as_fd(), Some(LinkNameSpaceType::ProcessID))
            .context(Mechanism::Namespaces, "joining the pod's processes")
    }
}

/// Whether the calling process may make namespaces without a user namespace.
pub(super) fn is_privileged() -> bool {
    rustix::thread::capabilities(None).is_ok_and(|held| held.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Moves the calling process into a new user namespace, in which its ids are what they are outside.
pub(super) fn enter_user_namespace() -> Result<(), ConfineError> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(UnshareFlags::NEWUSER).context(Mechanism::UserNamespace, "making one")?;
    own_proc_files()?;
    // Without this the kernel takes no group map from a process without privileges.
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    for (file, map) in maps {
        std::fs::write(file, map).context(Mechanism::UserNamespace, file)?;
    }
    Ok(())
}

/// Makes the calling process own its files in `/proc`, and lets the broker copy its descriptors. A process whose user or
/// capabilities changed since its last `exec` doesn't otherwise.
fn own_proc_files() -> Result<(), ConfineError> {
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable)
        .context(Mechanism::UserNamespace, "owning /proc/self")
}

/// Moves the calling process into new namespaces.
pub(super) fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: these flags make namespaces. None of them splits the table of descriptors, which is what could hurt.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// Moves the calling process into the session's private network. Makes it, if there is none yet, and returns it then.
pub(crate) fn take_private_network(
    links: &OwnLinks,
    existing: Option<&OwnedFd>,
) -> Result<Option<OwnedFd>, ConfineError> {
    if let Some(network) = existing {
        return rustix::thread::move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))
            .context(Mechanism::NetworkNamespace, "joining the session's")
            .map(|()| None);
    }
    unshare(UnshareFlags::NEWNET).context(Mechanism::NetworkNamespace, "making one")?;
    raise_loopback().context(Mechanism::NetworkNamespace, "raising the loopback device")?;
    links.get("net").map(Some).context(Mechanism::NetworkNamespace, "/proc/self/ns/net")
}

/// Switches the loopback device on, so that servers of the session can be reached on localhost.
fn raise_loopback() -> io::Result<()> {
    let socket =
        rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    let mut name = [0; libc::IFNAMSIZ];
    for (to, from) in name.iter_mut().zip(c"lo".to_bytes()) {
        *to = from.cast_signed();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the kernel's field for these flags has 16 bits")]
    let flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    let request =
        libc::ifreq { ifr_name: name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags } };
    // SAFETY: the request reads a structure of this type, which lives until the call returns.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}
