//! Filters that a command puts on itself.

use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::process::Command;

use rustix::process::{Pid, WaitOptions};
use shellgate_sandbox::walls::seccomp::{Group, Rule, rules};

use super::{call, filter, filter_by};
use crate::users::as_each_user;
use crate::{Test, in_child};

pub(crate) const TESTS: &[Test] = &[
    ("a_nested_filter_has_no_listener", a_nested_filter_has_no_listener),
    ("a_nested_listener_would_overrule_the_tracer", a_nested_listener_would_overrule_the_tracer),
    ("a_nested_filter_without_a_listener_only_refuses", a_nested_filter_without_a_listener_only_refuses),
];

const LISTENER: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
const UPPER: u64 = 0xdead_beef << 32;

/// Loads a filter that answers `execve` with this value and allows everything else.
fn nested(flags: libc::c_ulong, value: libc::c_uint) -> Result<i64, i32> {
    let statement = |code, k, jf| libc::sock_filter { code, jt: 0, jf, k };
    let statements = [
        statement(0x20, 0, 0),
        statement(0x15, libc::SYS_execve as u32, 1),
        statement(0x06, value, 0),
        statement(0x06, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let program = libc::sock_fprog { len: 4, filter: statements.as_ptr().cast_mut() };
    let operation = u64::from(libc::SECCOMP_SET_MODE_FILTER);
    call(libc::SYS_seccomp, [operation, flags, &raw const program as u64, 0, 0, 0])
}

fn a_nested_filter_has_no_listener() {
    let allow = libc::SECCOMP_RET_ALLOW;
    as_each_user(|_| {
        rustix::thread::set_no_new_privs(true).unwrap();
        in_child(|| assert!(nested(LISTENER, allow).is_ok(), "the control"));
        filter(&[]);
        for flags in [LISTENER, LISTENER | UPPER, LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV] {
            assert_eq!(nested(flags, allow), Err(libc::EBUSY));
        }
        assert_eq!(nested(0, allow), Ok(0));
        assert_eq!(nested(libc::SECCOMP_FILTER_FLAG_TSYNC, allow), Ok(0));
        let landlock = libc::SYS_landlock_create_ruleset;
        assert!(call(landlock, [0, 0, 1, 0, 0, 0]).is_ok(), "a nested domain is possible too");
    });
}

/// Why the rule exists: without it a command lets its own `exec` go on, and the tracer never hears of it.
fn a_nested_listener_would_overrule_the_tracer() {
    let is_about_filters = |rule: &Rule| rule.calls.iter().any(|call| call.name == "seccomp");
    let without: Vec<Rule> =
        rules(&[Group::TraceExec]).into_iter().filter(|rule| !is_about_filters(rule)).collect();
    as_each_user(|_| {
        in_child(|| {
            filter_by(&without);
            assert_eq!(exec_error(), Some(libc::ENOSYS), "there is no tracer");
            let listener = nested(LISTENER, libc::SECCOMP_RET_USER_NOTIF).unwrap();
            // SAFETY: the kernel just made this descriptor.
            let listener = unsafe { OwnedFd::from_raw_fd(listener as i32) };
            // SAFETY: the process has one thread.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let argv = [c"/bin/true".as_ptr(), std::ptr::null()];
                // SAFETY: the path and the list end as they must.
                unsafe { libc::execv(argv[0], argv.as_ptr()) };
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(1) };
            }
            let_go_on(&listener);
            let ended = rustix::process::waitpid(Pid::from_raw(child), WaitOptions::empty()).unwrap();
            assert_eq!(ended.unwrap().1.exit_status(), Some(0), "the program ran");
        });
        filter(&[Group::TraceExec]);
        assert_eq!(nested(LISTENER, libc::SECCOMP_RET_USER_NOTIF), Err(libc::EBUSY));
        assert_eq!(exec_error(), Some(libc::ENOSYS));
    });
}

fn a_nested_filter_without_a_listener_only_refuses() {
    let values = [
        libc::SECCOMP_RET_ALLOW,
        libc::SECCOMP_RET_LOG,
        libc::SECCOMP_RET_TRACE,
        libc::SECCOMP_RET_USER_NOTIF,
    ];
    as_each_user(|_| {
        for value in values {
            in_child(|| {
                filter(&[Group::TraceExec]);
                nested(0, value).unwrap();
                assert_eq!(exec_error(), Some(libc::ENOSYS), "{value:x}");
            });
        }
    });
}

fn exec_error() -> Option<i32> {
    Command::new("/bin/true").status().err().and_then(|error| error.raw_os_error())
}

/// Answers one notification: the call goes on as if there were no filter.
fn let_go_on(listener: &OwnedFd) {
    // SAFETY: plain numbers, for which zero is valid, as the kernel demands.
    let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is as large as the request says.
    let received =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification) };
    assert_eq!(received, 0);
    let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
    let mut answer = libc::seccomp_notif_resp { id: notification.id, val: 0, error: 0, flags };
    // SAFETY: as above.
    let sent = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
    assert_eq!(sent, 0);
}
