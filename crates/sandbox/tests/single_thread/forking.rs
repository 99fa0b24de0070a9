//! `fork_detached` and `run_in_child`.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};

use shellgate_sandbox::fork::{fork_detached, run_in_child};
use shellgate_sandbox::probe;

use crate::{Test, filter, in_child, signal_set_in};

pub(crate) const TESTS: &[Test] = &[
    ("only_kept_descriptors_are_open_in_the_child", only_kept_descriptors_are_open_in_the_child),
    (
        "descriptors_are_closed_where_close_range_is_missing",
        descriptors_are_closed_where_close_range_is_missing,
    ),
    ("descriptors_are_closed_where_nothing_lists_them", descriptors_are_closed_where_nothing_lists_them),
    ("a_kept_descriptor_below_three_is_moved", a_kept_descriptor_below_three_is_moved),
    ("the_child_is_detached", the_child_is_detached),
    ("the_parent_keeps_its_signal_mask", the_parent_keeps_its_signal_mask),
    ("a_process_with_threads_is_not_forked", a_process_with_threads_is_not_forked),
    ("an_exit_code_comes_back_and_a_death_does_not", an_exit_code_comes_back_and_a_death_does_not),
    ("a_panic_stays_in_the_child", a_panic_stays_in_the_child),
];

fn pipe() -> (File, OwnedFd) {
    let (read, write) = rustix::pipe::pipe().unwrap();
    (File::from(read), write)
}

/// What a detached child with two kept descriptors and many others has open: the name of each link.
fn open_in_child() -> Vec<String> {
    let (mut read, write) = pipe();
    let (_other, second) = pipe();
    // With gaps between the numbers, and one far up.
    let clutter: Vec<OwnedFd> = (0..20).map(|_| pipe().1).collect();
    drop(clutter.into_iter().enumerate().filter(|(at, _)| at % 3 == 0).collect::<Vec<_>>());
    let far = rustix::io::fcntl_dupfd_cloexec(&second, 900).unwrap();
    let mut said = String::new();
    let pid = fork_detached([write, second], (), |[write, second], ()| {
        let mut write = File::from(write);
        // `/proc/self/fd` can't be listed in one of the tests.
        for fd in 0..1024 {
            if let Ok(target) = std::fs::read_link(format!("/proc/self/fd/{fd}")) {
                writeln!(write, "{}", target.display()).unwrap();
            }
        }
        drop(second);
        7
    });
    drop(far);
    read.read_to_string(&mut said).unwrap();
    let ended = rustix::process::waitpid(Some(pid.unwrap()), rustix::process::WaitOptions::empty());
    assert_eq!(ended.unwrap().unwrap().1.exit_status(), Some(7));
    said.lines().map(ToOwned::to_owned).collect()
}

fn assert_only_kept_are_open() {
    let open = open_in_child();
    assert_eq!(open.len(), 5, "{open:?}");
    assert_eq!(open[..3], ["/dev/null"; 3]);
    assert!(open[3..].iter().all(|target| target.starts_with("pipe:")), "{open:?}");
}

fn only_kept_descriptors_are_open_in_the_child() {
    assert!(probe::close_range(), "this kernel has no close_range: the test shows nothing");
    assert_only_kept_are_open();
}

fn descriptors_are_closed_where_close_range_is_missing() {
    // gVisor's answer, and that of an old seccomp profile.
    for errno in [libc::ENOSYS, libc::EPERM] {
        in_child(|| {
            filter::refuse(&[libc::SYS_close_range], errno);
            assert!(!probe::close_range());
            assert_only_kept_are_open();
        });
    }
}

fn descriptors_are_closed_where_nothing_lists_them() {
    in_child(|| {
        filter::refuse(&[libc::SYS_close_range, libc::SYS_getdents64], libc::EPERM);
        assert!(std::fs::read_dir("/proc/self/fd").unwrap().any(|entry| entry.is_err()));
        assert_only_kept_are_open();
    });
}

fn a_kept_descriptor_below_three_is_moved() {
    in_child(|| {
        let (mut read, write) = pipe();
        // SAFETY: standard input belongs to this process alone, and nothing reads it.
        unsafe { libc::close(0) };
        let low = rustix::io::dup(&write).unwrap();
        assert_eq!(low.as_raw_fd(), 0);
        drop(write);
        fork_detached([low], (), |[low], ()| {
            let moved = low.as_raw_fd() > 2;
            write!(File::from(low), "moved: {moved}").unwrap();
            0
        })
        .unwrap();
        let mut said = String::new();
        read.read_to_string(&mut said).unwrap();
        assert_eq!(said, "moved: true");
    });
}

fn the_child_is_detached() {
    in_child(|| {
        let (mut read, write) = pipe();
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(libc::SIGUSR1, libc::SIG_IGN) };
        let data = ("carried".to_owned(), 5_u64);
        let pid = fork_detached([write], data, |[write], (text, number)| {
            let mut write = File::from(write);
            let session = rustix::process::getsid(None).unwrap() == rustix::process::getpid();
            let folder = std::env::current_dir().unwrap();
            writeln!(write, "{text} {number} {session} {}", folder.display()).unwrap();
            write.write_all(&std::fs::read("/proc/self/status").unwrap()).unwrap();
            0
        });
        let mut said = String::new();
        read.read_to_string(&mut said).unwrap();
        let (first, status) = said.split_once('\n').unwrap();
        assert_eq!(first, "carried 5 true /");
        assert_eq!(signal_set_in(status, "SigIgn"), 0);
        // All but SIGKILL, SIGSTOP and the three of the C library.
        assert_eq!(signal_set_in(status, "SigBlk").count_ones(), 59);
        rustix::process::waitpid(Some(pid.unwrap()), rustix::process::WaitOptions::empty()).unwrap();
    });
}

fn the_parent_keeps_its_signal_mask() {
    in_child(|| {
        let before = crate::signal_set("SigBlk");
        let pid = fork_detached([], (), |[], ()| 0).unwrap();
        assert_eq!(crate::signal_set("SigBlk"), before);
        rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()).unwrap();
    });
}

fn a_process_with_threads_is_not_forked() {
    in_child(|| {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        assert!(fork_detached([], (), |[], ()| 0).is_err());
        assert!(run_in_child(|| 0).is_err());
        drop(stop);
        let _ = thread.join().unwrap();
    });
}

fn an_exit_code_comes_back_and_a_death_does_not() {
    assert_eq!(run_in_child(|| 42).unwrap(), Some(42));
    let killed = run_in_child(|| {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        0
    });
    assert_eq!(killed.unwrap(), None);
}

fn a_panic_stays_in_the_child() {
    assert_eq!(run_in_child(|| panic!("expected by this test")).unwrap(), Some(101));
}
