//! Signals from a descriptor.

use rustix::process::{Signal as Number, getpid, kill_process};
use shellgate_sandbox::signals::{BlockedSignals, Signal, SignalFd, reset_dispositions, unblock};

use crate::{Test, in_child, signal_set};

pub(crate) const TESTS: &[Test] = &[
    ("signals_are_read_in_order_of_arrival", signals_are_read_in_order_of_arrival),
    ("signals_stay_blocked_until_the_guard_is_dropped", signals_stay_blocked_until_the_guard_is_dropped),
    ("ignored_signals_are_told_apart_and_reset", ignored_signals_are_told_apart_and_reset),
];

fn signals_are_read_in_order_of_arrival() {
    in_child(|| {
        let signals = SignalFd::open(&[Signal::Interrupt, Signal::Terminate]).unwrap();
        assert_eq!(signals.next().unwrap(), None);
        kill_process(getpid(), Number::TERM).unwrap();
        assert_eq!(signals.next().unwrap(), Some(Signal::Terminate));
        kill_process(getpid(), Number::INT).unwrap();
        assert_eq!(signals.next().unwrap(), Some(Signal::Interrupt));
        assert_eq!(signals.next().unwrap(), None);
        unblock(&[Signal::Interrupt, Signal::Terminate]);
        assert_eq!(signal_set("SigBlk"), 0);
    });
}

fn signals_stay_blocked_until_the_guard_is_dropped() {
    in_child(|| {
        let before = signal_set("SigBlk");
        let blocked = BlockedSignals::all();
        let inner = BlockedSignals::all();
        kill_process(getpid(), Number::TERM).unwrap();
        drop(inner);
        assert_ne!(signal_set("SigBlk"), before);
        let signals = SignalFd::open(&[Signal::Terminate]).unwrap();
        assert_eq!(signals.next().unwrap(), Some(Signal::Terminate), "it waited");
        drop(blocked);
        assert_eq!(signal_set("SigBlk"), before);
    });
}

fn ignored_signals_are_told_apart_and_reset() {
    in_child(|| {
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        assert!(Signal::HangUp.is_ignored());
        assert!(!Signal::Quit.is_ignored());
        reset_dispositions();
        assert!(!Signal::HangUp.is_ignored());
        assert_eq!(signal_set("SigIgn"), 0, "SIGPIPE too, which Rust programs ignore");
    });
}
