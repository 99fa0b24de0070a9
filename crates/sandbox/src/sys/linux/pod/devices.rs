//! The pod's own `/dev` and `/tmp`.
//!
//! The machine's `/dev` has disks, which root can open without any capability, and the terminals of the same user. The
//! pod gets the devices that programs expect, terminals of its own, and shared memory of its own.

use std::ffi::CStr;
use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::MountAttrFlags;

use super::error::{ConfineError, Context as _, Mechanism};
use super::mounts::{self, Depth, NO_SETUID, READ_ONLY};

/// Devices that are shared with the machine.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Links in `/dev`, with where they lead.
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// A file that can't be opened.
pub(super) const HIDDEN_FILE: &str = "/dev/.hidden";

/// A folder that can't be opened.
pub(super) const HIDDEN_FOLDER: &str = "/dev/.hidden.d";

/// A folder whose entries can be reached by name, and that can't be listed. It has none.
pub(super) const UNLISTED_FOLDER: &str = "/dev/.unlisted.d";

/// The mode of a folder in which all users may make files, and each may remove its own.
const SHARED: &CStr = c"1777";

const NO_SETUID_OR_DEVICES: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// Mounts the pod's `/dev`.
pub(super) fn mount() -> Result<(), ConfineError> {
    let at = |detail: &'static str| {
        move |source: rustix::io::Errno| ConfineError::new(Mechanism::Devices, detail, source)
    };
    let devices = DEVICES.map(|name| (name, mounts::copy_tree(&Path::new("/dev").join(name))));
    // Device files on it are mounts of their own; on the file system itself none can be made.
    let options: [(&CStr, &CStr); 2] = [(c"mode", c"755"), (c"size", c"64k")];
    let folder = mounts::new_filesystem(c"tmpfs", &options, NO_SETUID_OR_DEVICES).map_err(at("a folder"))?;
    mounts::attach(&folder, Path::new("/dev")).map_err(at("mounting it"))?;
    for (name, device) in devices {
        let path = Path::new("/dev").join(name);
        let device = device.context(Mechanism::Devices, name)?;
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        drop(rustix::fs::open(&path, flags, Mode::from_raw_mode(0o666)).context(Mechanism::Devices, name)?);
        // A device can be written on a read-only mount. What can't be changed there is the machine's file itself: its mode
        // and its times. Root, who owns it, could otherwise, without any capability.
        mounts::set_attributes(device.as_fd(), Depth::One, READ_ONLY | NO_SETUID)
            .context(Mechanism::Devices, name)?;
        mounts::attach(&device, &path).context(Mechanism::Devices, name)?;
    }
    for (name, target) in LINKS {
        rustix::fs::symlinkat(target, CWD, Path::new("/dev").join(name)).map_err(at("a link"))?;
    }
    // What is laid over unreadable files and folders: their owner can't open them either, not even root, who has no
    // capabilities here.
    let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC;
    drop(rustix::fs::open(HIDDEN_FILE, flags, Mode::empty()).map_err(at("a file"))?);
    rustix::fs::mkdir(HIDDEN_FOLDER, Mode::empty()).map_err(at("a folder"))?;
    rustix::fs::mkdir(UNLISTED_FOLDER, Mode::from_raw_mode(0o111)).map_err(at("a folder"))?;
    let terminals: [(&CStr, &CStr); 2] = [(c"mode", c"620"), (c"ptmxmode", c"666")];
    mount_new("/dev/pts", c"devpts", &terminals, MountAttrFlags::MOUNT_ATTR_NOSUID)?;
    mount_new("/dev/shm", c"tmpfs", &[(c"mode", SHARED)], NO_SETUID_OR_DEVICES)?;
    // What is laid over unreadable files must stay what it is.
    mounts::set_attributes(folder.as_fd(), Depth::One, READ_ONLY).context(Mechanism::Devices, "/dev")
}

/// Mounts the session's private `/tmp`. Launchers of commands that may use the machine's take it away again.
pub(super) fn mount_private_temp() -> Result<(), ConfineError> {
    let temp = mounts::new_filesystem(c"tmpfs", &[(c"mode", SHARED)], NO_SETUID_OR_DEVICES)
        .context(Mechanism::Mounts, "a private /tmp")?;
    mounts::attach(&temp, Path::new("/tmp")).context(Mechanism::Mounts, "/tmp")
}

/// Mounts a new file system on a new folder.
fn mount_new(
    path: &'static str,
    kind: &CStr,
    options: &[(&CStr, &CStr)],
    attributes: MountAttrFlags,
) -> Result<(), ConfineError> {
    rustix::fs::mkdir(path, Mode::from_raw_mode(0o755)).context(Mechanism::Devices, path)?;
    let made = mounts::new_filesystem(kind, options, attributes).context(Mechanism::Devices, path)?;
    mounts::attach(&made, Path::new(path)).context(Mechanism::Devices, path)
}
