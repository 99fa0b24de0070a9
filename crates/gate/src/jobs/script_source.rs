//! Whether a shell reads its terminal as a script: `. /dev/stdin`, `source /dev/tty`, `BASH_ENV=/dev/tty`, `. <(cat)`.
//!
//! The argument list doesn't tell: the same text may call `read`, which reads an answer and no command. The descriptors of the
//! shell do. A shell opens a sourced file by name, for reading only, under a new descriptor. `read` and `mapfile` use
//! descriptor 0: the terminal that the shell inherited, or the file of `</dev/tty`. The pipe of `$( )` was never opened by
//! name; the pipe of `<( )` was, and so was `/dev/stdin` behind a `|`.
//!
//! `read -u 3` on a terminal that was opened for reading only looks like a script. It is judged as one, to be safe.

use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use shellgate_exec::{ReadState, proc};

/// The bits of `flags` in `/proc/PID/fdinfo/N` for the access mode. 0 is reading only.
const ACCESS_MODE_BITS: u32 = 0o3;

/// `O_LARGEFILE`, whose bit differs between architectures. The kernel sets it for files that were opened by name, not for
/// pipes that `pipe` made.
const OPENED_BY_NAME_BITS: u32 = 0o500_000;

/// Major device numbers of terminals: consoles, `/dev/tty`, and both ends of pseudo-terminals.
const TERMINAL_MAJORS: [u32; 10] = [4, 5, 136, 137, 138, 139, 140, 141, 142, 143];

/// Where a shell reads its script from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptSource {
    /// The terminal, or a pipe that may carry input from the terminal.
    Terminal,
    /// Not the terminal.
    Other,
    /// Its descriptors can't be read: it is a process of another user.
    Hidden,
}

/// Where the shell `pid` reads its script from. `reads`: whether it waits for input from the terminal itself.
pub(super) fn find(pid: u32, reads: ReadState) -> ScriptSource {
    let open = match proc::of(pid).descriptors() {
        Ok(open) => open,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return ScriptSource::Hidden,
        Err(_) => return ScriptSource::Other,
    };
    let typed = open.into_iter().filter(|fd| *fd != 0).any(|fd| is_script(pid, fd.into(), reads));
    if typed { ScriptSource::Terminal } else { ScriptSource::Other }
}

fn is_script(pid: u32, fd: u64, reads: ReadState) -> bool {
    let process = proc::of(pid);
    let Some(flags) = process.descriptor_info(fd).map(|info| info.flags) else { return false };
    let Some(file) = process.descriptor_metadata(fd) else { return false };
    let kind = file.file_type();
    let is_terminal = kind.is_char_device() && TERMINAL_MAJORS.contains(&rustix::fs::major(file.rdev()));
    // A shell that waits for the terminal itself doesn't wait for a pipe that another process fills from the terminal.
    let is_fed = kind.is_fifo() && flags & OPENED_BY_NAME_BITS != 0 && reads != ReadState::Reading;
    flags & ACCESS_MODE_BITS == 0 && (is_terminal || is_fed)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(text: &str) -> Child {
        Command::new("bash").args(["-c", text]).stdin(Stdio::piped()).spawn().unwrap()
    }

    /// Whether a shell that runs `text` and waits for a pipe has this source. With a terminal its descriptors would be the same.
    fn becomes(text: &str, wanted: ScriptSource) -> bool {
        let mut child = shell(text);
        let until = Instant::now() + Duration::from_secs(10);
        let waits = |pid: u32| {
            std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default().contains("pipe")
        };
        while !waits(child.id()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let found = find(child.id(), ReadState::NotReading);
        drop(child.stdin.take());
        child.wait().unwrap();
        found == wanted
    }

    #[test]
    fn a_sourced_file_was_opened_by_name() {
        assert!(becomes(". /dev/stdin; :", ScriptSource::Terminal));
        assert!(becomes(". <(cat); :", ScriptSource::Terminal));
    }

    #[test]
    fn answers_and_substitutions_are_no_scripts() {
        assert!(becomes("read x; :", ScriptSource::Other));
        assert!(becomes("x=$(cat); :", ScriptSource::Other));
        assert!(becomes("read x < <(cat); :", ScriptSource::Other));
    }

    #[test]
    fn a_process_that_has_ended_reads_nothing() {
        assert_eq!(find(u32::MAX, ReadState::NotReading), ScriptSource::Other);
    }
}
