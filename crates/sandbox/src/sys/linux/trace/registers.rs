//! The registers of a thread that is stopped before a system call.

use std::io;

use rustix::process::Pid;

use super::kernel;

/// The general registers (`NT_PRSTATUS`).
const GENERAL: libc::c_int = 1;

/// The number and the first arguments of a call, and the registers that they are in.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRegisters {
    thread: Pid,
    all: libc::user_regs_struct,
}

impl CallRegisters {
    /// Reads them.
    pub(super) fn of(thread: Pid) -> io::Result<Self> {
        // SAFETY: plain numbers, for which zero is valid.
        let mut all: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        kernel::get_registers(thread, GENERAL, &mut all)?;
        Ok(Self { thread, all })
    }
}

#[cfg(target_arch = "x86_64")]
impl CallRegisters {
    /// The number of the call.
    pub(super) const fn number(&self) -> i64 {
        self.all.orig_rax.cast_signed()
    }

    /// Its first four arguments.
    pub(super) const fn arguments(&self) -> [u64; 4] {
        [self.all.rdi, self.all.rsi, self.all.rdx, self.all.r10]
    }

    /// Has the kernel leave the call out, and return this error.
    pub(super) fn refuse(mut self, errno: rustix::io::Errno) -> io::Result<()> {
        self.all.orig_rax = u64::MAX;
        self.all.rax = i64::from(-errno.raw_os_error()).cast_unsigned();
        kernel::set_registers(self.thread, GENERAL, &mut self.all)
    }
}

#[cfg(target_arch = "aarch64")]
impl CallRegisters {
    /// The number of the call.
    pub(super) const fn number(&self) -> i64 {
        let [.., number, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = self.all.regs;
        number.cast_signed()
    }

    /// Its first four arguments.
    pub(super) const fn arguments(&self) -> [u64; 4] {
        let [first, second, third, fourth, ..] = self.all.regs;
        [first, second, third, fourth]
    }

    /// Has the kernel leave the call out, and return this error.
    pub(super) fn refuse(mut self, errno: rustix::io::Errno) -> io::Result<()> {
        /// The number of the call is a set of its own here (`NT_ARM_SYSTEM_CALL`).
        const CALL_NUMBER: libc::c_int = 0x404;
        let mut none: libc::c_int = -1;
        kernel::set_registers(self.thread, CALL_NUMBER, &mut none)?;
        if let Some(result) = self.all.regs.first_mut() {
            *result = i64::from(-errno.raw_os_error()).cast_unsigned();
        }
        kernel::set_registers(self.thread, GENERAL, &mut self.all)
    }
}
