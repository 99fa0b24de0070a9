//! Signals as data: blocked for the whole process, then read from a descriptor between other events.
//!
//! A handler would run at any moment, on any stack; a descriptor is read when the loop gets to it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that our own processes listen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A child ended or stopped.
    Child,
    /// Ctrl-C.
    Interrupt,
    /// A polite request to end.
    Terminate,
    /// Ctrl-\.
    Quit,
    /// The terminal went away.
    HangUp,
    /// The terminal changed its size.
    WindowChange,
    /// Ctrl-Z.
    Stop,
    /// The end of a stop.
    Continue,
    /// Another signal whose default action ends the process, by its number.
    Other(libc::c_int),
}

const NUMBERS: [(Signal, libc::c_int); 8] = [
    (Signal::Child, libc::SIGCHLD),
    (Signal::Interrupt, libc::SIGINT),
    (Signal::Terminate, libc::SIGTERM),
    (Signal::Quit, libc::SIGQUIT),
    (Signal::HangUp, libc::SIGHUP),
    (Signal::WindowChange, libc::SIGWINCH),
    (Signal::Stop, libc::SIGTSTP),
    (Signal::Continue, libc::SIGCONT),
];

/// Blocked signals, readable from a descriptor that `poll` and `epoll` understand.
#[derive(Debug)]
pub struct SignalFd {
    fd: OwnedFd,
}

impl SignalFd {
    /// Blocks `wanted` for the calling thread and opens a non-blocking descriptor from which they are read.
    ///
    /// Call it before the process has other threads: a thread that doesn't block a signal may take it first.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn open(wanted: &[Signal]) -> io::Result<Self> {
        let set = set_of(wanted);
        set_mask(libc::SIG_BLOCK, &set);
        // SAFETY: `set` is an initialised signal set; -1 asks for a new descriptor.
        let raw = unsafe { libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel just made this descriptor for us, and it has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        Ok(Self { fd })
    }

    /// The next pending signal, or `None` when there is none right now.
    ///
    /// # Errors
    /// When the descriptor can't be read.
    pub fn next(&self) -> io::Result<Option<Signal>> {
        loop {
            let mut info = MaybeUninit::<libc::signalfd_siginfo>::zeroed();
            let size = size_of::<libc::signalfd_siginfo>();
            // SAFETY: the buffer is writable and exactly `size` bytes long.
            let read = unsafe { libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size) };
            if read < 0 {
                let error = io::Error::last_os_error();
                match error.kind() {
                    io::ErrorKind::WouldBlock => return Ok(None),
                    io::ErrorKind::Interrupted => continue,
                    _ => return Err(error),
                }
            }
            // SAFETY: the structure is plain integers, valid for any bytes, and was zeroed before the read.
            let info = unsafe { info.assume_init() };
            return Ok(Some(Signal::of_number(libc::c_int::try_from(info.ssi_signo).unwrap_or(0))));
        }
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Unblocks these signals for the calling thread. Pending ones are delivered now.
pub fn unblock(signals: &[Signal]) {
    set_mask(libc::SIG_UNBLOCK, &set_of(signals));
}

/// Every signal that can be blocked is blocked for the calling thread until this is dropped. Then the mask is what it
/// was before.
#[derive(Debug)]
pub struct BlockedSignals {
    before: SignalSet,
}

impl BlockedSignals {
    /// Blocks them.
    #[must_use]
    pub fn all() -> Self {
        // A full set names the C library's own signals as well; the library leaves those out.
        Self { before: SignalSet(change_mask(libc::SIG_SETMASK, &full_set())) }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        set_mask(libc::SIG_SETMASK, &self.before.0);
    }
}

/// A set of signals, which prints as its type only: what is in it has no portable form.
struct SignalSet(libc::sigset_t);

impl std::fmt::Debug for SignalSet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SignalSet").finish_non_exhaustive()
    }
}

/// Whether [`reset_dispositions`] was called in this process or before it was forked.
static ALL_DEFAULT: AtomicBool = AtomicBool::new(false);

/// Gives every signal back its default action, for good: afterwards this process sets no other action. A spawn relies on
/// that, and saves the 64 system calls that it would take in each child.
///
/// An ignored signal stays ignored across `exec`, and Rust programs start with `SIGPIPE` ignored: a command that
/// inherits that prints "Broken pipe" where it should end in silence.
pub fn reset_dispositions() {
    reset_in_child();
    ALL_DEFAULT.store(true, Ordering::Relaxed);
}

/// Whether every signal has its default action, by [`reset_dispositions`].
pub(crate) fn all_default() -> bool {
    ALL_DEFAULT.load(Ordering::Relaxed)
}

/// The same for a child process that shares our memory: makes system calls only.
pub(crate) fn reset_in_child() {
    let default = default_action();
    for number in 1..=libc::SIGRTMAX() {
        // SAFETY: the new action is initialised and runs no code of ours; the old one isn't wanted. Numbers that can't be
        // set just fail.
        unsafe { libc::sigaction(number, &default, std::ptr::null_mut()) };
    }
}

/// The default action, with no flags and an empty mask.
fn default_action() -> libc::sigaction {
    let action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all fields are integers or an optional function, for which zeroes are values; SIG_DFL is zero as well.
    let mut action = unsafe { action.assume_init() };
    action.sa_sigaction = libc::SIG_DFL;
    action
}

/// Makes a write beyond the file size limit an error to tell, not a signal to die of.
pub fn ignore_file_size_signal() {
    ALL_DEFAULT.store(false, Ordering::Relaxed);
    // SAFETY: the action is a constant that runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Takes all signals that wait for the calling thread, which blocks them, and drops them. Makes system calls only.
pub(crate) fn discard_pending() {
    let (all, now) = (full_set(), libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: the set and the time are initialised; what the signal says isn't wanted.
    while unsafe { libc::sigtimedwait(&all, std::ptr::null_mut(), &now) } > 0 {}
}

pub(crate) fn empty_set() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: sigemptyset initialises the set it is given.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: initialised by the line above.
    unsafe { set.assume_init() }
}

fn set_of(signals: &[Signal]) -> libc::sigset_t {
    let mut set = empty_set();
    for signal in signals {
        add(&mut set, signal.number());
    }
    set
}

fn full_set() -> libc::sigset_t {
    let mut set = empty_set();
    // SAFETY: `set` is an initialised signal set.
    unsafe { libc::sigfillset(&mut set) };
    set
}

fn add(set: &mut libc::sigset_t, number: libc::c_int) {
    // SAFETY: `set` is an initialised signal set; a number that is no signal is an error and changes nothing.
    unsafe { libc::sigaddset(set, number) };
}

pub(crate) fn set_mask(how: libc::c_int, set: &libc::sigset_t) {
    change_mask(how, set);
}

/// Changes the mask of the calling thread and returns what it was before.
fn change_mask(how: libc::c_int, set: &libc::sigset_t) -> libc::sigset_t {
    let mut before = empty_set();
    // SAFETY: both are initialised signal sets; the second is written.
    unsafe { libc::pthread_sigmask(how, set, &mut before) };
    before
}

/// Lets `signal` do nothing but interrupt the system call that a thread waits in.
pub(crate) fn interrupt_by(signal: libc::c_int) {
    extern "C" fn nothing(_: libc::c_int) {}
    ALL_DEFAULT.store(false, Ordering::Relaxed);
    let mut action = default_action();
    action.sa_sigaction = nothing as *const () as libc::sighandler_t;
    // SAFETY: the action is initialised, and its handler does nothing. Without flags, calls are not started again.
    unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) };
}

/// Unblocks `signal` for the calling thread.
pub(crate) fn let_interrupt(signal: libc::c_int) {
    unblock(&[Signal::Other(signal)]);
}

/// Lets a signal that was read from a descriptor do what it does to a process that doesn't listen for it.
///
/// Returns when the process goes on: after a stop, or when the signal does nothing.
pub fn let_act(signal: Signal) {
    // The standard library handles faults to tell of a full stack, and takes a signal from outside for none.
    // SAFETY: the default action runs no code of ours.
    unsafe { libc::signal(signal.number(), libc::SIG_DFL) };
    unblock(&[signal]);
    // SAFETY: it takes a number and touches no memory of ours.
    unsafe { libc::raise(signal.number()) };
}

impl Signal {
    /// All signals that end a process by default, can be blocked, and are not ignored by this process.
    #[must_use]
    pub fn terminating() -> Vec<Self> {
        // Their default is to do nothing or to stop the process; two can't be blocked.
        let harmless = [
            libc::SIGCHLD,
            libc::SIGCONT,
            libc::SIGURG,
            libc::SIGWINCH,
            libc::SIGTSTP,
            libc::SIGTTIN,
            libc::SIGTTOU,
            libc::SIGSTOP,
            libc::SIGKILL,
        ];
        let numbers = (1..32).chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
        let wanted = numbers.filter(|number| !harmless.contains(number)).map(Self::of_number);
        wanted.filter(|signal| !signal.is_ignored()).collect()
    }

    fn number(self) -> libc::c_int {
        match self {
            Self::Other(number) => number,
            named => NUMBERS.iter().find(|(signal, _)| *signal == named).map_or(0, |(_, number)| *number),
        }
    }

    fn of_number(number: libc::c_int) -> Self {
        NUMBERS.iter().find(|(_, known)| *known == number).map_or(Self::Other(number), |(signal, _)| *signal)
    }

    /// Whether this process was told to ignore it.
    #[must_use]
    pub fn is_ignored(self) -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a null new action only asks; the old one is written to memory that holds it.
        let asked = unsafe { libc::sigaction(self.number(), std::ptr::null(), action.as_mut_ptr()) };
        // SAFETY: zeroed before, and plain data for any bytes.
        let action = unsafe { action.assume_init() };
        asked == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}
