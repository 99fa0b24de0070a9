//! `/proc/PID/status`.

use rustix::process::Signal;

use super::{ProcessFolder, line_of, number_of};

/// What that file says of a process.
#[derive(Clone, Debug)]
pub struct Status(String);

const MAX_STATUS_BYTES: u64 = 16 << 10;

impl Status {
    /// Whether it ignores the signal of this number.
    #[must_use]
    pub fn ignores(&self, signal: i32) -> bool {
        self.has_signal("SigIgn:", signal)
    }

    /// Whether it neither ignores, catches nor blocks the signal of this number.
    #[must_use]
    pub fn takes_default_action(&self, signal: i32) -> bool {
        !["SigIgn:", "SigCgt:", "SigBlk:"].iter().any(|set| self.has_signal(set, signal))
    }

    fn has_signal(&self, set: &str, signal: i32) -> bool {
        let set = line_of(&self.0, set).and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or(0);
        let bit = u32::try_from(signal - 1).ok().and_then(|bit| set.checked_shr(bit));
        bit.is_some_and(|bit| bit & 1 == 1)
    }

    /// Its file mode creation mask.
    #[must_use]
    pub fn umask(&self) -> Option<u32> {
        line_of(&self.0, "Umask:").and_then(|mask| u32::from_str_radix(mask, 8).ok())
    }

    /// Its process id in its own process namespace.
    #[must_use]
    pub fn innermost_pid(&self) -> Option<u32> {
        line_of(&self.0, "NSpid:").and_then(|pids| pids.split_ascii_whitespace().next_back()?.parse().ok())
    }

    /// The process that a thread belongs to.
    #[must_use]
    pub fn thread_group(&self) -> Option<u32> {
        line_of(&self.0, "Tgid:").and_then(|pid| pid.parse().ok())
    }

    /// Bytes of its memory that no file holds, in memory or swapped out. What it shares with others counts fully.
    #[must_use]
    pub fn private_bytes(&self) -> u64 {
        ["RssAnon:", "RssShmem:", "VmSwap:"].iter().map(|name| number_of(&self.0, name) << 10).sum()
    }
}

impl ProcessFolder {
    /// Whether it ignores `signal`. One that is gone ignores nothing.
    #[must_use]
    pub fn ignores(self, signal: Signal) -> bool {
        self.status().is_some_and(|status| status.ignores(signal.as_raw()))
    }

    /// Its process id in its own process namespace.
    #[must_use]
    pub fn innermost_pid(self) -> Option<u32> {
        self.status()?.innermost_pid()
    }

    /// The process that a thread belongs to.
    #[must_use]
    pub fn thread_group(self) -> Option<u32> {
        self.status()?.thread_group()
    }

    /// The lines about it.
    #[must_use]
    pub fn status(self) -> Option<Status> {
        self.read_text("status", MAX_STATUS_BYTES).map(Status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Linux 6.18, shortened. The name tries to be a line of its own: the kernel writes its line end as `\n`.
    const TEXT: &str = "Name:\tx\\nUmask:\\t0777\nUmask:\t0027\nState:\tS (sleeping)\nTgid:\t42\nPPid:\t1\nNSpid:\t42\t7\nThreads:\t1\n\
                        VmRSS:\t    5204 kB\nRssAnon:\t    1032 kB\nRssFile:\t    4172 kB\nRssShmem:\t       8 kB\n\
                        VmSwap:\t       2 kB\nSigBlk:\t0000000000010000\nSigIgn:\t8000000000380004\nSigCgt:\t000000004b817efb\n";

    #[test]
    fn fields_are_read_from_their_own_lines() {
        let status = Status(TEXT.to_owned());
        assert_eq!(status.umask(), Some(0o27));
        assert_eq!(status.innermost_pid(), Some(7));
        assert_eq!(status.private_bytes(), (1032 + 8 + 2) << 10);
    }

    #[test]
    fn ignored_signals_are_bits_from_one() {
        let status = Status(TEXT.to_owned());
        let ignored: Vec<i32> = (-1..70).filter(|signal| status.ignores(*signal)).collect();
        assert_eq!(ignored, [3, 20, 21, 22, 64]);
    }

    #[test]
    fn the_default_action_is_taken_for_signals_in_no_set() {
        let status = Status(TEXT.to_owned());
        let default: Vec<i32> = (1..32).filter(|signal| status.takes_default_action(*signal)).collect();
        assert_eq!(default, [9, 16, 18, 19, 23, 27, 29, 30]);
    }

    #[test]
    fn missing_lines_give_default_values() {
        let status = Status(String::new());
        assert_eq!((status.ignores(2), status.umask(), status.private_bytes()), (false, None, 0));
        assert!(super::super::of(u32::MAX).status().is_none());
        assert!(super::super::own().status().unwrap().private_bytes() > 0);
    }
}
