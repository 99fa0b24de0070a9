//! System calls without a safe wrapper elsewhere, each as one function that the rest of the broker can call safely.

use std::ffi::{CStr, c_int, c_long};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr;

use rustix::io::Errno;
use rustix::process::Pid;

/// Flags and mode of an open, and how its path may be resolved: `struct open_how`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct How {
    pub(super) flags: u64,
    pub(super) mode: u64,
    pub(super) resolve: u64,
}

/// What `libc` returned, or its error.
fn check(result: c_long) -> Result<i64, Errno> {
    if result == -1 { Err(last_errno()) } else { Ok(result) }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// A new descriptor that a call returned.
fn own(result: c_long) -> Result<OwnedFd, Errno> {
    let raw = check(result).and_then(|raw| c_int::try_from(raw).map_err(|_| Errno::BADF))?;
    // SAFETY: the kernel has just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

fn open_how(how: How) -> libc::open_how {
    // SAFETY: three numbers, for which zero is valid.
    let mut raw: libc::open_how = unsafe { MaybeUninit::zeroed().assume_init() };
    raw.flags = how.flags;
    raw.mode = how.mode;
    raw.resolve = how.resolve;
    raw
}

/// `openat2`. Its flags reach the kernel unchanged, which tells of invalid ones.
pub(super) fn open(folder: BorrowedFd<'_>, path: &CStr, how: How) -> Result<OwnedFd, Errno> {
    let raw = open_how(how);
    // SAFETY: the path ends in NUL, the structure has the size that is given, and both live until the call returns.
    let opened = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            folder.as_raw_fd(),
            path.as_ptr(),
            &raw const raw,
            size_of::<libc::open_how>(),
        )
    };
    own(opened)
}

/// The error that the kernel has for these flags, whatever the path is.
pub(super) fn flags_error(how: How) -> Option<Errno> {
    let raw = open_how(how);
    let nowhere = ptr::null::<libc::c_char>();
    // SAFETY: the kernel checks the flags first, and then refuses the null pointer. It reads the structure alone.
    let refused =
        unsafe { libc::syscall(libc::SYS_openat2, -1, nowhere, &raw const raw, size_of::<libc::open_how>()) };
    check(refused).err().filter(|errno| *errno != Errno::FAULT)
}

/// `mknodat` with the type and the mode as they are.
pub(super) fn make_node(folder: BorrowedFd<'_>, name: &CStr, mode: u32, device: u64) -> Result<i64, Errno> {
    // SAFETY: the name ends in NUL.
    check(c_long::from(unsafe { libc::mknodat(folder.as_raw_fd(), name.as_ptr(), mode, device) }))
}

/// `mkdirat` with all bits of the mode.
pub(super) fn make_folder(folder: BorrowedFd<'_>, name: &CStr, mode: u32) -> Result<i64, Errno> {
    // SAFETY: the name ends in NUL.
    check(c_long::from(unsafe { libc::mkdirat(folder.as_raw_fd(), name.as_ptr(), mode) }))
}

/// `renameat2` with flags as they are.
pub(super) fn rename(
    (from, old): (BorrowedFd<'_>, &CStr),
    (to, new): (BorrowedFd<'_>, &CStr),
    flags: u32,
) -> Result<i64, Errno> {
    // SAFETY: both names end in NUL.
    check(unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            from.as_raw_fd(),
            old.as_ptr(),
            to.as_raw_fd(),
            new.as_ptr(),
            flags,
        )
    })
}

/// The soft limit on file locks of a thread's process, which carries its tag.
pub(super) fn lock_limit(thread: Pid) -> Result<u64, Errno> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one structure, and reads none.
    let result = unsafe {
        libc::prlimit(thread.as_raw_nonzero().get(), libc::RLIMIT_LOCKS, ptr::null(), &raw mut limit)
    };
    check(c_long::from(result)).map(|_| limit.rlim_cur)
}

/// Copies memory of another process at these addresses into `into`, and returns how many bytes were there.
pub(crate) fn read_memory(process: Pid, from: &[(u64, usize)], into: &mut [u8]) -> Result<usize, Errno> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = remote(from);
    // SAFETY: the kernel writes at most `into.len()` bytes to `into`. It checks the other process's addresses itself.
    let read = unsafe {
        libc::process_vm_readv(
            process.as_raw_nonzero().get(),
            &raw const local,
            1,
            remote.as_ptr(),
            remote.len() as libc::c_ulong,
            0,
        )
    };
    check(read as c_long).and_then(|read| usize::try_from(read).map_err(|_| Errno::FAULT))
}

/// Copies `from` into the memory of another process.
pub(super) fn write_memory(process: Pid, to: u64, from: &[u8]) -> Result<usize, Errno> {
    let local = libc::iovec { iov_base: from.as_ptr().cast_mut().cast(), iov_len: from.len() };
    let remote = remote(&[(to, from.len())]);
    // SAFETY: the kernel only reads `from`. It checks the other process's addresses itself.
    let written = unsafe {
        libc::process_vm_writev(
            process.as_raw_nonzero().get(),
            &raw const local,
            1,
            remote.as_ptr(),
            remote.len() as libc::c_ulong,
            0,
        )
    };
    check(written as c_long).and_then(|written| usize::try_from(written).map_err(|_| Errno::FAULT))
}

/// Addresses in another process: never looked at in this one.
fn remote(parts: &[(u64, usize)]) -> Vec<libc::iovec> {
    let part = |(address, length): &(u64, usize)| libc::iovec {
        iov_base: ptr::without_provenance_mut(usize::try_from(*address).unwrap_or(usize::MAX)),
        iov_len: *length,
    };
    parts.iter().map(part).collect()
}

/// `connect` with an address as bytes.
pub(super) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result<i64, Errno> {
    let length = address_length(address)?;
    // SAFETY: the address is as long as is said, and the kernel copies it before it reads it.
    check(c_long::from(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) }))
}

/// `bind` with an address as bytes.
pub(super) fn bind(socket: BorrowedFd<'_>, address: &[u8]) -> Result<i64, Errno> {
    let length = address_length(address)?;
    // SAFETY: as for `connect`.
    check(c_long::from(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), length) }))
}

fn address_length(address: &[u8]) -> Result<libc::socklen_t, Errno> {
    libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)
}

/// The address that a socket is bound to, as bytes.
pub(super) fn own_address(socket: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0_u8; size_of::<libc::sockaddr_storage>()];
    let mut length = address_length(&bytes)?;
    // SAFETY: the kernel writes at most `length` bytes, and the true length.
    let result = unsafe { libc::getsockname(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), &raw mut length) };
    check(c_long::from(result))?;
    bytes.truncate(length as usize);
    Ok(bytes)
}

/// A socket option that is a number, at level `SOL_SOCKET`.
pub(super) fn socket_option(socket: BorrowedFd<'_>, name: c_int) -> Result<c_int, Errno> {
    let mut value: c_int = 0;
    let mut length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to a number of that size.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length)
    };
    check(c_long::from(result)).map(|_| value)
}

/// A message to send: all parts are ours.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) address: Option<&'a [u8]>,
    pub(super) data: &'a [u8],
    /// Control messages, laid out as the kernel wants them.
    pub(super) control: &'a [u8],
}

/// `sendmsg`.
pub(super) fn send(socket: BorrowedFd<'_>, message: &Message<'_>, flags: c_int) -> Result<usize, Errno> {
    let slice = IoSlice::new(message.data);
    // SAFETY: pointers and numbers, for which zero is valid.
    let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    if let Some(address) = message.address {
        header.msg_name = address.as_ptr().cast_mut().cast();
        header.msg_namelen = address_length(address)?;
    }
    header.msg_iov = (&raw const slice).cast_mut().cast();
    header.msg_iovlen = 1;
    if !message.control.is_empty() {
        header.msg_control = message.control.as_ptr().cast_mut().cast();
        header.msg_controllen = message.control.len() as _;
    }
    // SAFETY: the header's pointers are to memory that is alive and as long as it says; the kernel only reads it.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, flags) };
    check(sent as c_long).and_then(|sent| usize::try_from(sent).map_err(|_| Errno::IO))
}

/// Sends a signal to a thread.
pub(super) fn signal_thread(process: Pid, thread: Pid, signal: c_int) {
    let (process, thread) = (process.as_raw_nonzero().get(), thread.as_raw_nonzero().get());
    // SAFETY: no memory is involved. A thread that has ended needs no signal.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
}

/// Gives the calling thread a working folder and a creation mask of its own.
pub(super) fn separate_folder_and_mask() -> Result<i64, Errno> {
    // SAFETY: only the calling thread's folder, root and mask are separated. No memory is involved.
    check(c_long::from(unsafe { libc::unshare(libc::CLONE_FS) }))
}
