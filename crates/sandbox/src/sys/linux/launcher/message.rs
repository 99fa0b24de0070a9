//! The messages between a keeper and its launcher. Both are the same program, so a message is its memory's plain bytes.

use std::ffi::{CStr, CString};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::MemfdFlags;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use rustix::process::{Pid, Resource, Rlimit};

use crate::sys::spawn::RESOURCES;

/// A message carries at most so many descriptors.
const MAX_DESCRIPTORS: usize = 32;

/// Longer messages travel in a file in memory: a socket takes a message of some 200 KiB at most.
const INLINE_MAX_BYTES: usize = 64 << 10;

/// How a message begins: whether its text follows, or is in the file that is its first descriptor.
const INLINE: u8 = 0;
const IN_FILE: u8 = 1;

/// Sends a message.
pub(super) fn send(socket: BorrowedFd<'_>, text: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    if text.len() <= INLINE_MAX_BYTES {
        return send_parts(socket, &[&[INLINE], text], descriptors);
    }
    let file = rustix::fs::memfd_create("message", MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(file);
    io::Write::write_all(&mut file, text)?;
    let all: Vec<BorrowedFd<'_>> = [file.as_fd()].into_iter().chain(descriptors.iter().copied()).collect();
    send_parts(socket, &[&[IN_FILE]], &all)
}

fn send_parts(socket: BorrowedFd<'_>, parts: &[&[u8]], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    if descriptors.is_empty() {
        // A launcher's filter holds `sendmsg`, and lets this through: it has no address.
        let whole = parts.concat();
        rustix::io::retry_on_intr(|| rustix::net::send(socket, &whole, SendFlags::NOSIGNAL))?;
        return Ok(());
    }
    let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors for a message"));
    }
    rustix::io::retry_on_intr(|| rustix::net::sendmsg(socket, &slices, &mut ancillary, SendFlags::NOSIGNAL))?;
    Ok(())
}

/// Receives messages into memory that is cleared once, not for each of them.
#[derive(Debug, Default)]
pub(super) struct Receiver(Vec<u8>);

impl Receiver {
    /// Receives a message. `None`: the other end is closed.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
        let mut descriptors = Vec::new();
        let text = self.receive_into(socket, |descriptor| descriptors.push(descriptor))?.map(<[u8]>::to_vec);
        Ok(text.map(|text| (text, descriptors)))
    }

    /// The same without copying the text. `take` gets the descriptors, in order.
    pub(super) fn receive_into(
        &mut self,
        socket: BorrowedFd<'_>,
        mut take: impl FnMut(OwnedFd),
    ) -> io::Result<Option<&[u8]>> {
        if self.0.len() > INLINE_MAX_BYTES + 1 {
            // The memory of a long message is given back.
            self.0.truncate(INLINE_MAX_BYTES + 1);
            self.0.shrink_to_fit();
        }
        self.0.resize(INLINE_MAX_BYTES + 1, 0);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = rustix::io::retry_on_intr(|| {
            let mut slices = [IoSliceMut::new(&mut self.0)];
            rustix::net::recvmsg(socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        })?;
        let is_in_file = received.bytes > 0 && self.0.first() == Some(&IN_FILE);
        let mut file = None;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                for descriptor in received {
                    match file {
                        None if is_in_file => file = Some(std::fs::File::from(descriptor)),
                        _ => take(descriptor),
                    }
                }
            }
        }
        let Some(mut file) = file else {
            return Ok(self.0.get(1..received.bytes));
        };
        io::Seek::rewind(&mut file)?;
        self.0.clear();
        io::Read::read_to_end(&mut file, &mut self.0)?;
        Ok(Some(&self.0))
    }
}

/// Writes numbers and strings one after the other.
#[derive(Debug, Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_ne_bytes());
    }

    pub(super) fn pid(&mut self, pid: Option<Pid>) {
        self.number(pid.map_or(0, |pid| u64::from(pid.as_raw_nonzero().get().unsigned_abs())));
    }

    pub(super) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    pub(super) fn string(&mut self, string: &CStr) {
        self.0.extend_from_slice(string.to_bytes_with_nul());
    }

    pub(super) fn limit(&mut self, (resource, limit): &(Resource, Rlimit)) {
        self.number(*resource as u64);
        for value in [limit.current, limit.maximum] {
            self.number(u64::from(value.is_some()));
            self.number(value.unwrap_or(0));
        }
    }
}

/// Reads what [`Writer`] wrote. `None`: the message is cut off.
#[derive(Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*number))
    }

    pub(super) fn pid(&mut self) -> Option<Pid> {
        self.number().and_then(|number| i32::try_from(number).ok()).and_then(Pid::from_raw)
    }

    pub(super) fn count(&mut self) -> Option<usize> {
        // A list can't have more entries than the message has bytes.
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.0.len())
    }

    pub(super) fn string(&mut self) -> Option<&'a CStr> {
        let string = CStr::from_bytes_until_nul(self.0).ok()?;
        self.0 = self.0.get(string.to_bytes_with_nul().len()..)?;
        Some(string)
    }

    pub(super) fn strings(&mut self) -> Option<Vec<&'a CStr>> {
        let count = self.count()?;
        (0..count).map(|_| self.string()).collect()
    }

    pub(super) fn limit(&mut self) -> Option<(Resource, Rlimit)> {
        let number = self.number()?;
        let resource = RESOURCES.into_iter().find(|known| *known as u64 == number)?;
        let mut value = || -> Option<Option<u64>> {
            let is_some = self.number()? != 0;
            let value = self.number()?;
            Some(is_some.then_some(value))
        };
        Some((resource, Rlimit { current: value()?, maximum: value()? }))
    }
}

/// The text as a C string, up to its first NUL byte.
pub(super) fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
