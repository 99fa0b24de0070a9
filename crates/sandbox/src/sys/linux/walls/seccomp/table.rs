//! The table: which system calls no command may use, and why.

use super::calls::{self, Call};
use super::rules::Argument::{First, Second, Third};
use super::rules::{Action, Condition, RefusalErrno, Rule, any_of, equals, masked, not_null};

const EPERM: Action = Action::Refuse(RefusalErrno::EPERM);

const fn refuse(calls: &'static [Call], reason: &'static str) -> Rule {
    Rule { calls, when: &[], action: EPERM, reason }
}

const fn answer(calls: &'static [Call], errno: RefusalErrno, reason: &'static str) -> Rule {
    Rule { calls, when: &[], action: Action::Refuse(errno), reason }
}

const fn refuse_when(calls: &'static [Call], when: &'static [Condition], reason: &'static str) -> Rule {
    Rule { calls, when, action: EPERM, reason }
}

const fn allow_when(calls: &'static [Call], when: &'static [Condition], reason: &'static str) -> Rule {
    Rule { calls, when, action: Action::Allow, reason }
}

/// Flags of `clone` that make a namespace. The one for time (0x80) is not among them: `clone` takes its low byte as a
/// signal.
const NAMESPACE_FLAGS: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// Values of `personality` that only change what the program sees of itself: `PER_LINUX32`, `UNAME26` and
/// `ADDR_NO_RANDOMIZE`.
const HARMLESS_PERSONALITY: u32 = 0x0008 | 0x0002_0000 | 0x0004_0000;
const ASK_PERSONALITY: u32 = u32::MAX;

const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const TIOCSETD: u32 = 0x5423;
const USERFAULTFD_IOC_NEW: u32 = 0xaa00;

const FILE_TYPE: u32 = libc::S_IFMT;
const CHARACTER_DEVICE: u32 = libc::S_IFCHR;
const BLOCK_DEVICE: u32 = libc::S_IFBLK;

const LOCKS_LIMIT: u32 = libc::RLIMIT_LOCKS;

/// The first process of the pod.
const FIRST_PROCESS: u32 = 1;

const NEW_LISTENER: u32 = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as u32;

/// Rules that always hold.
pub(super) const ALWAYS: &[Rule] = &[
    refuse(
        &[calls::IO_URING_SETUP, calls::IO_URING_ENTER, calls::IO_URING_REGISTER],
        "its operations are system calls that no filter sees",
    ),
    refuse(
        &[calls::KEYCTL, calls::ADD_KEY, calls::REQUEST_KEY],
        "keyrings belong to the user, not to the session: they hold others' keys",
    ),
    refuse(&[calls::BPF], "programs in the kernel"),
    refuse_when(
        &[calls::SETRLIMIT],
        &[equals(First, LOCKS_LIMIT)],
        "this limit, which the kernel ignores, carries the tag by which a process of a command is recognised",
    ),
    refuse_when(
        &[calls::PRLIMIT64],
        &[equals(Second, LOCKS_LIMIT), not_null(Third)],
        "as above; without a new limit it only reads",
    ),
    refuse_when(
        &[calls::PRLIMIT64],
        &[equals(First, FIRST_PROCESS), not_null(Third)],
        "belongs to the same user, who needs no capability for this: with no processor time left, it would end, and the pod with it",
    ),
    refuse(&[calls::PERF_EVENT_OPEN], "watches other processes and the kernel"),
    refuse(&[calls::USERFAULTFD], "holds the kernel in the middle of a copy: the usual help for exploits"),
    refuse(
        &[
            calls::MOUNT,
            calls::UMOUNT2,
            calls::PIVOT_ROOT,
            calls::MOVE_MOUNT,
            calls::OPEN_TREE,
            calls::OPEN_TREE_ATTR,
            calls::FSOPEN,
            calls::FSCONFIG,
            calls::FSMOUNT,
            calls::FSPICK,
            calls::MOUNT_SETATTR,
            calls::CHROOT,
        ],
        "the mounts are the first wall",
    ),
    refuse(&[calls::SETNS, calls::UNSHARE], "a new user namespace gives all capabilities in it"),
    refuse_when(&[calls::CLONE], &[any_of(First, NAMESPACE_FLAGS)], "the same as unshare"),
    refuse_when(
        &[calls::CLONE],
        &[any_of(First, libc::CLONE_UNTRACED as u32)],
        "the child would escape the guard that traces its parent",
    ),
    answer(
        &[calls::CLONE3],
        RefusalErrno::ENOSYS,
        "its flags are in memory, where a filter can't read them; the C library then uses clone",
    ),
    refuse(&[calls::KEXEC_LOAD, calls::KEXEC_FILE_LOAD, calls::REBOOT], "ends the machine"),
    refuse(&[calls::INIT_MODULE, calls::FINIT_MODULE, calls::DELETE_MODULE], "code in the kernel"),
    refuse(
        &[
            calls::SWAPON,
            calls::SWAPOFF,
            calls::SETTIMEOFDAY,
            calls::CLOCK_SETTIME,
            calls::ADJTIMEX,
            calls::CLOCK_ADJTIME,
            calls::SETHOSTNAME,
            calls::SETDOMAINNAME,
            calls::ACCT,
            calls::QUOTACTL,
            calls::QUOTACTL_FD,
        ],
        "settings of the whole machine",
    ),
    refuse(&[calls::SYSLOG], "the kernel's log tells addresses and what others do"),
    refuse(&[calls::IOPL, calls::IOPERM], "direct access to devices"),
    refuse(&[calls::MODIFY_LDT], "segments for 16-bit programs; a source of defects in the kernel"),
    refuse(&[calls::LOOKUP_DCOOKIE, calls::NFSSERVCTL], "of old kernels; no program needs them"),
    answer(
        &[calls::NAME_TO_HANDLE_AT],
        RefusalErrno::EOPNOTSUPP,
        "half of a way around paths; the error is that of a file system without handles",
    ),
    refuse(&[calls::OPEN_BY_HANDLE_AT], "opens files without a path, outside every mount of the session"),
    refuse(&[calls::FANOTIFY_INIT], "watches files of others"),
    allow_when(
        &[calls::PERSONALITY],
        &[equals(First, ASK_PERSONALITY)],
        "asks for the value and changes nothing",
    ),
    allow_when(
        &[calls::PERSONALITY],
        &[masked(First, !HARMLESS_PERSONALITY, 0)],
        "setarch, and sanitizers that need fixed addresses",
    ),
    refuse(&[calls::PERSONALITY], "executable data and a mapped page zero help exploits"),
    refuse_when(&[calls::IOCTL], &[equals(Second, TIOCSTI)], "types into a terminal"),
    refuse_when(&[calls::IOCTL], &[equals(Second, TIOCLINUX)], "pastes into a console"),
    refuse_when(
        &[calls::IOCTL],
        &[equals(Second, TIOCSETD)],
        "loads line disciplines; a source of defects in the kernel",
    ),
    refuse_when(&[calls::IOCTL], &[equals(Second, USERFAULTFD_IOC_NEW)], "userfaultfd by way of its device"),
    refuse_when(
        &[calls::MKNOD],
        &[masked(Second, FILE_TYPE, CHARACTER_DEVICE)],
        "a device is a way to the kernel",
    ),
    refuse_when(&[calls::MKNOD], &[masked(Second, FILE_TYPE, BLOCK_DEVICE)], "a device is a way to the disk"),
    refuse_when(
        &[calls::MKNODAT],
        &[masked(Third, FILE_TYPE, CHARACTER_DEVICE)],
        "a device is a way to the kernel",
    ),
    refuse_when(
        &[calls::MKNODAT],
        &[masked(Third, FILE_TYPE, BLOCK_DEVICE)],
        "a device is a way to the disk",
    ),
    // Of two filters that notify, the newer one's listener is told, and it may let the call go on. The kernel allows
    // one listener in a chain of filters, but with tracing alone ours has none, and a notification goes before a trace.
    // A nested filter without a listener can only refuse more.
    Rule {
        calls: &[calls::SECCOMP],
        when: &[equals(First, libc::SECCOMP_SET_MODE_FILTER), any_of(Second, NEW_LISTENER)],
        action: Action::Refuse(RefusalErrno::EBUSY),
        reason: "its listener would answer before our tracer; the error is that of a second listener",
    },
];

/// Rules that hold unless a debugger was granted.
pub(super) const DEBUGGING: &[Rule] = &[refuse(
    &[
        calls::PTRACE,
        calls::PROCESS_VM_READV,
        calls::PROCESS_VM_WRITEV,
        calls::PROCESS_MADVISE,
        calls::KCMP,
        calls::PIDFD_GETFD,
    ],
    "reaches into another process: its memory, registers or descriptors",
)];
