//! Rules that a caller switches on, each group for one purpose.

use super::calls::{self, Call};
use super::rules::Argument::{Fifth, Second, Sixth, Third};
use super::rules::{Action, Condition, Rule, any_of, equals, is_own, masked, not_null};
use super::{sockets, table};

/// A group of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Tell the listener of every call that may reach or make a Unix socket with a name: `connect`, `bind`, and sending
    /// with an address. The address is in memory, so calls for IP sockets are told too. Also of every new Unix datagram
    /// socket: without one, no send reaches a socket that was not connected.
    NotifySockets,
    /// Tell the listener of every call that may give a file a new name. `bind` is one: it makes a socket file.
    NotifyCreations,
    /// Tell the listener of calls that remove a file, open one for writing that exists, or change its size, mode, owner, times
    /// or attributes. They can go on.
    NotifyChanges,
    /// Tell the listener of calls that ask whether a file can be written, or that send a signal. They can go on.
    NotifyNeeds,
    /// Tell the listener of every `exec`. It can go on.
    NotifyExec,
    /// Stop for the tracer before an `exec`.
    TraceExec,
    /// Tell the listener of `ptrace`, so that its refusal can be explained. The listener must not let it go on.
    NotifyDebugger,
    /// Allow what debuggers need: `ptrace`, `process_vm_readv` and the like.
    AllowDebugger,
}

/// All rules of a filter with these groups, in the order in which they are tried: what is refused stays refused.
#[must_use]
pub fn rules(groups: &[Group]) -> Vec<Rule> {
    let on = |group| groups.contains(&group);
    let part = |when: bool, rules: &'static [Rule]| if when { rules } else { &[] };
    [
        table::ALWAYS,
        part(on(Group::NotifySockets), sockets::NOTIFY_DATAGRAMS),
        sockets::SOCKETS,
        part(on(Group::NotifyDebugger) && !on(Group::AllowDebugger), NOTIFY_DEBUGGER),
        part(!on(Group::AllowDebugger), table::DEBUGGING),
        part(on(Group::NotifySockets), NOTIFY_SOCKETS),
        part(on(Group::NotifyCreations), NOTIFY_CREATIONS),
        part(on(Group::NotifySockets) || on(Group::NotifyCreations), NOTIFY_BIND),
        part(on(Group::NotifyChanges) && !on(Group::NotifyNeeds), OPEN_TERMINAL),
        part(on(Group::NotifyChanges), NOTIFY_CHANGES),
        part(on(Group::NotifyNeeds), NOTIFY_NEEDS),
        part(on(Group::TraceExec) || on(Group::NotifyExec), OWN_EXEC),
        part(on(Group::TraceExec), TRACE_EXEC),
        part(on(Group::NotifyExec), NOTIFY_EXEC),
    ]
    .concat()
}

const fn notify(calls: &'static [Call], when: &'static [Condition], reason: &'static str) -> Rule {
    Rule { calls, when, action: Action::Notify, reason }
}

const NOTIFY_SOCKETS: &[Rule] = &[
    notify(&[calls::CONNECT], &[], "the address says which socket is reached"),
    notify(&[calls::SENDTO], &[not_null(Fifth)], "a datagram with an address needs no connection"),
    notify(&[calls::SENDMSG, calls::SENDMMSG], &[], "the same; whether there is an address is in memory"),
];

/// In both groups that notify.
const NOTIFY_BIND: &[Rule] = &[notify(
    &[calls::BIND],
    &[],
    "makes a file; and sockets that the session made can be reached by it later",
)];

const O_CREAT: u32 = libc::O_CREAT as u32;

const NOTIFY_CREATIONS: &[Rule] = &[
    notify(&[calls::OPEN], &[any_of(Second, O_CREAT)], "makes a file"),
    notify(&[calls::OPENAT], &[any_of(Third, O_CREAT)], "makes a file"),
    notify(&[calls::OPENAT2], &[], "may make a file: its flags are in memory"),
    notify(&[calls::CREAT, calls::MKNOD, calls::MKNODAT], &[], "makes a file"),
    notify(&[calls::MKDIR, calls::MKDIRAT], &[], "makes a folder"),
    notify(&[calls::RENAME, calls::RENAMEAT, calls::RENAMEAT2], &[], "gives a file another name"),
    notify(&[calls::LINK, calls::LINKAT], &[], "gives a file one more name; also the end of O_TMPFILE"),
    notify(&[calls::SYMLINK, calls::SYMLINKAT], &[], "makes a symbolic link"),
];

const ACCESS_MODE: u32 = libc::O_ACCMODE as u32;
const WRITE_ONLY: u32 = libc::O_WRONLY as u32;
const READ_AND_WRITE: u32 = libc::O_RDWR as u32;

/// Bash opens `/dev/tty` with exactly these flags whenever it starts, and few programs open a file so.
const TERMINAL_FLAGS: u32 = (libc::O_RDWR | libc::O_NONBLOCK) as u32;

/// To be told of each start of a shell would cost more than all else that is observed.
const OPEN_TERMINAL: &[Rule] = &[Rule {
    calls: &[calls::OPENAT],
    when: &[equals(Third, TERMINAL_FLAGS)],
    action: Action::Allow,
    reason: "a shell opens its terminal",
}];

const NOTIFY_CHANGES: &[Rule] = &[
    notify(&[calls::UNLINK, calls::UNLINKAT, calls::RMDIR], &[], "removes a file or folder"),
    notify(&[calls::OPEN], &[masked(Second, ACCESS_MODE, WRITE_ONLY)], "may write a file"),
    notify(&[calls::OPEN], &[masked(Second, ACCESS_MODE, READ_AND_WRITE)], "may write a file"),
    notify(&[calls::OPENAT], &[masked(Third, ACCESS_MODE, WRITE_ONLY)], "may write a file"),
    notify(&[calls::OPENAT], &[masked(Third, ACCESS_MODE, READ_AND_WRITE)], "may write a file"),
    notify(&[calls::TRUNCATE], &[], "changes a file without opening it"),
    notify(
        &[calls::CHMOD, calls::FCHMOD, calls::FCHMODAT, calls::FCHMODAT2],
        &[],
        "changes the mode of a file",
    ),
    notify(
        &[calls::CHOWN, calls::LCHOWN, calls::FCHOWN, calls::FCHOWNAT],
        &[],
        "changes the owner of a file",
    ),
    notify(
        &[calls::UTIME, calls::UTIMES, calls::FUTIMESAT, calls::UTIMENSAT],
        &[],
        "changes the times of a file",
    ),
    notify(
        &[
            calls::SETXATTR,
            calls::LSETXATTR,
            calls::FSETXATTR,
            calls::REMOVEXATTR,
            calls::LREMOVEXATTR,
            calls::FREMOVEXATTR,
        ],
        &[],
        "changes an attribute of a file",
    ),
];

const NOTIFY_DEBUGGER: &[Rule] =
    &[notify(&[calls::PTRACE], &[], "a debugger gets its refusal from the broker")];

/// The flag of `access` that asks whether a file can be written.
const W_OK: u32 = libc::W_OK as u32;

const NOTIFY_NEEDS: &[Rule] = &[
    notify(&[calls::ACCESS], &[any_of(Second, W_OK)], "a program may write only what it is told it can"),
    notify(&[calls::FACCESSAT, calls::FACCESSAT2], &[any_of(Third, W_OK)], "the same"),
    notify(&[calls::KILL], &[], "reaches another process"),
];

/// The keeper knows the first program of a command: to be told of it would cost as much as all else that a filter does.
const OWN_EXEC: &[Rule] = &[Rule {
    calls: &[calls::EXECVE],
    when: &[is_own(Sixth)],
    action: Action::Allow,
    reason: "the launcher starts what the keeper told it to",
}];

const NOTIFY_EXEC: &[Rule] = &[notify(&[calls::EXECVE, calls::EXECVEAT], &[], "starts a program")];

const TRACE_EXEC: &[Rule] = &[Rule {
    calls: &[calls::EXECVE, calls::EXECVEAT],
    when: &[],
    action: Action::Trace,
    reason: "the guard decides which programs run",
}];
