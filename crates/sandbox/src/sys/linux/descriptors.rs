//! Closing descriptors, many at once.
//!
//! `close_range` does it in one call. gVisor doesn't have it, nor do kernels before 5.9, and old seccomp profiles of
//! containers refuse it. There the open descriptors are taken from `/proc/self/fd`, and where that can't be read either,
//! every number that a descriptor may have is tried.

use std::io;
use std::os::fd::RawFd;

use rustix::process::Resource;

/// More numbers than this are not tried one by one: the kernel's own limit (`fs.nr_open`), unless someone raised it.
const MAX_TRIED_DESCRIPTORS: RawFd = 1 << 20;

/// Closes every descriptor of this process except `kept`.
///
/// # Safety
/// No owner of another descriptor is used afterwards, in any thread.
pub(super) unsafe fn close_all_except(kept: &[RawFd]) {
    let kept = sorted(kept);
    for (first, last) in gaps(&kept) {
        // SAFETY: the caller gives up every descriptor outside `kept`.
        if unsafe { close_range(first, last) }.is_err() {
            // SAFETY: as above.
            unsafe { close_one_by_one(&kept) };
            return;
        }
    }
}

/// Whether the kernel has `close_range`, and lets us use it.
pub(super) fn has_close_range() -> bool {
    // SAFETY: closes the one descriptor with the highest number that there is, which the kernel gives to no file.
    unsafe { close_range(u32::MAX, u32::MAX) }.is_ok()
}

/// # Safety
/// No owner of these descriptors is used afterwards.
unsafe fn close_range(first: u32, last: u32) -> io::Result<()> {
    // SAFETY: no memory is involved; the caller gives up the descriptors.
    match unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// # Safety
/// No owner of a descriptor outside `kept` is used afterwards.
unsafe fn close_one_by_one(kept: &[RawFd]) {
    let close = |fd: RawFd| {
        if kept.binary_search(&fd).is_err() {
            // SAFETY: the caller gives up every descriptor outside `kept`. A number that isn't open just fails.
            unsafe { libc::close(fd) };
        }
    };
    match listed() {
        Some(open) => open.into_iter().for_each(close),
        None => (0..highest()).for_each(close),
    }
}

/// The open descriptors, and the one that listed them, which is closed by now.
fn listed() -> Option<Vec<RawFd>> {
    let names = std::fs::read_dir("/proc/self/fd").ok()?;
    names.map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Above all descriptors, unless the limit was lowered after they were opened.
fn highest() -> RawFd {
    let limit = rustix::process::getrlimit(Resource::Nofile).maximum;
    limit
        .and_then(|most| RawFd::try_from(most).ok())
        .map_or(MAX_TRIED_DESCRIPTORS, |most| most.min(MAX_TRIED_DESCRIPTORS))
}

fn sorted(kept: &[RawFd]) -> Vec<RawFd> {
    let mut kept = kept.to_vec();
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// The ranges between the numbers in `kept`, which are in order, first and last number included.
fn gaps(kept: &[RawFd]) -> Vec<(u32, u32)> {
    let mut gaps = Vec::new();
    let mut from = 0_u32;
    for fd in kept.iter().filter_map(|fd| u32::try_from(*fd).ok()) {
        if from < fd {
            gaps.push((from, fd - 1));
        }
        from = fd + 1;
    }
    gaps.push((from, u32::MAX));
    gaps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn everything_is_closed_when_nothing_is_kept() {
        assert_eq!(gaps(&[]), [(0, u32::MAX)]);
    }

    #[test]
    fn ranges_stop_before_what_is_kept_and_go_on_behind_it() {
        let max = u32::MAX;
        assert_eq!(gaps(&sorted(&[0, 1, 2])), [(3, max)]);
        assert_eq!(gaps(&sorted(&[9, 2, 0, 1, 5])), [(3, 4), (6, 8), (10, max)]);
        assert_eq!(gaps(&sorted(&[4, 4, 3])), [(0, 2), (5, max)]);
        assert_eq!(gaps(&sorted(&[RawFd::MAX])), [(0, max / 2 - 1), (max / 2 + 1, max)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 8 } else { 256 }, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn every_number_is_either_kept_or_in_one_range(kept in proptest::collection::vec(0..64_i32, 0..12)) {
            let gaps = gaps(&sorted(&kept));
            for number in 0..70_u32 {
                let ranges = gaps.iter().filter(|(first, last)| (*first..=*last).contains(&number)).count();
                let is_kept = kept.contains(&number.cast_signed());
                prop_assert_eq!(ranges, usize::from(!is_kept));
            }
        }
    }
}
