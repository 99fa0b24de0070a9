//! Sending, when a send may be a datagram to any Unix socket.
//!
//! The whole message is copied: address, data, control messages and the descriptors in them.

use std::ffi::c_int;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use rustix::io::Errno;

use super::address::reach;
use super::connect::waits;
use super::context::Context;
use super::datagrams::may_send_itself;
use super::kernel::{self, Message};
use super::needs;
use super::notifications::Reply;
use super::serve::may_wait;
use super::target::Target;
use crate::observation::Operation;

/// A datagram that is longer fits into no socket of usual settings.
const MAX_DATAGRAM_BYTES: usize = 1 << 20;

/// A stream is sent in parts of this size.
const PART_BYTES: usize = 256 << 10;

/// The kernel takes no more (`net.core.optmem_max` is smaller by default).
const MAX_CONTROL_BYTES: usize = 128 << 10;

/// The largest number of parts, and of messages of one call.
const MAX_PARTS: usize = libc::UIO_MAXIOV as usize;

const HEADER_BYTES: usize = size_of::<libc::msghdr>();
/// A header and the length that was sent, with padding.
const NUMBERED_HEADER_BYTES: usize = size_of::<libc::mmsghdr>();

/// Pieces of memory of the thread: address and length.
type Pieces = Vec<(u64, usize)>;

/// A message, still in the memory of the thread but for its header.
struct Outline {
    address: Option<Vec<u8>>,
    pieces: Pieces,
    control: Vec<u8>,
}

/// `sendto`.
pub(super) fn send_to(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    needs::sent_to(context, target, || target.address(target.long(4), target.int(5)).ok());
    if may_send_itself(context, target) {
        return Ok(Reply::Continue);
    }
    let socket = target.socket(target.int(0))?;
    let length = usize::try_from(target.long(2)).unwrap_or(usize::MAX);
    let address = match target.long(4) {
        0 => None,
        pointer => Some(target.address(pointer, target.int(5))?),
    };
    let outline = Outline { address, pieces: vec![(target.long(1), length)], control: Vec::new() };
    send(context, target, &socket, &outline, target.int(3)).map(value)
}

/// `sendmsg`.
pub(super) fn send_message(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    needs::sent_to(context, target, || outline(target, target.long(1)).ok()?.address);
    if may_send_itself(context, target) {
        return Ok(Reply::Continue);
    }
    let socket = target.socket(target.int(0))?;
    let outline = outline(target, target.long(1))?;
    send(context, target, &socket, &outline, target.int(2)).map(value)
}

/// `sendmmsg`: returns how many messages were sent. An error counts only for the first.
pub(super) fn send_messages(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    needs::sent_to(context, target, || outline(target, target.long(1)).ok()?.address);
    if may_send_itself(context, target) {
        return Ok(Reply::Continue);
    }
    let socket = target.socket(target.int(0))?;
    let count = usize::try_from(target.unsigned(2)).unwrap_or(MAX_PARTS).min(MAX_PARTS);
    for index in 0..count {
        let address = target.long(1).wrapping_add((index * NUMBERED_HEADER_BYTES) as u64);
        let sent = outline(target, address)
            .and_then(|outline| send(context, target, &socket, &outline, target.int(3)))
            .and_then(|sent| {
                let sent = u32::try_from(sent).unwrap_or(u32::MAX);
                target.write(address.wrapping_add(HEADER_BYTES as u64), &sent.to_ne_bytes())
            });
        match sent {
            Ok(()) => {}
            Err(errno) if index == 0 => return Err(errno),
            Err(_) => return Ok(value(index)),
        }
    }
    Ok(value(count))
}

fn value(sent: usize) -> Reply {
    Reply::Value(i64::try_from(sent).unwrap_or(i64::MAX))
}

/// Reads a `struct msghdr`, which is eight bytes for each field on 64-bit machines.
fn outline(target: &Target<'_>, header: u64) -> Result<Outline, Errno> {
    let bytes = target.bytes(header, HEADER_BYTES)?;
    let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
    let mut next = || words.next().unwrap_or(0);
    let (name, name_length, parts, count, control, control_length) =
        (next(), next(), next(), next(), next(), next());
    let name_length = (name_length & u64::from(u32::MAX)) as u32;
    let address = match (name, name_length.cast_signed()) {
        (0, _) | (_, 0) => None,
        (_, length) if length < 0 => return Err(Errno::INVAL),
        // Longer ones are cut off.
        (name, length) => {
            Some(target.address(name, length.min(size_of::<libc::sockaddr_storage>() as c_int))?)
        }
    };
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_PARTS).ok_or(Errno::MSGSIZE)?;
    let pieces = target.bytes(parts, count * 16)?;
    let mut words = pieces.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
    let pieces = std::iter::from_fn(|| Some((words.next()?, usize::try_from(words.next()?).ok()?))).collect();
    let control = match usize::try_from(control_length) {
        _ if control == 0 => Vec::new(),
        Ok(length) if length <= MAX_CONTROL_BYTES => target.bytes(control, length)?,
        _ => return Err(Errno::NOBUFS),
    };
    Ok(Outline { address, pieces, control })
}

fn send(
    context: &Context,
    target: &Target<'_>,
    socket: &OwnedFd,
    outline: &Outline,
    flags: c_int,
) -> Result<usize, Errno> {
    if flags & libc::MSG_ZEROCOPY != 0 {
        // The data would have to stay where it is. Programs then copy.
        return Err(Errno::NOBUFS);
    }
    let mut control = outline.control.clone();
    let _sent_files = replace_descriptors(target, &mut control)?;
    target.confirm()?;
    let kind = kernel::socket_option(socket.as_fd(), libc::SO_TYPE)?;
    let is_stream = kind == libc::SOCK_STREAM;
    // Other Unix sockets don't look at the address.
    let reachable = match outline.address.clone() {
        Some(address) if kind == libc::SOCK_DGRAM => {
            Some(reach(context, target, socket.as_fd(), address, Operation::Send)?)
        }
        _ => None,
    };
    let address = match &reachable {
        Some(reachable) => Some(reachable.address.as_slice()),
        None => outline.address.as_deref(),
    };
    let total: usize = outline.pieces.iter().fold(0, |sum, (_, length)| sum.saturating_add(*length));
    if !is_stream && total > MAX_DATAGRAM_BYTES {
        return Err(Errno::MSGSIZE);
    }
    let does_wait = flags & libc::MSG_DONTWAIT == 0 && waits(socket.as_fd());
    let _waiting = if does_wait { Some(may_wait(context, target)?) } else { None };
    let mut sent = 0;
    loop {
        let data = copy(target, &outline.pieces, sent, if is_stream { PART_BYTES } else { total })?;
        // Control messages and an address belong to the first part.
        let first = sent == 0;
        let message = Message {
            address: address.filter(|_| first),
            data: &data,
            control: if first { &control } else { &[] },
        };
        match kernel::send(socket.as_fd(), &message, flags | libc::MSG_NOSIGNAL) {
            Ok(part) => sent += part,
            Err(_) if sent > 0 => return Ok(sent),
            Err(Errno::PIPE) if flags & libc::MSG_NOSIGNAL == 0 && is_stream => {
                target.signal(libc::SIGPIPE);
                return Err(Errno::PIPE);
            }
            Err(errno) => return Err(errno),
        }
        if !is_stream || sent >= total || data.is_empty() {
            return Ok(sent);
        }
    }
}

/// Copies at most `most` bytes of the pieces, from byte `from` on.
fn copy(target: &Target<'_>, pieces: &Pieces, from: usize, most: usize) -> Result<Vec<u8>, Errno> {
    let mut data = Vec::new();
    let mut skip = from;
    for (address, length) in pieces {
        if skip >= *length {
            skip -= length;
            continue;
        }
        let part = (length - skip).min(most - data.len());
        data.extend(target.bytes(address.wrapping_add(skip as u64), part)?);
        skip = 0;
        if data.len() == most {
            break;
        }
    }
    Ok(data)
}

/// The kernel takes no more descriptors in a message (`SCM_MAX_FD`).
const MAX_SENT_DESCRIPTORS: usize = 253;

/// Length, level and type.
const CONTROL_HEADER_BYTES: usize = size_of::<libc::cmsghdr>();

/// Replaces the numbers of descriptors in control messages by those of our copies, and the sender's id by ours: the kernel
/// takes no other from us.
fn replace_descriptors(target: &Target<'_>, control: &mut [u8]) -> Result<Vec<OwnedFd>, Errno> {
    let mut copies = Vec::new();
    let mut rest = control;
    while rest.len() >= CONTROL_HEADER_BYTES {
        let header: [u8; CONTROL_HEADER_BYTES] = rest.first_chunk().copied().ok_or(Errno::INVAL)?;
        let [length @ .., l0, l1, l2, l3, k0, k1, k2, k3] = header;
        let length = usize::try_from(u64::from_ne_bytes(length)).unwrap_or(usize::MAX);
        let level = c_int::from_ne_bytes([l0, l1, l2, l3]);
        let kind = c_int::from_ne_bytes([k0, k1, k2, k3]);
        if length < CONTROL_HEADER_BYTES || length > rest.len() {
            return Err(Errno::INVAL);
        }
        let aligned = length.next_multiple_of(size_of::<usize>()).min(rest.len());
        let (this, after) = rest.split_at_mut(aligned);
        if let Some(data) = this.get_mut(CONTROL_HEADER_BYTES..length)
            && level == libc::SOL_SOCKET
        {
            match kind {
                libc::SCM_RIGHTS => {
                    let numbers = data.as_chunks_mut::<4>().0;
                    if numbers.len() + copies.len() > MAX_SENT_DESCRIPTORS {
                        return Err(Errno::INVAL);
                    }
                    for number in numbers {
                        let copy = target.descriptor(c_int::from_ne_bytes(*number))?;
                        *number = copy.as_raw_fd().to_ne_bytes();
                        copies.push(copy);
                    }
                }
                libc::SCM_CREDENTIALS => {
                    if let Some(number) = data.first_chunk_mut::<4>() {
                        *number = rustix::process::getpid().as_raw_nonzero().get().to_ne_bytes();
                    }
                }
                _ => {}
            }
        }
        rest = after;
    }
    Ok(copies)
}
