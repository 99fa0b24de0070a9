//! Groups of rules that notify or trace.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, WaitOptions};
use shellgate_sandbox::fork::run_in_child;
use shellgate_sandbox::walls::capabilities;
use shellgate_sandbox::walls::landlock::{PathRules, Ruleset, Scope, Scopes};
use shellgate_sandbox::walls::seccomp::{Arch, Group, Interruption, Program, load, rules};

use super::{call, filter};
use crate::users::{Folder, User, as_each_user, enter_user_namespace, run_as};
use crate::{Test, in_child};

pub(crate) const TESTS: &[Test] = &[
    ("creations_are_held_and_other_calls_are_not", creations_are_held_and_other_calls_are_not),
    ("reaching_sockets_is_held_and_other_calls_are_not", reaching_sockets_is_held_and_other_calls_are_not),
    ("a_process_outside_can_fetch_the_listener", a_process_outside_can_fetch_the_listener),
    ("exec_waits_for_a_tracer", exec_waits_for_a_tracer),
];

/// The error that the listener answers every call with.
const ANSWER: i32 = 777;

/// Runs `body` in a child under these groups and answers every notification with [`ANSWER`]: the numbers of the calls.
fn held_calls(groups: &[Group], body: impl FnOnce()) -> Vec<i32> {
    held_calls_after(|| {}, groups, body)
}

/// The same for a child that does something before it is filtered.
fn held_calls_after(prepare: fn(), groups: &[Group], body: impl FnOnce()) -> Vec<i32> {
    let (read, write) = rustix::pipe::pipe().unwrap();
    // SAFETY: the process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(read);
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            prepare();
            // SAFETY: the handler does nothing.
            unsafe { libc::signal(libc::SIGUSR1, ignore as *const () as libc::sighandler_t) };
            rustix::thread::set_no_new_privs(true).unwrap();
            let program = Program::compile(Arch::CURRENT.unwrap(), &rules(groups), u64::MAX).unwrap();
            let listener = load(&program).unwrap().listener.unwrap();
            assert_eq!(listener.interruption, Interruption::Fatal, "on kernels since 5.19");
            let number = listener.fd.as_raw_fd().to_ne_bytes();
            rustix::io::write(&write, &number).unwrap();
            // Until the other side has it: it closes the pipe.
            let mut ends = [PollFd::new(&write, PollFlags::empty())];
            poll(&mut ends, None).unwrap();
            drop(listener);
            body();
        }));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(passed.is_err())) };
    }
    drop(write);
    let mut read = File::from(read);
    let mut number = [0; 4];
    read.read_exact(&mut number).unwrap();
    let child = Pid::from_raw(child).unwrap();
    let process = rustix::process::pidfd_open(child, PidfdFlags::empty()).unwrap();
    let number = i32::from_ne_bytes(number);
    let listener = rustix::process::pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).unwrap();
    drop(read);
    let calls = answer_all(&listener);
    let ended = rustix::process::waitpid(Some(child), WaitOptions::empty()).unwrap().unwrap().1;
    assert_eq!(ended.exit_status(), Some(0), "the child failed");
    calls
}

extern "C" fn ignore(_: libc::c_int) {}

/// Sends the thread that waits a signal before it gets its answer. The call must not be interrupted by it: the keeper
/// may have done its work by then, and would be told of the call a second time.
fn answer_all(listener: &OwnedFd) -> Vec<i32> {
    let mut calls = Vec::new();
    loop {
        let mut events = [PollFd::new(listener, PollFlags::IN)];
        poll(&mut events, None).unwrap();
        if events[0].revents().contains(PollFlags::HUP) {
            return calls;
        }
        // SAFETY: plain numbers, for which zero is valid, as the kernel demands.
        let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is as large as the request says.
        let received = unsafe {
            libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification)
        };
        if received != 0 {
            continue;
        }
        calls.push(notification.data.nr);
        let waiting = Pid::from_raw(notification.pid.cast_signed()).unwrap();
        rustix::process::kill_process(waiting, rustix::process::Signal::USR1).unwrap();
        // Time for the thread to take the signal, if it does.
        (0..50).for_each(|_| std::thread::yield_now());
        let mut answer = libc::seccomp_notif_resp { id: notification.id, val: 0, error: -ANSWER, flags: 0 };
        // SAFETY: as above.
        let sent =
            unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
        assert_eq!(sent, 0);
    }
}

fn path_pointer(path: &Path) -> (std::ffi::CString, u64) {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    let pointer = path.as_ptr() as u64;
    (path, pointer)
}

fn creations_are_held_and_other_calls_are_not() {
    let folder = Folder::new("held");
    let old = folder.file("old", "old");
    as_each_user(|_| {
        let (_old, old_path) = path_pointer(&old);
        let (_new, new_path) = path_pointer(&folder.path().join("new"));
        let here = libc::AT_FDCWD as u64;
        let creates = libc::O_CREAT as u64 | libc::O_WRONLY as u64;
        let how = [creates, 0o600, 0];
        let creations = vec![
            (libc::SYS_openat, [here, new_path, creates, 0o600, 0, 0]),
            (libc::SYS_openat, [here, old_path, creates, 0o600, 0, 0]),
            (libc::SYS_openat2, [here, new_path, how.as_ptr() as u64, 24, 0, 0]),
            (libc::SYS_mkdirat, [here, new_path, 0o700, 0, 0, 0]),
            (libc::SYS_mknodat, [here, new_path, u64::from(libc::S_IFIFO), 0, 0, 0]),
            (libc::SYS_renameat2, [here, old_path, here, new_path, 0, 0]),
            (libc::SYS_linkat, [here, old_path, here, new_path, 0, 0]),
            (libc::SYS_symlinkat, [old_path, here, new_path, 0, 0, 0]),
            (libc::SYS_renameat, [here, old_path, here, new_path, 0, 0]),
            (libc::SYS_bind, [0, new_path, 2, 0, 0, 0]),
        ];
        #[cfg(target_arch = "x86_64")]
        let old_calls = vec![
            (libc::SYS_open, [new_path, creates, 0o600, 0, 0, 0]),
            (libc::SYS_creat, [new_path, 0o600, 0, 0, 0, 0]),
            (libc::SYS_mkdir, [new_path, 0o700, 0, 0, 0, 0]),
            (libc::SYS_mknod, [new_path, u64::from(libc::S_IFIFO), 0, 0, 0, 0]),
            (libc::SYS_rename, [old_path, new_path, 0, 0, 0, 0]),
            (libc::SYS_link, [old_path, new_path, 0, 0, 0, 0]),
            (libc::SYS_symlink, [old_path, new_path, 0, 0, 0, 0]),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let old_calls = Vec::new();
        let creations = [creations, old_calls].concat();
        let held = held_calls(&[Group::NotifyCreations], || {
            for (number, arguments) in &creations {
                assert_eq!(call(*number, *arguments), Err(ANSWER), "{number}");
            }
            assert_eq!(std::fs::read_to_string(&old).unwrap(), "old");
            File::options().append(true).open(&old).unwrap().write_all(b"").unwrap();
            // The kernel ignores the upper half of the flags, where the bit for creating means nothing.
            assert!(call(libc::SYS_openat, [here, old_path, creates << 32, 0, 0, 0]).is_ok());
            assert!(call(libc::SYS_openat, [here, old_path, !u64::from(u32::MAX), 0, 0, 0]).is_ok());
            let device = u64::from(libc::S_IFCHR);
            assert_eq!(call(libc::SYS_mknodat, [here, new_path, device, 0, 0, 0]), Err(libc::EPERM));
            std::os::unix::net::UnixStream::pair().unwrap();
        });
        assert_eq!(held, creations.iter().map(|(number, _)| *number as i32).collect::<Vec<_>>());
        assert!(!folder.path().join("new").exists());
    });
}

fn reaching_sockets_is_held_and_other_calls_are_not() {
    as_each_user(|_| {
        let held = held_calls(&[Group::NotifySockets], || {
            let new = |family: i32, kind: i32| [family as u64, kind as u64, 0, 0, 0, 0];
            let datagrams = new(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC);
            assert_eq!(call(libc::SYS_socket, datagrams), Err(ANSWER));
            assert_eq!(call(libc::SYS_socket, new(libc::AF_UNIX, libc::SOCK_RAW)), Err(ANSWER));
            assert_eq!(call(libc::SYS_socketpair, datagrams), Err(ANSWER));
            call(libc::SYS_socket, new(libc::AF_INET, libc::SOCK_DGRAM)).unwrap();
            let socket = call(libc::SYS_socket, new(libc::AF_UNIX, libc::SOCK_STREAM)).unwrap() as u64;
            let address = [0_u8; 110];
            let (pointer, message) = (address.as_ptr() as u64, [0_u64; 8]);
            for (number, arguments) in [
                (libc::SYS_connect, [socket, pointer, 110, 0, 0, 0]),
                (libc::SYS_bind, [socket, pointer, 110, 0, 0, 0]),
                (libc::SYS_sendto, [socket, pointer, 1, 0, pointer, 110]),
                (libc::SYS_sendto, [socket, pointer, 1, 0, 1 << 32, 110]),
                (libc::SYS_sendmsg, [socket, message.as_ptr() as u64, 0, 0, 0, 0]),
                (libc::SYS_sendmmsg, [socket, message.as_ptr() as u64, 1, 0, 0, 0]),
            ] {
                assert_eq!(call(number, arguments), Err(ANSWER), "{number}");
            }
            let (one, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
            let sent = call(libc::SYS_sendto, [one.as_raw_fd() as u64, pointer, 5, 0, 0, 0]);
            assert_eq!(sent, Ok(5), "without an address");
            other.read_exact(&mut [0; 5]).unwrap();
            File::create("/dev/null").unwrap();
        });
        let expected = [
            libc::SYS_socket,
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_sendto,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_sendmmsg,
        ];
        assert_eq!(held, expected.map(|number| number as i32));
    });
}

/// As a keeper does it: it stays outside, and the launcher is in a user namespace, without capabilities, in a domain.
fn a_process_outside_can_fetch_the_listener() {
    fn become_launcher() {
        enter_user_namespace();
        capabilities::drop_all().unwrap();
        let scopes = Scopes { abstract_sockets: Scope::Domain, signals: Scope::Domain };
        Ruleset::prepare(&PathRules::default(), scopes).unwrap().apply().unwrap();
    }
    for user in [User::Root, User::Ordinary] {
        run_as(user, || {
            let held = held_calls_after(become_launcher, &[Group::NotifyCreations], || {
                let made = std::fs::create_dir("/tmp/shellgate-walls-never");
                assert_eq!(made.unwrap_err().raw_os_error(), Some(ANSWER));
            });
            assert_eq!(held.len(), 1);
        });
    }
}

/// Stops at each `exec` of a child, as the guard will.
fn exec_waits_for_a_tracer() {
    as_each_user(|_| {
        in_child(|| {
            filter(&[Group::TraceExec]);
            let alone = std::process::Command::new("/bin/true").status();
            assert_eq!(alone.unwrap_err().raw_os_error(), Some(libc::ENOSYS), "without a tracer");
        });
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        // SAFETY: the process has one thread.
        let child = unsafe { libc::fork() };
        if child == 0 {
            filter(&[Group::TraceExec]);
            let _ = rustix::io::read(&read, &mut [0]);
            let argv = [c"/bin/true".as_ptr(), std::ptr::null()];
            // SAFETY: the path and the list end as they must.
            unsafe { libc::execv(argv[0], argv.as_ptr()) };
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(1) };
        }
        let options = libc::PTRACE_O_TRACESECCOMP | libc::PTRACE_O_EXITKILL;
        // SAFETY: seizes our own child; no memory is involved.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SEIZE, child, 0, options) }, 0);
        rustix::io::write(&write, &[1]).unwrap();
        let mut status = 0;
        // SAFETY: `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) }, child);
        assert_eq!(status >> 8, libc::SIGTRAP | libc::PTRACE_EVENT_SECCOMP << 8, "{status:x}");
        // SAFETY: lets our own child go on.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_CONT, child, 0, 0) }, 0);
        // An exec of a seized process stops it with a signal no longer: the next event is its end.
        let ended = rustix::process::waitpid(Pid::from_raw(child), WaitOptions::empty()).unwrap().unwrap().1;
        assert_eq!(ended.exit_status(), Some(0), "{ended:?}");
        assert_eq!(run_in_child(|| 0).unwrap(), Some(0));
    });
}
