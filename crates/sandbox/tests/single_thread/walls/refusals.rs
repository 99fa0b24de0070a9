//! Calls that are refused whatever their arguments are.

use shellgate_sandbox::fork::run_in_child;
use shellgate_sandbox::walls::seccomp::{Action, Arch, Group, RefusalErrno, Rule, rules};

use super::{call, filter, filter_by};
use crate::users::{User, as_each_user, is_real_root};
use crate::{Test, in_child};

pub(crate) const TESTS: &[Test] = &[
    ("every_refusal_is_that_of_the_filter", every_refusal_is_that_of_the_filter),
    ("every_refused_call_fails_with_its_error", every_refused_call_fails_with_its_error),
    ("calls_that_work_without_the_filter_fail_with_it", calls_that_work_without_the_filter_fail_with_it),
    ("a_debugger_can_be_allowed", a_debugger_can_be_allowed),
];

/// The calls that a rule refuses without looking at their arguments, with the error.
fn refused(rules: &[Rule]) -> Vec<(&'static str, libc::c_long, i32)> {
    let names = |rule: &Rule| rule.calls.iter().map(|call| call.name).collect::<Vec<_>>();
    let conditional: Vec<&str> = rules.iter().filter(|rule| !rule.when.is_empty()).flat_map(names).collect();
    let always = rules.iter().filter(|rule| !names(rule).iter().any(|name| conditional.contains(name)));
    let mut refused = Vec::new();
    for rule in always {
        if let Action::Refuse(errno) = rule.action {
            let numbers = rule.calls.iter().filter_map(|call| {
                let number = call.number(Arch::CURRENT.unwrap())?;
                Some((call.name, libc::c_long::from(number), i32::from(errno.get())))
            });
            refused.extend(numbers);
        }
    }
    refused
}

/// With errors that no kernel gives, one for each row: the kernel's own refusals look different.
fn every_refusal_is_that_of_the_filter() {
    let mut marked = rules(&[]);
    for (number, rule) in (1000..).zip(&mut marked) {
        if let Action::Refuse(_) = rule.action {
            rule.action = Action::Refuse(RefusalErrno::new(number));
        }
    }
    let calls = refused(&marked);
    assert!(calls.len() > 50, "{}", calls.len());
    as_each_user(|_| {
        filter_by(&marked);
        for (name, number, errno) in &calls {
            assert_eq!(call(*number, [0; 6]), Err(*errno), "{name}");
            assert_eq!(call(*number, [u64::MAX - 4; 6]), Err(*errno), "{name}");
        }
    });
}

fn every_refused_call_fails_with_its_error() {
    as_each_user(|_| {
        filter(&[]);
        for (name, number, errno) in refused(&rules(&[])) {
            assert_eq!(call(number, [0; 6]), Err(errno), "{name}");
        }
    });
}

/// Something that works without the filter.
struct Case {
    name: &'static str,
    /// Done before the filter.
    prepare: fn(),
    attempt: fn() -> Result<i64, i32>,
    errno: i32,
    /// Whom the kernel lets do it.
    works_for: fn(User) -> bool,
}

const fn case(name: &'static str, works_for: fn(User) -> bool, attempt: fn() -> Result<i64, i32>) -> Case {
    Case { name, prepare: || {}, attempt, errno: libc::EPERM, works_for }
}

fn everyone(_: User) -> bool {
    true
}

/// Root of the machine. In a user namespace the same call is refused by the kernel itself.
fn real_root(user: User) -> bool {
    user == User::Root && is_real_root()
}

fn privileged(user: User) -> bool {
    user != User::Ordinary
}

fn new_mounts() {
    // SAFETY: no memory is involved; the process has one thread.
    let made = unsafe { libc::unshare(libc::CLONE_NEWNS) };
    assert!(
        made == 0
            || !rustix::thread::capabilities(None)
                .unwrap()
                .effective
                .contains(rustix::thread::CapabilitySet::SYS_ADMIN)
    );
}

fn new_host_name() {
    // SAFETY: as above.
    unsafe { libc::unshare(libc::CLONE_NEWUTS) };
}

fn address<T: ?Sized>(value: &T) -> u64 {
    std::ptr::from_ref(value).cast::<u8>() as u64
}

const HERE: u64 = libc::AT_FDCWD as u64;

const CASES: &[Case] = &[
    case("ptrace", everyone, || call(libc::SYS_ptrace, [0; 6])),
    case("process_vm_readv", everyone, || {
        let (from, to) = ([7_u8; 4], [0_u8; 4]);
        let (remote, local) = ([address(&from), 4], [address(&to), 4]);
        let own = u64::from(std::process::id());
        call(libc::SYS_process_vm_readv, [own, address(&local), 1, address(&remote), 1, 0])
    }),
    case("pidfd_getfd", everyone, || {
        let process = call(libc::SYS_pidfd_open, [u64::from(std::process::id()), 0, 0, 0, 0, 0])?;
        call(libc::SYS_pidfd_getfd, [process as u64, 0, 0, 0, 0, 0])
    }),
    case("kcmp", everyone, || {
        let own = u64::from(std::process::id());
        call(libc::SYS_kcmp, [own, own, 1, 0, 0, 0])
    }),
    case("io_uring_setup", everyone, || {
        let parameters = [0_u64; 32];
        call(libc::SYS_io_uring_setup, [1, address(&parameters), 0, 0, 0, 0])
    }),
    case("unshare", everyone, || call(libc::SYS_unshare, [libc::CLONE_NEWUSER as u64, 0, 0, 0, 0, 0])),
    case("unshare_files", everyone, || call(libc::SYS_unshare, [libc::CLONE_FILES as u64, 0, 0, 0, 0, 0])),
    case("setns", real_root, || {
        let own = std::fs::File::open("/proc/self/ns/uts").unwrap();
        call(libc::SYS_setns, [std::os::fd::AsRawFd::as_raw_fd(&own) as u64, 0, 0, 0, 0, 0])
    }),
    case("chroot", privileged, || call(libc::SYS_chroot, [address(c"/".to_bytes_with_nul()), 0, 0, 0, 0, 0])),
    Case {
        prepare: new_mounts,
        ..case("mount", privileged, || {
            let flags = libc::MS_REC | libc::MS_PRIVATE;
            call(libc::SYS_mount, [0, address(c"/".to_bytes_with_nul()), 0, flags, 0, 0])
        })
    },
    Case {
        prepare: new_mounts,
        ..case("fsopen", privileged, || {
            call(libc::SYS_fsopen, [address(c"tmpfs".to_bytes_with_nul()), 0, 0, 0, 0, 0])
        })
    },
    case("open_tree", everyone, || {
        call(libc::SYS_open_tree, [HERE, address(c"/".to_bytes_with_nul()), 0, 0, 0, 0])
    }),
    Case {
        prepare: new_host_name,
        ..case("sethostname", privileged, || {
            call(libc::SYS_sethostname, [address(c"other".to_bytes_with_nul()), 5, 0, 0, 0, 0])
        })
    },
    case("adjtimex", everyone, || {
        let nothing_to_set = [0_u64; 64];
        call(libc::SYS_adjtimex, [address(&nothing_to_set), 0, 0, 0, 0, 0])
    }),
    case("syslog", real_root, || call(libc::SYS_syslog, [10, 0, 0, 0, 0, 0])),
    case("fanotify_init", everyone, || call(libc::SYS_fanotify_init, [0x200, 0, 0, 0, 0, 0])),
    case("open_by_handle_at", |_| false, || call(libc::SYS_open_by_handle_at, [HERE, 0, 0, 0, 0, 0])),
    case("bpf", real_root, || {
        // A map of one array element: kind, size of key and value, count.
        let map = [2_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        call(libc::SYS_bpf, [0, address(&map), size_of_val(&map) as u64, 0, 0, 0])
    }),
    case("perf_event_open", real_root, || {
        // A software clock of this process.
        let event = [1_u32, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        call(libc::SYS_perf_event_open, [address(&event), 0, u64::MAX, u64::MAX, 0, 0])
    }),
    case("userfaultfd", everyone, || call(libc::SYS_userfaultfd, [1, 0, 0, 0, 0, 0])),
    Case {
        errno: libc::ENOSYS,
        ..case("clone3", everyone, || {
            // All zero but the signal at the end: a plain fork.
            let arguments = [0, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
            let made = call(libc::SYS_clone3, [address(&arguments), 64, 0, 0, 0, 0]);
            ended_if_child(made)
        })
    },
    case("clone_with_a_user_namespace", everyone, || {
        let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
        ended_if_child(call(libc::SYS_clone, [flags as u64, 0, 0, 0, 0, 0]))
    }),
    case("clone_untraced", everyone, || {
        let flags = libc::CLONE_UNTRACED | libc::SIGCHLD;
        ended_if_child(call(libc::SYS_clone, [flags as u64, 0, 0, 0, 0, 0]))
    }),
];

/// A child that was made here has nothing to do.
fn ended_if_child(made: Result<i64, i32>) -> Result<i64, i32> {
    if made == Ok(0) {
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    if made.is_ok() {
        rustix::process::wait(rustix::process::WaitOptions::empty()).unwrap();
    }
    made
}

fn calls_that_work_without_the_filter_fail_with_it() {
    as_each_user(|user| {
        for Case { name, prepare, attempt, errno, works_for } in CASES {
            if works_for(user) {
                in_child(|| {
                    prepare();
                    assert!(attempt().is_ok(), "the control of {name}: {:?}", attempt());
                });
            }
            in_child(|| {
                prepare();
                filter(&[]);
                assert_eq!(attempt(), Err(*errno), "{name}");
            });
        }
    });
}

fn a_debugger_can_be_allowed() {
    as_each_user(|_| {
        let traced = || run_in_child(|| call(libc::SYS_ptrace, [0; 6]).err().unwrap_or(0)).unwrap();
        assert_eq!(traced(), Some(0), "the control");
        in_child(|| {
            filter(&[]);
            assert_eq!(traced(), Some(libc::EPERM));
        });
        filter(&[Group::AllowDebugger]);
        assert_eq!(traced(), Some(0));
        assert_eq!(call(libc::SYS_bpf, [0; 6]), Err(libc::EPERM), "the rest stays");
    });
}
