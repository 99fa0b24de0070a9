//! Our own line in the process listing.
//!
//! The text of a command stands in the arguments of the `shellgate` process that carries it. There it shows to every
//! user of the machine, and `pkill -f 'node server.js'`, which agents love, would hit the messenger.

use std::fs::File;
use std::io::Read as _;
use std::{io, ptr};

/// More than most of these files have.
const EXPECTED_BYTES: usize = 1024;

/// Blanks the arguments after the first `keep` in this process's listing, in place.
///
/// Read the arguments before: they are gone afterwards, for `std::env::args` too.
///
/// # Errors
/// When the kernel doesn't say where the arguments lie; then nothing was changed.
pub fn blank_arguments(keep: usize) -> io::Result<()> {
    let stat = String::from_utf8_lossy(&read("/proc/self/stat")?).into_owned();
    let range =
        argument_range(&stat).ok_or_else(|| io::Error::other("no argument addresses in /proc/self/stat"))?;
    let listing = read("/proc/self/cmdline")?;
    let length = range.end.saturating_sub(range.start);
    if listing.len() != length {
        // The title was changed before, so the addresses may not be those of the arguments.
        return Err(io::Error::other("the arguments are not where they were"));
    }
    let kept: usize = listing.split_inclusive(|byte| *byte == 0).take(keep).map(<[u8]>::len).sum();
    let start = ptr::with_exposed_provenance_mut::<u8>(range.start + kept);
    // SAFETY: the kernel names [start, end) as the writable memory it copied this process's arguments to at exec;
    // the caller has read them, and no reference to that memory is alive.
    unsafe { ptr::write_bytes(start, 0, length - kept) };
    Ok(())
}

/// Reads a file of `/proc`, which has no length. Without room, it would be read in pieces of 32 bytes first.
fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(EXPECTED_BYTES);
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Fields 48 and 49 of `/proc/self/stat`, counted behind the name, which may hold blanks and parentheses itself.
fn argument_range(stat: &str) -> Option<std::ops::Range<usize>> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(45);
    let start = fields.next()?.parse().ok()?;
    let end = fields.next()?.parse().ok()?;
    (start > 0 && end > start).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_are_counted_from_the_end_of_the_name() {
        // From a real one; the name was changed by the program.
        let fields = "S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 55 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 8 9 10 1000 1040 1040 2000 0";
        for name in ["sh", "a b", "a) R 2 (b", ")", ""] {
            assert_eq!(argument_range(&format!("7 ({name}) {fields}")), Some(1000..1040), "{name}");
        }
    }

    #[test]
    fn a_line_without_addresses_gives_none() {
        for line in [
            "",
            "7 (sh",
            "7 (sh) S 1 7",
            "7 (sh) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 55 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 8 9 10 0 0 1040 2000 0",
        ] {
            assert_eq!(argument_range(line), None, "{line}");
        }
    }
}
