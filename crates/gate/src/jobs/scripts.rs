//! Whether a shell has its terminal open as a script: `. /dev/stdin`, `source /dev/tty`, `BASH_ENV=/dev/tty`, `. <(cat)`.
//!
//! Its argument list doesn't tell, because `read` in the same text takes an answer and no command. Its descriptors do.
//! What a shell sources it opens by name and for reading only, under a number of its own. `read` and `mapfile` take
//! descriptor 0, which is the terminal as the shell was given it, or what `</dev/tty` has put there. A pipe from `$( )`
//! was never opened by name; one from `<( )` was, and so was `/dev/stdin` behind a `|`.
//!
//! `read -u 3` on a terminal opened for reading only looks the same as a script. That errs on the safe side.

use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use shellgate_exec::{ReadState, proc};

/// The bits of `flags` in `/proc/PID/fdinfo/N` that say how it was opened: 0 is for reading only.
const ACCESS: u32 = 0o3;

/// `O_LARGEFILE`, on one machine or the other. The kernel sets it for what is opened by name, and not for what `pipe` makes.
const BY_NAME: u32 = 0o500_000;

/// Kinds of terminals, by the major number of their devices: consoles, `/dev/tty`, and the ends of pseudo-terminals.
const TERMINALS: [u32; 10] = [4, 5, 136, 137, 138, 139, 140, 141, 142, 143];

/// What a shell has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// The terminal, or something that the terminal may feed.
    Typed,
    /// Nothing of that kind.
    None,
    /// It isn't ours to see.
    Hidden,
}

/// What the shell `pid` has open as a script. `reads`: whether it waits for the terminal itself.
pub(super) fn of(pid: u32, reads: ReadState) -> Script {
    let open = match proc::of(pid).descriptors() {
        Ok(open) => open,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Script::Hidden,
        Err(_) => return Script::None,
    };
    let typed = open.into_iter().filter(|fd| *fd != 0).any(|fd| is_script(pid, fd.into(), reads));
    if typed { Script::Typed } else { Script::None }
}

fn is_script(pid: u32, fd: u64, reads: ReadState) -> bool {
    let process = proc::of(pid);
    let Some(flags) = process.descriptor_info(fd).map(|info| info.flags) else { return false };
    let Some(file) = process.descriptor_metadata(fd) else { return false };
    let kind = file.file_type();
    let is_terminal = kind.is_char_device() && TERMINALS.contains(&rustix::fs::major(file.rdev()));
    // A shell that reads the terminal itself is not fed from there by a pipe.
    let is_fed = kind.is_fifo() && flags & BY_NAME != 0 && reads != ReadState::Reading;
    flags & ACCESS == 0 && (is_terminal || is_fed)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(text: &str) -> Child {
        Command::new("bash").args(["-c", text]).stdin(Stdio::piped()).spawn().unwrap()
    }

    /// A shell that waits for a pipe has the same open as one that waits for a terminal.
    fn becomes(text: &str, wanted: Script) -> bool {
        let mut child = shell(text);
        let until = Instant::now() + Duration::from_secs(10);
        let waits = |pid: u32| {
            std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default().contains("pipe")
        };
        while !waits(child.id()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let found = of(child.id(), ReadState::NotReading);
        drop(child.stdin.take());
        child.wait().unwrap();
        found == wanted
    }

    #[test]
    fn what_is_sourced_is_open_by_name() {
        assert!(becomes(". /dev/stdin; :", Script::Typed));
        assert!(becomes(". <(cat); :", Script::Typed));
    }

    #[test]
    fn answers_and_substitutions_are_no_scripts() {
        assert!(becomes("read x; :", Script::None));
        assert!(becomes("x=$(cat); :", Script::None));
        assert!(becomes("read x < <(cat); :", Script::None));
    }

    #[test]
    fn one_that_is_gone_reads_nothing() {
        assert_eq!(of(u32::MAX, ReadState::NotReading), Script::None);
    }
}
