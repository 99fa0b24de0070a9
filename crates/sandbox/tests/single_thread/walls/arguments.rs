//! Calls that are refused for some arguments, numbers without a call, and other architectures.

use shellgate_sandbox::walls::seccomp::{Action, RefusalErrno, Rule, rules};

use super::{call, filter, filter_by};
use crate::users::{User, as_each_user, is_real_root};
use crate::{Test, in_child};

pub(crate) const TESTS: &[Test] = &[
    ("terminals_take_no_input_from_inside", terminals_take_no_input_from_inside),
    ("only_usual_sockets_can_be_made", only_usual_sockets_can_be_made),
    ("harmless_personalities_can_be_set", harmless_personalities_can_be_set),
    ("namespaces_by_clone_and_devices_are_refused", namespaces_by_clone_and_devices_are_refused),
    ("numbers_without_a_call_are_unknown", numbers_without_a_call_are_unknown),
    ("a_program_of_another_architecture_is_killed", a_program_of_another_architecture_is_killed),
];

const MARK: u16 = 3000;

/// The rules with errors that no kernel gives: a call that is refused by the kernel looks different.
fn marked() -> Vec<Rule> {
    let mut rules = rules(&[]);
    for rule in &mut rules {
        if let Action::Refuse(errno) = rule.action {
            rule.action = Action::Refuse(RefusalErrno::new(MARK + errno.get()));
        }
    }
    rules
}

/// The error that the filter answered with, if it was the filter.
fn refusal(number: libc::c_long, arguments: [u64; 6]) -> Option<i32> {
    call(number, arguments).err().and_then(|errno| Some(errno - i32::from(MARK)).filter(|errno| *errno > 0))
}

const UPPER: u64 = 0xdead_beef << 32;

fn terminals_take_no_input_from_inside() {
    as_each_user(|_| {
        filter_by(&marked());
        // TIOCSTI, TIOCLINUX, TIOCSETD, USERFAULTFD_IOC_NEW.
        for request in [0x5412, 0x541c, 0x5423, 0xaa00] {
            for request in [request, request | UPPER] {
                assert_eq!(
                    refusal(libc::SYS_ioctl, [0, request, 0, 0, 0, 0]),
                    Some(libc::EPERM),
                    "{request:x}"
                );
            }
        }
        // TCGETS, TIOCGWINSZ, TIOCSCTTY, FIONREAD, and the upper half of a register alone.
        for request in [0x5401, 0x5413, 0x540e, 0x541b, UPPER] {
            assert_eq!(refusal(libc::SYS_ioctl, [u64::MAX, request, 0, 0, 0, 0]), None, "{request:x}");
        }
    });
}

fn only_usual_sockets_can_be_made() {
    const STREAM: i32 = libc::SOCK_STREAM;
    const DATAGRAM: i32 = libc::SOCK_DGRAM;
    let allowed = [
        (libc::AF_UNIX, STREAM, 0),
        (libc::AF_UNIX, DATAGRAM, 0),
        (libc::AF_UNIX, libc::SOCK_SEQPACKET, 0),
        (libc::AF_INET, STREAM, 0),
        (libc::AF_INET, DATAGRAM, 0),
        (libc::AF_INET, STREAM, libc::IPPROTO_TCP),
        (libc::AF_INET, DATAGRAM, libc::IPPROTO_UDP),
        (libc::AF_INET6, STREAM, 0),
        (libc::AF_INET6, DATAGRAM, libc::IPPROTO_UDP),
        (libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE),
        (libc::AF_NETLINK, DATAGRAM, libc::NETLINK_ROUTE),
    ];
    let refused = [
        (libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP, libc::EPERM),
        (libc::AF_INET6, libc::SOCK_RAW, libc::IPPROTO_ICMPV6, libc::EPERM),
        (libc::AF_INET, 10, 0x300, libc::EPERM),
        (libc::AF_PACKET, libc::SOCK_RAW, 0x300, libc::EPERM),
        (libc::AF_PACKET, DATAGRAM, 0, libc::EAFNOSUPPORT),
        (libc::AF_APPLETALK, DATAGRAM, 0, libc::EAFNOSUPPORT),
        (0, STREAM, 0, libc::EAFNOSUPPORT),
        (8, STREAM, 0, libc::EAFNOSUPPORT),
        (libc::AF_INET, STREAM, libc::IPPROTO_SCTP, libc::EPROTONOSUPPORT),
        (libc::AF_INET, libc::SOCK_SEQPACKET, 0, libc::EPROTONOSUPPORT),
        (libc::AF_NETLINK, DATAGRAM, libc::NETLINK_KOBJECT_UEVENT, libc::EAFNOSUPPORT),
        (libc::AF_NETLINK, DATAGRAM, libc::NETLINK_SOCK_DIAG, libc::EAFNOSUPPORT),
        (libc::AF_VSOCK, STREAM, 0, libc::EAFNOSUPPORT),
        (libc::AF_ALG, libc::SOCK_SEQPACKET, 0, libc::EAFNOSUPPORT),
        (libc::AF_KEY, DATAGRAM, 2, libc::EAFNOSUPPORT),
        (libc::AF_BLUETOOTH, STREAM, 3, libc::EAFNOSUPPORT),
        (libc::AF_CAN, DATAGRAM, 0, libc::EAFNOSUPPORT),
        (libc::AF_TIPC, DATAGRAM, 0, libc::EAFNOSUPPORT),
        (libc::AF_RDS, libc::SOCK_SEQPACKET, 0, libc::EAFNOSUPPORT),
        (libc::AF_XDP, DATAGRAM, 0, libc::EAFNOSUPPORT),
    ];
    as_each_user(|user| {
        let make = |family: i32, kind: i32, protocol: i32| {
            let arguments = [family as u64, kind as u64, protocol as u64, 0, 0, 0];
            (
                call(libc::SYS_socket, arguments),
                call(libc::SYS_socket, arguments.map(|argument| argument | UPPER)),
            )
        };
        // Some that any user can make without the filter, and one for root alone.
        assert!(make(libc::AF_NETLINK, DATAGRAM, libc::NETLINK_KOBJECT_UEVENT).0.is_ok(), "the control");
        assert_eq!(
            make(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP).0.is_ok(),
            user == User::Root && is_real_root()
        );
        filter_by(&marked());
        for (family, kind, protocol) in allowed {
            for kind in [kind, kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK] {
                let (made, with_upper_bits) = make(family, kind, protocol);
                assert!(made.is_ok() && with_upper_bits.is_ok(), "{family} {kind} {protocol}: {made:?}");
            }
        }
        for (family, kind, protocol, errno) in refused {
            for kind in [kind, kind | libc::SOCK_CLOEXEC] {
                let expected = Err(errno + i32::from(MARK));
                assert_eq!(make(family, kind, protocol), (expected, expected), "{family} {kind} {protocol}");
            }
        }
        let pair = |family: i32| {
            let ends = [0_i32; 2];
            call(libc::SYS_socketpair, [family as u64, STREAM as u64, 0, ends.as_ptr() as u64, 0, 0])
        };
        assert!(pair(libc::AF_UNIX).is_ok());
        assert_eq!(pair(libc::AF_TIPC), Err(libc::EAFNOSUPPORT + i32::from(MARK)));
    });
}

fn harmless_personalities_can_be_set() {
    const ASK: u64 = 0xffff_ffff;
    as_each_user(|_| {
        in_child(|| {
            assert!(call(libc::SYS_personality, [0x0040_0000, 0, 0, 0, 0, 0]).is_ok(), "the control")
        });
        filter(&[]);
        for refused in [0x0040_0000, 0x0010_0000, 0x0044_0000, 0x0400_0000 | UPPER, 1] {
            assert_eq!(
                call(libc::SYS_personality, [refused, 0, 0, 0, 0, 0]),
                Err(libc::EPERM),
                "{refused:x}"
            );
        }
        for allowed in [0x0004_0000, 0x0002_0008, 8, 0] {
            assert!(call(libc::SYS_personality, [allowed, 0, 0, 0, 0, 0]).is_ok(), "{allowed:x}");
            assert_eq!(call(libc::SYS_personality, [ASK, 0, 0, 0, 0, 0]), Ok(allowed as i64));
        }
    });
}

fn namespaces_by_clone_and_devices_are_refused() {
    as_each_user(|_| {
        filter_by(&marked());
        let spaces = [
            libc::CLONE_NEWNS,
            libc::CLONE_NEWCGROUP,
            libc::CLONE_NEWUTS,
            libc::CLONE_NEWIPC,
            libc::CLONE_NEWUSER,
            libc::CLONE_NEWPID,
            libc::CLONE_NEWNET,
            libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_VFORK,
        ];
        for flags in spaces {
            for flags in [flags as u64, flags as u64 | libc::SIGCHLD as u64, flags as u64 | UPPER] {
                assert_eq!(refusal(libc::SYS_clone, [flags, 0, 0, 0, 0, 0]), Some(libc::EPERM), "{flags:x}");
            }
        }
        // The path is null: those that pass the filter fail with EFAULT.
        for (mode, errno) in [
            (libc::S_IFCHR, Some(libc::EPERM)),
            (libc::S_IFBLK, Some(libc::EPERM)),
            (libc::S_IFIFO, None),
            (libc::S_IFREG, None),
            (0, None),
        ] {
            let mode = u64::from(mode | 0o644);
            for mode in [mode, mode | UPPER] {
                assert_eq!(refusal(libc::SYS_mknodat, [u64::MAX, 0, mode, 0, 0, 0]), errno, "{mode:o}");
                #[cfg(target_arch = "x86_64")]
                assert_eq!(refusal(libc::SYS_mknod, [0, mode, 0, 0, 0, 0]), errno, "{mode:o}");
            }
        }
    });
}

fn numbers_without_a_call_are_unknown() {
    as_each_user(|_| {
        // This kernel's own answer is the same. That the filter gives it is shown by the tests of the compiler.
        filter(&[]);
        for number in [470, 471, 500, 600, 1 << 20, i64::from(i32::MAX)] {
            assert_eq!(call(number, [0; 6]), Err(libc::ENOSYS), "{number}");
        }
        #[cfg(target_arch = "x86_64")]
        for x32 in [39, 59, 101, 512, 520, 545] {
            assert_eq!(call((1 << 30) | x32, [0; 6]), Err(libc::ENOSYS), "{x32}");
        }
        assert!(call(libc::SYS_getpid, [0; 6]).is_ok());
    });
}

#[cfg(target_arch = "x86_64")]
fn a_program_of_another_architecture_is_killed() {
    use rustix::process::{Pid, WaitOptions};
    as_each_user(|_| {
        // SAFETY: the process has one thread.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            filter(&[]);
            // `getpid` of 32-bit programs.
            let mut answer = 20_i64;
            // SAFETY: the call changes no memory and no other register than this one.
            unsafe {
                std::arch::asm!("int 0x80", inout("rax") answer, out("r8") _, out("r9") _, out("r10") _, out("r11") _)
            };
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(i32::from(answer < 0)) };
        }
        let ended = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::empty()).unwrap().unwrap().1;
        assert_eq!(ended.terminating_signal(), Some(libc::SIGSYS), "{ended:?}");
    });
}

#[cfg(not(target_arch = "x86_64"))]
fn a_program_of_another_architecture_is_killed() {
    println!("not run: this needs a 32-bit program");
}
