//! Ordinary work through the broker.

use std::fs::File;
use std::os::fd::AsFd as _;

use rustix::pty::OpenptFlags;
use shellgate_sandbox::spawn::Plan;

use super::{fail, protecting, succeed};
use crate::Test;
use crate::place::{as_each_user, launcher};

pub(crate) const TESTS: &[Test] = &[
    (
        "git_works_in_nested_folders_and_commits_in_the_root",
        git_works_in_nested_folders_and_commits_in_the_root,
    ),
    ("a_process_that_hides_its_memory_makes_files", a_process_that_hides_its_memory_makes_files),
    ("a_program_runs_as_soon_as_it_is_written", a_program_runs_as_soon_as_it_is_written),
    ("a_command_can_write_to_its_terminal", a_command_can_write_to_its_terminal),
];

const GIT: &str = "export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";

fn git_works_in_nested_folders_and_commits_in_the_root() {
    as_each_user(|place| {
        let protected = protecting(place, &[".git/hooks", ".git/config*", ".envrc"]);
        let root = place.path("root");
        let made = std::process::Command::new("git").args(["init", "-q"]).arg(&root).status().unwrap();
        assert!(made.success());
        let (mut launcher, _pod) = launcher(&protected);
        succeed(
            &mut launcher,
            place,
            &format!(
                "{GIT} git add file && git commit -qm first && git checkout -qb other && echo x >> file && git commit -qam second && git rebase -q master 2>/dev/null || git rebase -q main"
            ),
        );
        succeed(
            &mut launcher,
            place,
            &format!(
                "{GIT} mkdir new && cd new && git init -q && git config a.b c && touch .envrc && git add . && git commit -qm new"
            ),
        );
        succeed(
            &mut launcher,
            place,
            &format!("{GIT} git clone -q new copy && cd copy && git log --oneline"),
        );
        let output = fail(&mut launcher, place, &format!("{GIT} git config a.b c"));
        assert!(output.contains("could not lock config file"), "{output}");
        fail(&mut launcher, place, &format!("{GIT} git remote add x y"));
        succeed(&mut launcher, place, &format!("{GIT} git status && git gc -q"));
    });
}

/// The kernel runs no program that another process has open for writing, and the broker opened it.
fn a_program_runs_as_soon_as_it_is_written() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let text = r#"
import os, socket
program = open("/bin/true", "rb").read()
failed = 0
for number in range(500):
    file = os.open("program", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o755)
    os.write(file, program)
    os.close(file)
    try:
        os.waitpid(os.posix_spawn("./program", ["program"], {}), 0)
    except OSError:
        failed += 1
    os.unlink("program")
    first = socket.socket()
    first.bind(("127.0.0.1", 0))
    name = first.getsockname()
    first.close()
    socket.socket().bind(name)
print(failed)
"#;
        place.write("root/programs.py", text);
        assert_eq!(succeed(&mut launcher, place, "python3 programs.py"), "0\n");
    });
}

/// Like programs with secrets. It takes a capability to read their memory, as it does for all where Yama is on.
fn a_process_that_hides_its_memory_makes_files() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&protecting(place, &[".envrc"]));
        let text = "import ctypes, os, socket; ctypes.CDLL(None).prctl(4, 0); open('made', 'w').close(); d=os.open('.', 0); os.mkdir('sub', dir_fd=d); socket.socket(socket.AF_UNIX).bind('sock'); os.mkdir('/proc/self/cwd/other')";
        succeed(&mut launcher, place, &format!("python3 -c \"{text}\" && ls -d made sub sock other"));
        fail(
            &mut launcher,
            place,
            "python3 -c \"import ctypes; ctypes.CDLL(None).prctl(4, 0); open('.envrc', 'w')\"",
        );
        assert!(!place.path("root/.envrc").exists());
    });
}

fn a_command_can_write_to_its_terminal() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let master =
            rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        let open = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let terminal = rustix::fs::open(&*name, open, rustix::fs::Mode::empty()).unwrap();
        let argv = [c"bash", c"-c", c"echo one > /dev/tty; echo two > /dev/stdout; (exec </dev/null >/dev/null 2>&1; echo three > /dev/tty); tty -s && echo four; sleep 0.1"];
        let directory = std::ffi::CString::new(place.path("root").to_str().unwrap()).unwrap();
        let pid = launcher
            .spawn(&Plan {
                program: c"/bin/bash",
                argv: &argv,
                env: &[c"PATH=/usr/bin:/bin"],
                directory: &directory,
                stdio: [terminal.as_fd(); 3],
                terminal: Some(terminal.as_fd()),
                umask: 0o22,
                limits: &[],
                tag: None,
                groups: &[],
            })
            .unwrap();
        drop(terminal);
        let mut output = Vec::new();
        // The end of a terminal is an error.
        let _ = std::io::Read::read_to_end(&mut File::from(master), &mut output);
        rustix::process::waitpid(Some(pid.pid), rustix::process::WaitOptions::empty()).unwrap();
        let output = String::from_utf8_lossy(&output).replace('\r', "");
        assert_eq!(output, "one\ntwo\nthree\nfour\n");
    });
}
