//! What a row of the table is.
//!
//! The rules of one system call are tried in the order of the table; the first whose conditions all hold decides. A call
//! without a rule that holds is allowed. A number that no kernel had when the table was written is answered with
//! `ENOSYS`, so that a system call that a later kernel adds is no hole; programs then use the older way.

use super::calls::Call;

/// What the kernel does with a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Run it.
    Allow,
    /// Don't run it and answer with this error.
    Refuse(RefusalErrno),
    /// Hold the thread and tell the process that has the filter's listener.
    Notify,
    /// Stop for the tracer. Without a tracer the call fails with `ENOSYS`.
    Trace,
    /// Kill the process with `SIGSYS`.
    Kill,
}

/// The number of an error, at most 4095: the kernel takes no larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefusalErrno(u16);

impl RefusalErrno {
    /// Not permitted.
    pub const EPERM: Self = Self(libc::EPERM as u16);
    /// No such system call.
    pub const ENOSYS: Self = Self(libc::ENOSYS as u16);
    /// There is one already.
    pub const EBUSY: Self = Self(libc::EBUSY as u16);
    /// Not supported by this file system.
    pub const EOPNOTSUPP: Self = Self(libc::EOPNOTSUPP as u16);
    /// No such family of sockets.
    pub const EAFNOSUPPORT: Self = Self(libc::EAFNOSUPPORT as u16);
    /// No such protocol in this family of sockets.
    pub const EPROTONOSUPPORT: Self = Self(libc::EPROTONOSUPPORT as u16);
    /// The largest number that the kernel takes.
    pub const MAX: Self = Self(4095);

    /// An error by its number; larger ones than the kernel takes become [`MAX`](Self::MAX).
    #[must_use]
    pub const fn new(number: u16) -> Self {
        if number > Self::MAX.0 { Self::MAX } else { Self(number) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl Action {
    /// The value that a filter returns for it.
    pub(super) const fn return_value(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Refuse(errno) => libc::SECCOMP_RET_ERRNO | errno.0 as u32,
            Self::Notify => libc::SECCOMP_RET_USER_NOTIF,
            Self::Trace => libc::SECCOMP_RET_TRACE,
            Self::Kill => libc::SECCOMP_RET_KILL_PROCESS,
        }
    }
}

/// The position of an argument, 0 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The first.
    First,
    /// The second.
    Second,
    /// The third.
    Third,
    /// The fourth.
    Fourth,
    /// The fifth.
    Fifth,
    /// The sixth.
    Sixth,
}

/// A comparison of the bits of an argument that `mask` selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Which argument.
    pub argument: Argument,
    /// How much of it the kernel looks at.
    pub bits: Bits,
    /// What its value is compared with.
    pub test: Test,
}

/// The part of an argument that counts. An argument register has 64 bits. Where the kernel's own parameter is an `int`,
/// it ignores the upper half, so a comparison of all 64 bits could be avoided by setting one of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// The lower 32 bits that this mask selects.
    Low(u32),
    /// The bits that this mask selects: for pointers and other long parameters.
    All(u64),
}

/// What the selected bits are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// They have this value.
    Is(u64),
    /// They have another value.
    IsNot(u64),
    /// They have the launcher's own number, which only it knows.
    IsOwn,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The calls that it is about.
    pub calls: &'static [Call],
    /// What must hold, all of it. Empty: always.
    pub when: &'static [Condition],
    /// What happens then.
    pub action: Action,
    /// Why.
    pub reason: &'static str,
}

/// The lower 32 bits of an argument have this value.
pub(super) const fn equals(argument: Argument, value: u32) -> Condition {
    Condition { argument, bits: Bits::Low(u32::MAX), test: Test::Is(value as u64) }
}

/// Those of the lower 32 bits of an argument that `mask` selects have this value.
pub(super) const fn masked(argument: Argument, mask: u32, value: u32) -> Condition {
    Condition { argument, bits: Bits::Low(mask), test: Test::Is(value as u64) }
}

/// At least one of these flags is set in the lower 32 bits of an argument.
pub(super) const fn any_of(argument: Argument, flags: u32) -> Condition {
    Condition { argument, bits: Bits::Low(flags), test: Test::IsNot(0) }
}

/// An argument that the kernel doesn't look at is the launcher's own number.
pub(super) const fn is_own(argument: Argument) -> Condition {
    Condition { argument, bits: Bits::All(u64::MAX), test: Test::IsOwn }
}

/// A pointer is not null.
pub(super) const fn not_null(argument: Argument) -> Condition {
    Condition { argument, bits: Bits::All(u64::MAX), test: Test::IsNot(0) }
}
