//! The plan of a process that was made ready: the next message of the keeper.

use std::os::fd::{AsFd as _, BorrowedFd, IntoRawFd as _, OwnedFd};

use rustix::io::Errno;
use rustix::process::Pid;

use super::{next_message_is_there, order};
use crate::sys::launcher::message::{self, Reader, Receiver, Writer};
use crate::sys::launcher::walls::Walls;
use crate::sys::spawn::{Lists, Plan, PlanSource, Step};

/// What a process that was made ready allocates. It is the launcher's, and used again for each.
#[derive(Default)]
pub(super) struct PlanMemory {
    lists: Lists,
    /// Descriptors of the process, which the launcher doesn't have.
    descriptors: Vec<BorrowedFd<'static>>,
}

/// Where the process gets its plan.
pub(super) struct NextPlan<'a> {
    pub(super) socket: &'a OwnedFd,
    pub(super) walls: &'a Walls,
    pub(super) receiver: &'a mut Receiver,
    pub(super) memory: &'a mut PlanMemory,
}

impl PlanSource for NextPlan<'_> {
    fn next(&mut self, pid: Option<Pid>) -> Result<Option<(Plan<'_>, &Lists)>, (Step, Errno)> {
        let failed = |error: std::io::Error| (Step::Clone, Errno::from_io_error(&error).unwrap_or(Errno::IO));
        let cut_off = || (Step::Clone, Errno::BADMSG);
        let mut told = Writer::default();
        told.pid(pid);
        message::send(self.socket.as_fd(), &told.0, &[]).map_err(failed)?;
        // The launcher, which stands still, learns for itself that the broker has ended.
        if !next_message_is_there(self.socket, self.walls) {
            return Ok(None);
        }
        let PlanMemory { lists, descriptors } = &mut *self.memory;
        descriptors.clear();
        let keep = |descriptor: OwnedFd| {
            // SAFETY: the process has it until its exec, and nobody else uses the number in this list.
            descriptors.push(unsafe { BorrowedFd::borrow_raw(descriptor.into_raw_fd()) });
        };
        let Some(text) = self.receiver.receive_into(self.socket.as_fd(), keep).map_err(failed)? else {
            return Ok(None);
        };
        let mut reader = Reader(text);
        if reader.number() != Some(order::START) {
            return Ok(None);
        }
        let plan = read(&mut reader, lists, descriptors).ok_or_else(cut_off)?;
        Ok(Some((plan, lists)))
    }
}

/// Reads a plan without arguments, environment and limits: these are in the lists.
fn read<'a>(
    reader: &mut Reader<'a>,
    lists: &mut Lists,
    descriptors: &'a [BorrowedFd<'static>],
) -> Option<Plan<'a>> {
    let umask = u32::try_from(reader.number()?).ok()?;
    let (has_terminal, is_held) = (reader.number()? != 0, reader.number()? != 0);
    let mut is_whole = true;
    let count = reader.count()?;
    lists.set_limits((0..count).map_while(|_| kept(reader.limit(), &mut is_whole)));
    let (program, directory) = (reader.string()?, reader.string()?);
    let count = reader.count()?;
    lists
        .set_argv((0..count).map_while(|_| kept(reader.string(), &mut is_whole)).map(std::ffi::CStr::as_ptr));
    let count = reader.count()?;
    lists.set_env((0..count).map_while(|_| kept(reader.string(), &mut is_whole)).map(std::ffi::CStr::as_ptr));
    let (stdio, rest) = descriptors.split_first_chunk::<3>()?;
    let (terminal, groups) = match (has_terminal, rest.split_first()) {
        (true, Some((terminal, groups))) => (Some(*terminal), groups),
        (true, None) => return None,
        (false, _) => (None, rest),
    };
    // Whoever traces it does so already.
    (is_whole && !is_held).then_some(Plan {
        program,
        argv: &[],
        env: &[],
        directory,
        stdio: *stdio,
        terminal,
        umask,
        limits: &[],
        tag: None,
        groups,
    })
}

/// Notes whether an item of a list was missing.
fn kept<T>(item: Option<T>, is_whole: &mut bool) -> Option<T> {
    *is_whole &= item.is_some();
    item
}
