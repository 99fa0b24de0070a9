//! A place to confine commands in, and commands that run there.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::process::{Gid, Pid, Uid, WaitOptions};
use shellgate_sandbox::launcher::{Launcher, Next, Pod};
use shellgate_sandbox::spawn::{Plan, Tag};
use shellgate_sandbox::{Confinement, Observation};

use crate::in_child;

/// A project folder, a home folder and a folder outside, all of one user.
pub(crate) struct Place {
    folder: PathBuf,
}

impl Place {
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn confinement(&self) -> Confinement {
        Confinement { writable: vec![self.path("root")], ..Confinement::default() }
    }
}

/// Runs `body` as root and as an ordinary user, each in a process and a folder of its own.
pub(crate) fn as_each_user(body: impl Fn(&Place)) {
    for user in [0, 12345] {
        let folder = std::env::temp_dir().join(format!("shellgate-confining-{}-{user}", std::process::id()));
        let _removed = Folder(folder.clone());
        in_child(|| {
            std::fs::create_dir(&folder).unwrap();
            rustix::fs::chown(&folder, Some(Uid::from_raw(user)), Some(Gid::from_raw(user))).unwrap();
            if user != 0 {
                rustix::thread::set_thread_groups(&[]).unwrap();
                rustix::thread::set_thread_res_gid(
                    Gid::from_raw(user),
                    Gid::from_raw(user),
                    Gid::from_raw(user),
                )
                .unwrap();
                rustix::thread::set_thread_res_uid(
                    Uid::from_raw(user),
                    Uid::from_raw(user),
                    Uid::from_raw(user),
                )
                .unwrap();
            }
            let place = Place { folder: folder.clone() };
            place.write("root/file", "inside");
            place.write("outside/file", "outside");
            body(&place);
        });
    }
}

/// Removes a folder when it is dropped, also when the test fails.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let removed = std::fs::remove_dir_all(&self.0);
        assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
    }
}

/// Starts `text` with bash and returns the process and what it will print.
pub(crate) fn start(launcher: &mut Launcher, directory: &Path, text: &str) -> (Pid, File) {
    start_tagged(launcher, directory, text, None)
}

/// The same with a tag.
pub(crate) fn start_tagged(
    launcher: &mut Launcher,
    directory: &Path,
    text: &str,
    tag: Option<Tag>,
) -> (Pid, File) {
    let above = |fd: OwnedFd| rustix::io::fcntl_dupfd_cloexec(&fd, 3).unwrap();
    let null = above(File::open("/dev/null").unwrap().into());
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let write = above(write);
    let (text, directory) = (CString::new(text).unwrap(), CString::new(directory.to_str().unwrap()).unwrap());
    // The tests' own folder of programs: what is not declared is not found.
    let path = CString::new(format!("PATH={}", std::env::var("PATH").unwrap())).unwrap();
    let argv: [&CStr; 3] = [c"bash", c"-c", &text];
    let plan = Plan {
        program: c"/bin/bash",
        argv: &argv,
        env: &[&path, c"LC_ALL=C"],
        directory: &directory,
        stdio: [null.as_fd(), write.as_fd(), write.as_fd()],
        terminal: None,
        umask: 0o22,
        limits: &[],
        tag,
        groups: &[],
    };
    let pid = launcher.spawn(&plan).unwrap().pid;
    (pid, File::from(read))
}

/// Runs `text` with bash in the project and returns its exit code and output.
pub(crate) fn run(launcher: &mut Launcher, place: &Place, text: &str) -> (i32, String) {
    finish(start(launcher, &place.path("root"), text))
}

/// Waits for a command and returns its exit code and output.
pub(crate) fn finish((pid, mut read): (Pid, File)) -> (i32, String) {
    let mut output = String::new();
    read.read_to_string(&mut output).unwrap();
    let (_, status) = rustix::process::waitpid(Some(pid), WaitOptions::empty()).unwrap().unwrap();
    (status.exit_status().unwrap_or(-1), output)
}

/// What the commands of a launcher were refused so far.
pub(crate) fn told(launcher: &Launcher) -> Vec<Observation> {
    let observations = launcher.observations();
    let next = || match observations.next() {
        Next::Observation(observation) => Some(observation),
        Next::Effect(_) | Next::Nothing | Next::Ended | Next::Failed => None,
    };
    std::iter::from_fn(next).collect()
}

pub(crate) fn launcher(confinement: &Confinement) -> (Launcher, Option<Pod>) {
    let mut pod = None;
    let launcher = Launcher::start(confinement, &mut pod).unwrap();
    (launcher, pod)
}
