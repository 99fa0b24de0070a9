//! Ctrl-C at the right moment.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::wait_until;

/// Runs `command`, and sends SIGINT once the file `ready` exists and the process handles SIGINT. Without a handler, the
/// signal would kill it.
pub(crate) fn output_interrupted(command: &mut Command, ready: &Path) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the command is ready", || ready.exists());
    wait_until("the command handles SIGINT", || listens(child.id()));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    Output { status: child.wait().unwrap(), stdout, stderr }
}

/// Whether a process blocks or catches SIGINT.
fn listens(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let masks = status.lines().filter_map(|line| {
        let (name, mask) = line.split_once(":\t")?;
        matches!(name, "SigBlk" | "SigCgt").then(|| u64::from_str_radix(mask, 16).unwrap())
    });
    masks.fold(0, |all, mask| all | mask) & (1 << (Signal::INT.as_raw() - 1)) != 0
}
