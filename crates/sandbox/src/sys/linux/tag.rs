//! The tag by which the processes of a command are recognised.

use rustix::process::{Resource, Rlimit};

/// A number that a process hands down to every descendant, whatever these do to their environment, session or parents.
///
/// It is the soft limit on file locks, which Linux has kept, inherited and ignored since 2.4.25: a place to write a
/// note that `fork`, `exec`, `setsid` and `env -i` all carry along, and that `/proc/PID/limits` shows to every user. The hard
/// limit becomes the largest tag. Without root's rights it can't be raised again, so it stays a mark of every process that
/// a command started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(u64);

impl Tag {
    /// A tag from any number; the top bits are fixed so that it can't be "unlimited" or a limit in use elsewhere.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self((number & ((1 << 60) - 1)) | (1 << 61))
    }

    /// The tag that a limit carries, if it carries one.
    #[must_use]
    pub const fn from_limit(limit: u64) -> Option<Self> {
        if limit >> 60 == 1 << 1 { Some(Self(limit)) } else { None }
    }

    /// The limit that carries it, unless the hard limit is too low for that.
    pub(crate) fn limit(self) -> Option<Rlimit> {
        let own = rustix::process::getrlimit(Resource::Locks).maximum;
        let maximum = own.map_or(Self::LARGEST.0, |own| own.min(Self::LARGEST.0));
        (maximum >= self.0).then_some(Rlimit { current: Some(self.0), maximum: Some(maximum) })
    }

    /// The limit of a process that belongs to no command yet.
    pub(crate) fn limit_of_none() -> Rlimit {
        let own = rustix::process::getrlimit(Resource::Locks).maximum;
        Rlimit {
            current: Some(0),
            maximum: Some(own.map_or(Self::LARGEST.0, |own| own.min(Self::LARGEST.0))),
        }
    }

    /// Whether this process has the mark of processes that a command started. Machines leave this limit alone.
    #[must_use]
    pub fn is_marked() -> bool {
        rustix::process::getrlimit(Resource::Locks).maximum.is_some()
    }

    const LARGEST: Self = Self::new(u64::MAX);

    /// The number as the kernel shows it.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Tag;

    #[test]
    fn a_tag_keeps_its_number_and_is_never_a_usual_limit() {
        for number in [0, 1, 77, (1 << 60) - 1, u64::MAX] {
            let tag = Tag::new(number).get();
            assert_eq!(tag & ((1 << 60) - 1), number & ((1 << 60) - 1));
            assert!(tag > 1 << 60 && tag < i64::MAX.cast_unsigned());
            assert_eq!(Tag::from_limit(tag), Some(Tag::new(number)));
        }
        assert_eq!([0, 1024, u64::MAX].map(Tag::from_limit), [None; 3]);
    }
}
