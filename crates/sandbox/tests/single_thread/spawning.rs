//! `Spawner::spawn` and `reap`.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Resource, Rlimit};
use shellgate_sandbox::fork::fork_detached;
use shellgate_sandbox::reap::{End, reap};
use shellgate_sandbox::signals::{BlockedSignals, Signal, SignalFd};
use shellgate_sandbox::spawn::{Plan, SpawnError, Spawner, Step, Tag};

use crate::{Test, in_child, signal_set, signal_set_in};

pub(crate) const TESTS: &[Test] = &[
    ("a_command_starts_with_clean_signals", a_command_starts_with_clean_signals),
    ("commands_of_a_detached_process_have_clean_signals", commands_of_a_detached_process_have_clean_signals),
    ("the_callers_signal_mask_is_restored", the_callers_signal_mask_is_restored),
    (
        "a_handler_runs_after_the_spawn_and_not_in_the_child",
        a_handler_runs_after_the_spawn_and_not_in_the_child,
    ),
    ("a_command_gets_folder_mask_limits_and_tag", a_command_gets_folder_mask_limits_and_tag),
    ("a_command_inherits_three_descriptors", a_command_inherits_three_descriptors),
    ("failures_name_their_step_and_leave_no_child", failures_name_their_step_and_leave_no_child),
    ("a_command_dies_with_its_parent", a_command_dies_with_its_parent),
    ("a_reaped_child_tells_its_end_and_what_it_used", a_reaped_child_tells_its_end_and_what_it_used),
];

struct Setup {
    null: OwnedFd,
    write: OwnedFd,
    read: File,
}

impl Setup {
    fn new() -> Self {
        let null: OwnedFd = File::options().read(true).write(true).open("/dev/null").unwrap().into();
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        // The child's descriptors must lie above 2, and a harness may have closed those.
        let above = |fd: OwnedFd| rustix::io::fcntl_dupfd_cloexec(&fd, 3).unwrap();
        Self { null: above(null), write: above(write), read: File::from(above(read)) }
    }

    /// The arguments are leaked: the process ends soon.
    fn spawn<'a>(
        &'a self,
        program: &'a CStr,
        words: &[&str],
        change: impl FnOnce(&mut Plan<'a>),
    ) -> Result<Pid, SpawnError> {
        let argv: Vec<CString> = words.iter().map(|word| CString::new(*word).unwrap()).collect();
        let argv: Vec<&'a CStr> = argv.leak().iter().map(CString::as_c_str).collect();
        let env: Vec<&'a CStr> = vec![c"PATH=/usr/bin:/bin"];
        let mut plan = Plan {
            program,
            argv: argv.leak(),
            env: env.leak(),
            directory: c"/",
            stdio: [self.null.as_fd(), self.write.as_fd(), self.null.as_fd()],
            terminal: None,
            umask: 0o22,
            limits: &[],
            tag: None,
            groups: &[],
        };
        change(&mut plan);
        Spawner::default().spawn(&plan).map(|started| started.pid)
    }

    fn shell<'a>(&'a self, text: &str, change: impl FnOnce(&mut Plan<'a>)) -> Pid {
        self.spawn(c"/bin/sh", &["sh", "-c", text], change).unwrap()
    }

    /// All that the command prints.
    fn said(self) -> String {
        let Self { null, write, mut read } = self;
        drop((null, write));
        let mut said = String::new();
        read.read_to_string(&mut said).unwrap();
        said
    }
}

fn wait(pid: Pid) -> Option<i32> {
    let ended = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    ended.unwrap().unwrap().1.exit_status()
}

fn a_command_starts_with_clean_signals() {
    in_child(|| {
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(libc::SIGUSR2, libc::SIG_IGN) };
        let _blocked = SignalFd::open(&[Signal::Terminate]).unwrap();
        let setup = Setup::new();
        // `cat` changes no signal; a shell would.
        let pid = setup.spawn(c"/bin/cat", &["cat", "/proc/self/status"], |_| {}).unwrap();
        let said = setup.said();
        for field in ["SigBlk", "SigIgn", "SigCgt"] {
            assert_eq!(signal_set_in(&said, field), 0, "{field}");
        }
        assert_eq!(wait(pid), Some(0));
    });
}

/// Its signals were reset once, and not again for each command.
fn commands_of_a_detached_process_have_clean_signals() {
    let pid = fork_detached([], (), |[], ()| {
        let setup = Setup::new();
        let pid = setup.spawn(c"/bin/cat", &["cat", "/proc/self/status"], |_| {}).unwrap();
        let said = setup.said();
        let clean = ["SigBlk", "SigIgn", "SigCgt"].iter().all(|field| signal_set_in(&said, field) == 0);
        i32::from(!clean || wait(pid) != Some(0))
    });
    assert_eq!(wait(pid.unwrap()), Some(0));
}

fn the_callers_signal_mask_is_restored() {
    in_child(|| {
        let _signals = SignalFd::open(&[Signal::HangUp]).unwrap();
        let before = signal_set("SigBlk");
        assert_eq!(before, 1);
        let setup = Setup::new();
        wait(setup.shell("exit 0", |_| {}));
        assert_eq!(signal_set("SigBlk"), before, "after a start");
        assert!(setup.spawn(c"/no/such/program", &["x"], |_| {}).is_err());
        assert_eq!(signal_set("SigBlk"), before, "and after one that failed");
    });
}

static HANDLED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

extern "C" fn count(_: libc::c_int) {
    HANDLED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
}

fn a_handler_runs_after_the_spawn_and_not_in_the_child() {
    in_child(|| {
        // SAFETY: the handler does nothing but count.
        unsafe { libc::signal(libc::SIGUSR1, count as *const () as libc::sighandler_t) };
        // One that waits for us from before the spawn until the mask is back.
        let blocked = BlockedSignals::all();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR1).unwrap();
        let setup = Setup::new();
        let pid = setup.shell("kill -USR1 $$; echo not reached", |_| {});
        assert_eq!(HANDLED.load(std::sync::atomic::Ordering::SeqCst), 0);
        drop(blocked);
        assert_eq!(HANDLED.load(std::sync::atomic::Ordering::SeqCst), 1);
        assert_eq!(wait(pid), None, "the command died of it: its action is the default");
        assert_eq!(setup.said(), "");
    });
}

fn a_command_gets_folder_mask_limits_and_tag() {
    in_child(|| {
        let core = Rlimit { current: Some(0), maximum: Some(512) };
        let limits = [(Resource::Core, core)];
        let tag = Tag::new(77);
        let setup = Setup::new();
        let text = "pwd; umask; grep -E 'core file|file locks' /proc/self/limits";
        let pid = setup.shell(text, |plan| {
            plan.directory = c"/usr";
            plan.umask = 0o27;
            plan.limits = &limits;
            plan.tag = Some(tag);
        });
        let said = setup.said();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..2], ["/usr", "0027"]);
        let core: Vec<&str> = lines[2].split_ascii_whitespace().collect();
        assert_eq!(core[4..6], ["0", "512"], "{said}");
        let locks: Vec<&str> = lines[3].split_ascii_whitespace().collect();
        assert_eq!(locks[3], tag.get().to_string(), "{said}");
        assert_eq!(wait(pid), Some(0));
    });
}

fn a_command_inherits_three_descriptors() {
    // In a process without the descriptors that this one got from its own parent.
    let pid = fork_detached([], (), |[], ()| {
        let setup = Setup::new();
        let pid = setup.spawn(c"/bin/ls", &["ls", "/proc/self/fd"], |_| {}).unwrap();
        // The fourth is the folder that `ls` reads.
        let right = setup.said() == "0\n1\n2\n3\n" && wait(pid) == Some(0);
        i32::from(!right)
    });
    assert_eq!(wait(pid.unwrap()), Some(0));
}

fn failures_name_their_step_and_leave_no_child() {
    in_child(|| {
        let setup = Setup::new();
        let step = |result: Result<Pid, SpawnError>| {
            let error = result.unwrap_err();
            (error.step, error.source.raw_os_error())
        };
        let missing = setup.spawn(c"/no/such/program", &["x"], |_| {});
        assert_eq!(step(missing), (Step::Exec, Some(libc::ENOENT)));
        let folder = setup.spawn(c"/bin/sh", &["sh"], |plan| plan.directory = c"/no/such/folder");
        assert_eq!(step(folder), (Step::Directory, Some(libc::ENOENT)));
        let groups = [setup.read.as_fd()];
        let group = setup.spawn(c"/bin/sh", &["sh"], |plan| plan.groups = &groups);
        assert_eq!(step(group), (Step::Groups, Some(libc::EBADF)), "not open for writing");
        let terminal = setup.spawn(c"/bin/sh", &["sh"], |plan| plan.terminal = Some(plan.stdio[0]));
        assert_eq!(step(terminal), (Step::Descriptors, Some(libc::ENOTTY)));
        let stdin = std::io::stdin();
        let low = setup.spawn(c"/bin/sh", &["sh"], |plan| plan.stdio[0] = stdin.as_fd());
        assert_eq!(step(low), (Step::Descriptors, None));
        assert_eq!(reap().unwrap_err().raw_os_error(), Some(libc::ECHILD), "all were reaped");
    });
}

fn a_command_dies_with_its_parent() {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let mut file = File::from(read);
    in_child(|| {
        let setup = Setup::new();
        let pid = setup.shell("exec sleep 1000", |plan| plan.stdio[1] = write.as_fd());
        let pid = pid.as_raw_nonzero().get().to_ne_bytes();
        rustix::io::write(&write, &pid).unwrap();
    });
    drop(write);
    let mut pid = [0; 4];
    file.read_exact(&mut pid).unwrap();
    // The command held the pipe: its end closes with the last process that has it.
    let before = Instant::now();
    assert_eq!(file.read(&mut [0]).unwrap(), 0);
    assert!(before.elapsed() < Duration::from_secs(60), "the command ended by itself");
    let pid = Pid::from_raw(i32::from_ne_bytes(pid)).unwrap();
    if let Ok(process) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        // Dead and not reaped, or about to be.
        let mut ends = [rustix::event::PollFd::new(&process, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut ends, None).unwrap();
    }
}

fn a_reaped_child_tells_its_end_and_what_it_used() {
    in_child(|| {
        let setup = Setup::new();
        assert_eq!(reap().unwrap_err().raw_os_error(), Some(libc::ECHILD));
        let busy = setup.shell("while [ $((i += 1)) -lt 40000 ]; do :; done; exit 3", |_| {});
        let killed = setup.shell("kill -KILL $$", |_| {});
        assert_eq!(setup.said(), "");
        let mut dead = Vec::new();
        while dead.len() < 2 {
            match reap().unwrap() {
                Some(child) => dead.push(child),
                None => std::thread::yield_now(),
            }
        }
        let end = |pid| dead.iter().find(|dead| dead.pid == pid).unwrap();
        assert_eq!(end(busy).end, End::Code(3));
        assert!(end(busy).cpu > Duration::ZERO);
        assert_eq!(end(killed).end, End::Signal(libc::SIGKILL));
    });
}
