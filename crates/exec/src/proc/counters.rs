//! `/proc/PID/io`, `smaps_rollup` and `limits`.

use super::{ProcessFolder, number_of};

const MAX_FILE_BYTES: u64 = 8 << 10;

impl ProcessFolder {
    /// Bytes that it and those it waited for gave to disks; `None` where the kernel doesn't count, or doesn't tell us.
    #[must_use]
    pub fn bytes_written(self) -> Option<u64> {
        self.read_text("io", MAX_FILE_BYTES).map(|text| number_of(&text, "write_bytes:"))
    }

    /// Bytes of its memory that no file holds, in memory or swapped out: its share of what it has in common with others,
    /// and all that it has alone. `None` where that is hidden.
    #[must_use]
    pub fn proportional_bytes(self) -> Option<u64> {
        let text = self.read_text("smaps_rollup", MAX_FILE_BYTES)?;
        Some(["Pss_Anon:", "Pss_Shmem:", "SwapPss:"].iter().map(|name| number_of(&text, name) << 10).sum())
    }

    /// Its soft limit on file locks, which carries the [`Tag`](shellgate_sandbox::spawn::Tag) of an execution. `None`
    /// without a limit.
    #[must_use]
    pub fn lock_limit(self) -> Option<u64> {
        soft_limit(&self.read_text("limits", MAX_FILE_BYTES)?, "Max file locks")
    }
}

fn soft_limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::{of, own};
    use super::*;

    const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
                          Max cpu time              unlimited            unlimited            seconds   \n\
                          Max open files            1024                 1048576              files     \n\
                          Max file locks            2305843009213694029  unlimited            locks     \n\
                          Max pending signals       94969                94969                signals   \n";

    #[test]
    fn a_soft_limit_is_the_first_number_behind_its_name() {
        assert_eq!(soft_limit(LIMITS, "Max file locks"), Some(2_305_843_009_213_694_029));
        assert_eq!(soft_limit(LIMITS, "Max open files"), Some(1024));
        assert_eq!(soft_limit(LIMITS, "Max cpu time"), None, "unlimited");
        assert_eq!(soft_limit(LIMITS, "Max nice priority"), None);
    }

    #[test]
    fn counters_are_found_by_their_names() {
        let io =
            "rchar: 3012\nwchar: 7\nsyscr: 9\nread_bytes: 0\nwrite_bytes: 4096\ncancelled_write_bytes: 1\n";
        assert_eq!(number_of(io, "write_bytes:"), 4096);
        let rollup = "55d-7ffd ---p 00000000 00:00 0    [rollup]\nPss:    301 kB\nPss_Anon:      120 kB\nSwapPss:   0 kB\n";
        assert_eq!(number_of(rollup, "Pss_Anon:"), 120);
        assert_eq!(number_of(rollup, "Pss_Shmem:"), 0);
    }

    #[test]
    fn an_ended_process_has_no_counters() {
        let gone = of(u32::MAX);
        assert_eq!((gone.bytes_written(), gone.proportional_bytes(), gone.lock_limit()), (None, None, None));
        assert!(own().proportional_bytes().is_some_and(|bytes| bytes > 0));
    }
}
