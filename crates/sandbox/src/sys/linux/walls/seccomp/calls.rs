//! System calls by name, with their numbers on each architecture.
//!
//! Both columns are data, so that the filters of both architectures are compiled and tested on either. A test compares
//! the column of the machine it runs on with the constants of `libc`.

/// An architecture that a filter can be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    /// 64-bit Intel and AMD.
    X86_64,
    /// 64-bit ARM.
    Aarch64,
}

impl Arch {
    /// The architecture that this program was compiled for; `None`: one that has no table.
    pub const CURRENT: Option<Self> = if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
        Some(Self::X86_64)
    } else if cfg!(all(target_arch = "aarch64", target_pointer_width = "64", target_endian = "little")) {
        Some(Self::Aarch64)
    } else {
        None
    };

    /// The kernel's number for it (`AUDIT_ARCH_*`): the ELF machine, 64 bits, little-endian.
    pub(super) const fn audit_number(self) -> u32 {
        const LITTLE_ENDIAN_64: u32 = 0xc000_0000;
        LITTLE_ENDIAN_64
            | match self {
                Self::X86_64 => 62,
                Self::Aarch64 => 183,
            }
    }

    /// The ranges of numbers that had a system call when this was written (Linux 6.18). The numbers of the x32 ABI,
    /// which have bit 30 set, are in none.
    pub(super) const fn known_numbers(self) -> &'static [(u32, u32)] {
        match self {
            Self::X86_64 => &[(0, 336), (424, 469)],
            Self::Aarch64 => &[(0, 243), (260, 294), (424, 469)],
        }
    }
}

/// A system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: &'static str,
    x86_64: Option<u32>,
    aarch64: Option<u32>,
}

impl Call {
    /// Its number, if the architecture has it.
    #[must_use]
    pub const fn number(&self, arch: Arch) -> Option<u32> {
        match arch {
            Arch::X86_64 => self.x86_64,
            Arch::Aarch64 => self.aarch64,
        }
    }
}

macro_rules! number {
    (_) => {
        None
    };
    ($number:literal) => {
        Some($number)
    };
}

macro_rules! calls {
    ($($constant:ident = $name:literal, $x86_64:tt, $aarch64:tt;)*) => {
        $(
            pub(super) const $constant: Call =
                Call { name: $name, x86_64: number!($x86_64), aarch64: number!($aarch64) };
        )*
        #[cfg(test)]
        pub(super) const ALL: &[Call] = &[$($constant),*];
    };
}

// The name, then the numbers on x86_64 and aarch64.
calls! {
    ACCESS = "access", 21, _;
    ACCT = "acct", 163, 89;
    ADD_KEY = "add_key", 248, 217;
    ADJTIMEX = "adjtimex", 159, 171;
    BIND = "bind", 49, 200;
    BPF = "bpf", 321, 280;
    CHMOD = "chmod", 90, _;
    CHOWN = "chown", 92, _;
    CHROOT = "chroot", 161, 51;
    CLOCK_ADJTIME = "clock_adjtime", 305, 266;
    CLOCK_SETTIME = "clock_settime", 227, 112;
    CLONE = "clone", 56, 220;
    CLONE3 = "clone3", 435, 435;
    CONNECT = "connect", 42, 203;
    CREAT = "creat", 85, _;
    DELETE_MODULE = "delete_module", 176, 106;
    EXECVE = "execve", 59, 221;
    EXECVEAT = "execveat", 322, 281;
    FACCESSAT = "faccessat", 269, 48;
    FACCESSAT2 = "faccessat2", 439, 439;
    FANOTIFY_INIT = "fanotify_init", 300, 262;
    FCHMOD = "fchmod", 91, 52;
    FCHMODAT = "fchmodat", 268, 53;
    FCHMODAT2 = "fchmodat2", 452, 452;
    FCHOWN = "fchown", 93, 55;
    FCHOWNAT = "fchownat", 260, 54;
    FINIT_MODULE = "finit_module", 313, 273;
    FREMOVEXATTR = "fremovexattr", 199, 16;
    FSCONFIG = "fsconfig", 431, 431;
    FSETXATTR = "fsetxattr", 190, 7;
    FSMOUNT = "fsmount", 432, 432;
    FSOPEN = "fsopen", 430, 430;
    FSPICK = "fspick", 433, 433;
    FUTIMESAT = "futimesat", 261, _;
    INIT_MODULE = "init_module", 175, 105;
    IOCTL = "ioctl", 16, 29;
    IOPERM = "ioperm", 173, _;
    IOPL = "iopl", 172, _;
    IO_URING_ENTER = "io_uring_enter", 426, 426;
    IO_URING_REGISTER = "io_uring_register", 427, 427;
    IO_URING_SETUP = "io_uring_setup", 425, 425;
    KCMP = "kcmp", 312, 272;
    KEXEC_FILE_LOAD = "kexec_file_load", 320, 294;
    KEXEC_LOAD = "kexec_load", 246, 104;
    KEYCTL = "keyctl", 250, 219;
    KILL = "kill", 62, 129;
    LCHOWN = "lchown", 94, _;
    LINK = "link", 86, _;
    LINKAT = "linkat", 265, 37;
    LOOKUP_DCOOKIE = "lookup_dcookie", 212, 18;
    LREMOVEXATTR = "lremovexattr", 198, 15;
    LSETXATTR = "lsetxattr", 189, 6;
    MKDIR = "mkdir", 83, _;
    MKDIRAT = "mkdirat", 258, 34;
    MKNOD = "mknod", 133, _;
    MKNODAT = "mknodat", 259, 33;
    MODIFY_LDT = "modify_ldt", 154, _;
    MOUNT = "mount", 165, 40;
    MOUNT_SETATTR = "mount_setattr", 442, 442;
    MOVE_MOUNT = "move_mount", 429, 429;
    NAME_TO_HANDLE_AT = "name_to_handle_at", 303, 264;
    NFSSERVCTL = "nfsservctl", 180, 42;
    OPEN = "open", 2, _;
    OPENAT = "openat", 257, 56;
    OPENAT2 = "openat2", 437, 437;
    OPEN_BY_HANDLE_AT = "open_by_handle_at", 304, 265;
    OPEN_TREE = "open_tree", 428, 428;
    OPEN_TREE_ATTR = "open_tree_attr", 467, 467;
    PERF_EVENT_OPEN = "perf_event_open", 298, 241;
    PERSONALITY = "personality", 135, 92;
    PIDFD_GETFD = "pidfd_getfd", 438, 438;
    PRLIMIT64 = "prlimit64", 302, 261;
    REMOVEXATTR = "removexattr", 197, 14;
    SETRLIMIT = "setrlimit", 160, 164;
    PIVOT_ROOT = "pivot_root", 155, 41;
    PROCESS_MADVISE = "process_madvise", 440, 440;
    PROCESS_VM_READV = "process_vm_readv", 310, 270;
    PROCESS_VM_WRITEV = "process_vm_writev", 311, 271;
    PTRACE = "ptrace", 101, 117;
    QUOTACTL = "quotactl", 179, 60;
    QUOTACTL_FD = "quotactl_fd", 443, 443;
    REBOOT = "reboot", 169, 142;
    RENAME = "rename", 82, _;
    RENAMEAT = "renameat", 264, 38;
    RENAMEAT2 = "renameat2", 316, 276;
    RMDIR = "rmdir", 84, _;
    REQUEST_KEY = "request_key", 249, 218;
    SECCOMP = "seccomp", 317, 277;
    SENDMMSG = "sendmmsg", 307, 269;
    SENDMSG = "sendmsg", 46, 211;
    SENDTO = "sendto", 44, 206;
    SETDOMAINNAME = "setdomainname", 171, 162;
    SETHOSTNAME = "sethostname", 170, 161;
    SETNS = "setns", 308, 268;
    SETTIMEOFDAY = "settimeofday", 164, 170;
    SETXATTR = "setxattr", 188, 5;
    SOCKET = "socket", 41, 198;
    SOCKETPAIR = "socketpair", 53, 199;
    SWAPOFF = "swapoff", 168, 225;
    SWAPON = "swapon", 167, 224;
    SYMLINK = "symlink", 88, _;
    SYMLINKAT = "symlinkat", 266, 36;
    SYSLOG = "syslog", 103, 116;
    TRUNCATE = "truncate", 76, 45;
    UMOUNT2 = "umount2", 166, 39;
    UNLINK = "unlink", 87, _;
    UNLINKAT = "unlinkat", 263, 35;
    UNSHARE = "unshare", 272, 97;
    USERFAULTFD = "userfaultfd", 323, 282;
    UTIME = "utime", 132, _;
    UTIMENSAT = "utimensat", 280, 88;
    UTIMES = "utimes", 235, _;
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! same_as_libc {
        ($($constant:ident $libc:ident),* $(,)?) => {
            [$(($constant, libc::$libc)),*]
        };
    }

    #[test]
    fn numbers_are_those_of_the_c_library() {
        let both = same_as_libc![
            FACCESSAT SYS_faccessat,
            FACCESSAT2 SYS_faccessat2,
            FCHMOD SYS_fchmod,
            FCHMODAT SYS_fchmodat,
            FCHMODAT2 SYS_fchmodat2,
            FCHOWN SYS_fchown,
            FCHOWNAT SYS_fchownat,
            FREMOVEXATTR SYS_fremovexattr,
            FSETXATTR SYS_fsetxattr,
            KILL SYS_kill,
            LREMOVEXATTR SYS_lremovexattr,
            LSETXATTR SYS_lsetxattr,
            REMOVEXATTR SYS_removexattr,
            SETXATTR SYS_setxattr,
            TRUNCATE SYS_truncate,
            UTIMENSAT SYS_utimensat,
            ACCT SYS_acct,
            ADD_KEY SYS_add_key,
            ADJTIMEX SYS_adjtimex,
            BIND SYS_bind,
            BPF SYS_bpf,
            CHROOT SYS_chroot,
            CLOCK_ADJTIME SYS_clock_adjtime,
            CLOCK_SETTIME SYS_clock_settime,
            CLONE SYS_clone,
            CLONE3 SYS_clone3,
            CONNECT SYS_connect,
            DELETE_MODULE SYS_delete_module,
            EXECVE SYS_execve,
            EXECVEAT SYS_execveat,
            FANOTIFY_INIT SYS_fanotify_init,
            FINIT_MODULE SYS_finit_module,
            FSCONFIG SYS_fsconfig,
            FSMOUNT SYS_fsmount,
            FSOPEN SYS_fsopen,
            FSPICK SYS_fspick,
            INIT_MODULE SYS_init_module,
            IOCTL SYS_ioctl,
            IO_URING_ENTER SYS_io_uring_enter,
            IO_URING_REGISTER SYS_io_uring_register,
            IO_URING_SETUP SYS_io_uring_setup,
            KCMP SYS_kcmp,
            KEXEC_FILE_LOAD SYS_kexec_file_load,
            KEXEC_LOAD SYS_kexec_load,
            KEYCTL SYS_keyctl,
            LINKAT SYS_linkat,
            LOOKUP_DCOOKIE SYS_lookup_dcookie,
            MKDIRAT SYS_mkdirat,
            MKNODAT SYS_mknodat,
            MOUNT SYS_mount,
            MOUNT_SETATTR SYS_mount_setattr,
            MOVE_MOUNT SYS_move_mount,
            NAME_TO_HANDLE_AT SYS_name_to_handle_at,
            NFSSERVCTL SYS_nfsservctl,
            OPENAT SYS_openat,
            OPENAT2 SYS_openat2,
            OPEN_BY_HANDLE_AT SYS_open_by_handle_at,
            OPEN_TREE SYS_open_tree,
            PERF_EVENT_OPEN SYS_perf_event_open,
            PERSONALITY SYS_personality,
            PIDFD_GETFD SYS_pidfd_getfd,
            PRLIMIT64 SYS_prlimit64,
            SETRLIMIT SYS_setrlimit,
            PIVOT_ROOT SYS_pivot_root,
            PROCESS_MADVISE SYS_process_madvise,
            PROCESS_VM_READV SYS_process_vm_readv,
            PROCESS_VM_WRITEV SYS_process_vm_writev,
            PTRACE SYS_ptrace,
            QUOTACTL SYS_quotactl,
            QUOTACTL_FD SYS_quotactl_fd,
            REBOOT SYS_reboot,
            RENAMEAT SYS_renameat,
            RENAMEAT2 SYS_renameat2,
            REQUEST_KEY SYS_request_key,
            SECCOMP SYS_seccomp,
            SENDMMSG SYS_sendmmsg,
            SENDMSG SYS_sendmsg,
            SENDTO SYS_sendto,
            SETDOMAINNAME SYS_setdomainname,
            SETHOSTNAME SYS_sethostname,
            SETNS SYS_setns,
            SETTIMEOFDAY SYS_settimeofday,
            SOCKET SYS_socket,
            SOCKETPAIR SYS_socketpair,
            SWAPOFF SYS_swapoff,
            SWAPON SYS_swapon,
            SYMLINKAT SYS_symlinkat,
            SYSLOG SYS_syslog,
            UMOUNT2 SYS_umount2,
            UNLINKAT SYS_unlinkat,
            UNSHARE SYS_unshare,
            USERFAULTFD SYS_userfaultfd,
        ];
        for (call, number) in both {
            assert_eq!(call.number(Arch::CURRENT.unwrap()).map(i64::from), Some(number), "{}", call.name);
        }
        #[cfg(target_arch = "x86_64")]
        for (call, number) in same_as_libc![
            ACCESS SYS_access,
            CHMOD SYS_chmod,
            CHOWN SYS_chown,
            FUTIMESAT SYS_futimesat,
            LCHOWN SYS_lchown,
            UTIME SYS_utime,
            UTIMES SYS_utimes,
            CREAT SYS_creat,
            IOPERM SYS_ioperm,
            IOPL SYS_iopl,
            LINK SYS_link,
            MKDIR SYS_mkdir,
            MKNOD SYS_mknod,
            MODIFY_LDT SYS_modify_ldt,
            OPEN SYS_open,
            RENAME SYS_rename,
            RMDIR SYS_rmdir,
            SYMLINK SYS_symlink,
            UNLINK SYS_unlink,
        ] {
            assert_eq!(call.number(Arch::X86_64).map(i64::from), Some(number), "{}", call.name);
            assert_eq!(call.number(Arch::Aarch64), None, "{}", call.name);
        }
    }

    #[test]
    fn every_number_is_known_and_belongs_to_one_call() {
        for arch in [Arch::X86_64, Arch::Aarch64] {
            let mut numbers: Vec<u32> = ALL.iter().filter_map(|call| call.number(arch)).collect();
            for number in &numbers {
                assert!(
                    arch.known_numbers().iter().any(|(from, to)| (from..=to).contains(&number)),
                    "{number}"
                );
            }
            let count = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), count);
        }
    }
}
