//! A call of `execve` or `execveat`, as the thread that is about to make it has it in its registers and memory.

use std::io;

use rustix::io::Errno;
use rustix::process::Pid;

use super::registers::CallRegisters;
use super::{Stop, StopKind};
use crate::sys::broker::read_memory;

/// A path is not longer.
const MAX_PATH_BYTES: usize = 4096;

/// Strings are read in pieces that don't cross a page: the next one may not be there.
const PAGE_BYTES: u64 = 4096;

/// What is read of one argument.
const MAX_WORD_BYTES: usize = 64 << 10;

/// A call of `execve` or `execveat`. **Another thread may change what it names.**
#[derive(Clone, Debug)]
pub struct ExecCall {
    thread: Pid,
    registers: CallRegisters,
    /// The descriptor of the folder that the path is relative to. `None`: the working directory.
    pub folder: Option<i32>,
    /// The path. Empty: the descriptor itself is the program.
    pub path: Vec<u8>,
    /// Where the argument list is.
    arguments: u64,
}

impl ExecCall {
    /// Reads the call that a thread is stopped at.
    ///
    /// # Errors
    /// When the thread was killed meanwhile, or the kernel doesn't let us look into it.
    pub fn read(stop: Stop) -> io::Result<Self> {
        if stop.kind != StopKind::ExecCall {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (thread, registers) = (stop.thread, CallRegisters::of(stop.thread)?);
        let [first, second, third, _] = registers.arguments();
        let (folder, path, arguments) = match registers.number() {
            #[expect(clippy::cast_possible_truncation, reason = "the kernel looks at these 32 bits")]
            libc::SYS_execveat => (Some(first as i32).filter(|fd| *fd != libc::AT_FDCWD), second, third),
            _ => (None, first, second),
        };
        let path = read_string(thread, path, MAX_PATH_BYTES)?.0;
        Ok(Self { thread, registers, folder, path, arguments })
    }

    /// The first `most` words of the argument list, and whether it has more or longer ones.
    ///
    /// # Errors
    /// When the list can't be read.
    pub fn words(&self, most: usize) -> io::Result<(Vec<Vec<u8>>, bool)> {
        let mut words = Vec::new();
        let mut is_cut = false;
        let mut at = self.arguments;
        while at != 0 {
            let mut pointer = [0; size_of::<u64>()];
            read_exactly(self.thread, at, &mut pointer)?;
            let address = u64::from_ne_bytes(pointer);
            if address == 0 {
                break;
            }
            if words.len() == most {
                return Ok((words, true));
            }
            let (word, is_whole) = read_string(self.thread, address, MAX_WORD_BYTES)?;
            is_cut |= !is_whole;
            words.push(word);
            at = at.wrapping_add(size_of::<u64>() as u64);
        }
        Ok((words, is_cut))
    }

    /// Has the call fail with `EACCES`. The thread is still stopped.
    ///
    /// # Errors
    /// When the thread was killed meanwhile.
    pub fn refuse(&self) -> io::Result<()> {
        self.registers.refuse(Errno::ACCESS)
    }
}

fn read_exactly(thread: Pid, address: u64, into: &mut [u8]) -> io::Result<()> {
    let length = into.len();
    match read_memory(thread, &[(address, length)], into)? {
        read if read == length => Ok(()),
        _ => Err(Errno::FAULT.into()),
    }
}

/// The string at an address, up to `most` bytes, and whether that is all of it.
fn read_string(thread: Pid, address: u64, most: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < most {
        let in_page = usize::try_from(PAGE_BYTES - at % PAGE_BYTES).unwrap_or(1);
        let mut piece = vec![0; in_page.min(most - text.len())];
        let length = piece.len();
        let read = read_memory(thread, &[(at, length)], &mut piece)?;
        let piece = piece.get(..read).unwrap_or_default();
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(piece.get(..end).unwrap_or_default());
            return Ok((text, true));
        }
        if piece.is_empty() {
            return Err(Errno::FAULT.into());
        }
        text.extend_from_slice(piece);
        at = at.wrapping_add(read as u64);
    }
    Ok((text, false))
}
