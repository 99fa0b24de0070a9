//! The kernel and the shell.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::PidfdFlags;
use shellgate_exec::{kernel as probe, proc};

use super::{Check, Health};
use crate::sys::shell::{self, NotFound};

/// Where the shell is, and what is to be said of it.
pub(super) fn shell() -> (Option<PathBuf>, Check) {
    let path = std::env::var_os("PATH");
    match shell::find(shell::SHELL, path.as_deref(), Path::new("/")) {
        Ok(path) => {
            let version = version(&path).unwrap_or_else(|| "it does not say its version".to_owned());
            let said = format!("`{}` reads the commands: {version}.", path.display());
            (Some(path), Check::new("bash", Health::Ok, said))
        }
        Err(error) => {
            let said = match error {
                NotFound::Nowhere => "There is no `bash` on PATH, so no command can run.".to_owned(),
                NotFound::NotExecutable(path) => {
                    format!("`{}` is not executable, so no command can run.", path.display())
                }
            };
            (None, Check::new("bash", Health::Missing, said).hint("install bash, or correct PATH"))
        }
    }
}

fn version(shell: &Path) -> Option<String> {
    let output = Command::new(shell).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

pub(super) fn checks() -> Vec<Check> {
    vec![pidfd(), subreaper(), children(), close_range(), cgroups(), user_namespaces(), landlock(), seccomp()]
}

fn pidfd() -> Check {
    match rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty()) {
        Ok(_) => {
            Check::new("pidfd", Health::Ok, "Processes can be pinned, so no stranger is ever signalled.")
        }
        Err(error) => {
            let said = format!("Processes can't be pinned ({error}), so commands can't be stopped safely.");
            Check::new("pidfd", Health::Missing, said).hint("Linux 5.3 or newer has it")
        }
    }
}

fn subreaper() -> Check {
    match rustix::process::child_subreaper() {
        Ok(_) => {
            Check::new("subreaper", Health::Ok, "Processes that lose their parent stay with their command.")
        }
        Err(error) => {
            let said = format!("Processes that lose their parent can't be followed ({error}).");
            Check::new("subreaper", Health::Missing, said).hint("Linux 3.4 or newer has it")
        }
    }
}

fn children() -> Check {
    match (proc::own().lists_children(), proc::own().exists()) {
        (true, _) => Check::new("proc", Health::Ok, "`/proc` lists the children of a process."),
        (false, true) => Check::new(
            "proc",
            Health::Warning,
            "`/proc` has no lists of children: all processes are looked through, which is slower.",
        ),
        (false, false) => {
            Check::new("proc", Health::Missing, "`/proc` is not there: commands can't be followed.")
                .hint("mount it: `mount -t proc proc /proc`")
        }
    }
}

fn close_range() -> Check {
    let (health, said) = match probe::close_range() {
        true => (Health::Ok, "Descriptors can be closed all at once."),
        false => (
            Health::Warning,
            "Descriptors can't be closed all at once: a keeper that starts closes them one by one, which is slower.",
        ),
    };
    let check = Check::new("close_range", health, said);
    match health {
        Health::Ok => check,
        _ => check.hint("Linux 5.9 or newer has it; gVisor and old seccomp profiles of containers refuse it"),
    }
}

/// What is mounted; whether it can be used is said with each limit.
fn cgroups() -> Check {
    let mounts = proc::own().mounts();
    let of = |kind: &str| mounts.iter().filter(|mount| mount.kind == kind).count();
    let (unified, split) = (of("cgroup2"), of("cgroup"));
    let said = match (unified, split) {
        (0, 0) => "No control groups are mounted: shellgate watches limits itself.",
        (_, 0) => "Control groups of version 2 are mounted; the limits below say what they can be used for.",
        (0, _) => "Control groups of version 1 are mounted; the limits below say what they can be used for.",
        _ => "Control groups of both versions are mounted; the limits below say what they can be used for.",
    };
    let health = if unified + split == 0 { Health::Warning } else { Health::Ok };
    Check::new("cgroups", health, said)
}

fn user_namespaces() -> Check {
    let said = match probe::user_namespaces() {
        Some(true) => "User namespaces can be made. Confinement will use them.",
        Some(false) => "User namespaces can't be made by this user. Confinement will use them.",
        None => "Whether user namespaces can be made could not be tried. Confinement will use them.",
    };
    Check::new("user_namespaces", Health::NotUsedYet, said)
}

fn landlock() -> Check {
    let said = match probe::landlock() {
        Some(version) => format!("Landlock is there, version {version}. Confinement will use it."),
        None => "Landlock is not there. Confinement will use it.".to_owned(),
    };
    Check::new("landlock", Health::NotUsedYet, said)
}

fn seccomp() -> Check {
    let is = if probe::seccomp() { "can" } else { "can't" };
    Check::new(
        "seccomp",
        Health::NotUsedYet,
        format!("System calls {is} be filtered. Confinement will use it."),
    )
}
