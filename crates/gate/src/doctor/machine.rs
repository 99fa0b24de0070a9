//! Checks of the kernel and the shell.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::PidfdFlags;
use shellgate_exec::{kernel as probe, proc};

use super::{Check, Health};
use crate::sys::shell::{self, NotFound};

/// The path of the shell, and the check whether it is there.
pub(super) fn shell() -> (Option<PathBuf>, Check) {
    let path = std::env::var_os("PATH");
    match shell::find(shell::SHELL, path.as_deref(), Path::new("/")) {
        Ok(path) => {
            let version = version(&path).unwrap_or_else(|| "its version is not known".to_owned());
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
    vec![
        pidfd(),
        subreaper(),
        children(),
        close_range(),
        cgroups(),
        user_namespaces(),
        landlock(),
        seccomp(),
        tracing(),
    ]
}

fn pidfd() -> Check {
    match rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty()) {
        Ok(_) => Check::new(
            "pidfd",
            Health::Ok,
            "Processes have descriptors (pidfd), so a signal never reaches a process that reused a pid.",
        ),
        Err(error) => {
            let said = format!(
                "Processes have no descriptors (pidfd: {error}), so commands can't be stopped safely."
            );
            Check::new("pidfd", Health::Missing, said).hint("Linux 5.3 or newer has it")
        }
    }
}

fn subreaper() -> Check {
    match rustix::process::child_subreaper() {
        Ok(_) => Check::new(
            "subreaper",
            Health::Ok,
            "Orphaned processes become children of the keeper, so they stay with their command.",
        ),
        Err(error) => {
            let said = format!("Orphaned processes can't be found again ({error}).");
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
            "`/proc` doesn't list the children of a process: shellgate searches all processes, which is slower.",
        ),
        (false, false) => Check::new(
            "proc",
            Health::Missing,
            "`/proc` is not mounted, so the processes of a command can't be found.",
        )
        .hint("mount it: `mount -t proc proc /proc`"),
    }
}

fn close_range() -> Check {
    let (health, said) = match probe::close_range() {
        true => (Health::Ok, "A keeper can close its inherited descriptors with one system call."),
        false => (
            Health::Warning,
            "A keeper has to close its inherited descriptors one by one, which makes its start slower.",
        ),
    };
    let check = Check::new("close_range", health, said);
    match health {
        Health::Ok => check,
        _ => check.hint("Linux 5.9 or newer has it; gVisor and old seccomp profiles of containers refuse it"),
    }
}

/// Which control groups are mounted. Whether they can be used is checked for each limit.
fn cgroups() -> Check {
    let mounts = proc::own().mounts();
    let of = |kind: &str| mounts.iter().filter(|mount| mount.kind == kind).count();
    let (unified, split) = (of("cgroup2"), of("cgroup"));
    let said = match (unified, split) {
        (0, 0) => "No control groups are mounted: shellgate watches the limits itself.",
        (_, 0) => {
            "Control groups of version 2 are mounted; the checks of the limits below say how they can be used."
        }
        (0, _) => {
            "Control groups of version 1 are mounted; the checks of the limits below say how they can be used."
        }
        _ => {
            "Control groups of both versions are mounted; the checks of the limits below say how they can be used."
        }
    };
    let health = if unified + split == 0 { Health::Warning } else { Health::Ok };
    Check::new("cgroups", health, said)
}

fn user_namespaces() -> Check {
    let is_root = rustix::process::geteuid().is_root();
    let (health, said) = match probe::user_namespaces() {
        Some(true) => (Health::Ok, "This user can create user namespaces; the sandbox uses them."),
        // Root has other ways.
        Some(false) if is_root => {
            (Health::Ok, "Root can't create user namespaces; the sandbox does without them.")
        }
        Some(false) => (Health::Warning, "This user can't create user namespaces, which the sandbox needs."),
        None => (Health::Warning, "It could not be tried whether this user can create user namespaces."),
    };
    let check = Check::new("user_namespaces", health, said);
    match health {
        Health::Ok => check,
        _ => check.hint(
            "allow them: `sysctl user.max_user_namespaces=10000`; on Ubuntu an AppArmor profile with `userns,`",
        ),
    }
}

fn landlock() -> Check {
    match probe::landlock() {
        Some(version) => {
            let said = format!("The kernel has Landlock version {version}; the sandbox uses it.");
            Check::new("landlock", Health::Ok, said)
        }
        None => {
            Check::new("landlock", Health::Warning, "The kernel has no Landlock, which the sandbox needs.")
                .hint("Linux 5.13 or newer has it, unless it is switched off at boot (`lsm=`)")
        }
    }
}

fn tracing() -> Check {
    match probe::tracing() {
        Ok(()) => Check::new(
            "ptrace",
            Health::Ok,
            "Processes can be traced (ptrace), so rules hold for every program that a command starts.",
        ),
        Err(error) => Check::new(
            "ptrace",
            Health::Warning,
            format!(
                "Processes can't be traced (ptrace: {error}): where rules deny programs, commands are refused."
            ),
        )
        .hint("allow it: `sysctl kernel.yama.ptrace_scope=1`; in a container `--cap-add=SYS_PTRACE`"),
    }
}

fn seccomp() -> Check {
    if probe::seccomp() {
        return Check::new(
            "seccomp",
            Health::Ok,
            "System calls can be filtered (seccomp); the sandbox does so.",
        );
    }
    Check::new(
        "seccomp",
        Health::Warning,
        "System calls can't be filtered (seccomp), which the sandbox needs.",
    )
}
