//! Real bash, in a folder of its own, where every program it looks for is written down and nothing is run.
//!
//! `PATH` leads nowhere, so bash calls its handler for commands that aren't found, which comes from the environment
//! and appends the words to a log. Names with a slash don't go through it: the texts have none.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may")]

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process_group};

/// Writes the words down and fails or not, by chance. A name is a line's first field; lines end with a NUL.
const HANDLER: &str = "() { builtin local line; builtin printf -v line '%s\\x1e' \"$@\"; \
    builtin printf '%s\\0' \"$line\" >> \"$SHELLGATE_LOG\"; builtin return $((RANDOM % 2)); }";

/// Little time, small files, few processes: a text may be a loop that starts another one.
const LIMITS: &str = "ulimit -t 1 -f 200 -u 300 2>/dev/null; exec /bin/bash -c -- \"$0\"";

/// Files in the folder, which patterns fit: one in the place of a program's name can become the name of one.
const FILES: [&str; 4] = ["c1", "c2", "x1", "a1"];

/// Whether bash takes it as a text. Its exit status is 0 after some syntax errors, so what it says counts.
pub(crate) fn accepts(text: &str) -> bool {
    let output = Command::new("bash")
        .args(["-n", "-c", "--", text])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    output.status.success() && said.lines().all(|line| line.contains("warning: "))
}

/// A folder that an unprivileged bash can enter.
pub(crate) fn folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The programs that bash looked for, with their arguments.
pub(crate) fn run(text: &str, folder: &Path) -> Vec<Vec<String>> {
    let log = folder.join("log");
    let work = folder.join("work");
    // The first run has no folder to remove.
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir(&work).unwrap();
    for name in FILES {
        std::fs::write(work.join(name), "").unwrap();
    }
    std::fs::write(&log, "").unwrap();
    let mut command = Command::new("/bin/bash");
    command
        .args(["-c", "--", LIMITS, text])
        .current_dir(&work)
        .env_clear()
        .env("PATH", "/nowhere")
        .env("LC_ALL", "C.UTF-8")
        .env("SHELLGATE_LOG", &log)
        .env("BASH_FUNC_command_not_found_handle%%", HANDLER)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    if geteuid().is_root() {
        // Limits on processes don't hold for root.
        use std::os::unix::fs::chown;
        for path in [&log, &work] {
            chown(path, Some(65534), Some(65534)).unwrap();
        }
        command.uid(65534).gid(65534);
    }
    let mut child = command.spawn().unwrap();
    let group = Pid::from_child(&child);
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        // Kills a command that doesn't end by itself, and its background processes.
        scope.spawn(move || {
            // It ends when the child was reaped, or after three seconds; either way the group is killed. It may be empty.
            let _ = ended.recv_timeout(Duration::from_secs(3));
            let _ = kill_process_group(group, Signal::KILL);
        });
        child.wait().unwrap();
        // The receiver is gone if it took too long.
        let _ = done.send(());
    });
    // An incomplete entry at the end is dropped.
    let log = std::fs::read(&log).unwrap();
    let whole = log.iter().rposition(|byte| *byte == 0).map_or(0, |last| last + 1);
    let text = String::from_utf8_lossy(&log[..whole]).into_owned();
    text.split_terminator('\0')
        .map(|line| line.split_terminator('\u{1e}').map(str::to_owned).collect())
        .collect()
}
