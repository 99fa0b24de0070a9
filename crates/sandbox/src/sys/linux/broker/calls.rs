//! Which function does which system call.

use rustix::io::Errno;

use super::context::Context;
use super::notifications::Reply;
use super::target::Target;
use super::{changes, connect, create, datagrams, effects, needs, open, send};

/// Does a held call for the thread that made it.
pub(super) fn perform(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    let (int, long, unsigned) =
        (|index| target.int(index), |index| target.long(index), |index| target.unsigned(index));
    const HERE: i32 = libc::AT_FDCWD;
    if !only_looks(target) {
        context.turn.give();
    }
    match target.held.call {
        libc::SYS_unlinkat => Ok(effects::remove(context, target, (int(0), long(1)))),
        libc::SYS_execve => Ok(effects::program(context, target, (HERE, long(0)), long(1))),
        libc::SYS_execveat => Ok(effects::program(context, target, (int(0), long(1)), long(2))),
        libc::SYS_openat => open::open(context, target, (int(0), long(1)), (unsigned(2), unsigned(3))),
        libc::SYS_openat2 => open::open_by_how(context, target),
        libc::SYS_mkdirat => create::make_folder(context, target, (int(0), long(1)), unsigned(2)),
        libc::SYS_mknodat => {
            create::make_node(context, target, (int(0), long(1)), (unsigned(2), unsigned(3)))
        }
        libc::SYS_symlinkat => create::make_link(context, target, long(0), (int(1), long(2))),
        libc::SYS_linkat => create::link(context, target, (int(0), long(1)), (int(2), long(3)), unsigned(4)),
        libc::SYS_renameat2 => {
            create::rename(context, target, (int(0), long(1)), (int(2), long(3)), unsigned(4))
        }
        libc::SYS_connect => connect::connect(context, target),
        libc::SYS_bind => connect::bind(context, target),
        libc::SYS_sendto => send::send_to(context, target),
        libc::SYS_sendmsg => send::send_message(context, target),
        libc::SYS_sendmmsg => send::send_messages(context, target),
        libc::SYS_socket | libc::SYS_socketpair => datagrams::make(context, target),
        libc::SYS_ptrace => Err(context.refuse_debugger(target)),
        libc::SYS_kill => Ok(needs::signal(context, target)),
        call => match (changes::look(context, target), needs::asked_file(call)) {
            (Some(reply), _) => Ok(reply),
            (None, Some(file)) => Ok(needs::ask(context, target, file)),
            (None, None) => perform_old(context, target),
        },
    }
}

/// Whether doing the call takes no longer than looking at a file.
fn only_looks(target: &Target<'_>) -> bool {
    let creates = |flags: u32| flags.cast_signed() & libc::O_CREAT != 0;
    match target.held.call {
        libc::SYS_openat => !creates(target.unsigned(2)),
        libc::SYS_unlinkat | libc::SYS_execve | libc::SYS_execveat | libc::SYS_connect => true,
        _ => only_looks_old(target, creates),
    }
}

#[cfg(target_arch = "x86_64")]
fn only_looks_old(target: &Target<'_>, creates: impl Fn(u32) -> bool) -> bool {
    match target.held.call {
        libc::SYS_open => !creates(target.unsigned(1)),
        libc::SYS_unlink | libc::SYS_rmdir => true,
        _ => false,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn only_looks_old(_: &Target<'_>, _: impl Fn(u32) -> bool) -> bool {
    false
}

/// Calls that newer architectures don't have.
#[cfg(target_arch = "x86_64")]
fn perform_old(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    const HERE: i32 = libc::AT_FDCWD;
    const CREAT_FLAGS: u32 = (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC).cast_unsigned();
    let (int, long, unsigned) =
        (|index| target.int(index), |index| target.long(index), |index| target.unsigned(index));
    match target.held.call {
        libc::SYS_open => open::open(context, target, (HERE, long(0)), (unsigned(1), unsigned(2))),
        libc::SYS_creat => open::open(context, target, (HERE, long(0)), (CREAT_FLAGS, unsigned(1))),
        libc::SYS_unlink | libc::SYS_rmdir => Ok(effects::remove(context, target, (HERE, long(0)))),
        libc::SYS_mkdir => create::make_folder(context, target, (HERE, long(0)), unsigned(1)),
        libc::SYS_mknod => create::make_node(context, target, (HERE, long(0)), (unsigned(1), unsigned(2))),
        libc::SYS_symlink => create::make_link(context, target, long(0), (HERE, long(1))),
        libc::SYS_link => create::link(context, target, (HERE, long(0)), (HERE, long(1)), 0),
        libc::SYS_rename => create::rename(context, target, (HERE, long(0)), (HERE, long(1)), 0),
        libc::SYS_renameat => create::rename(context, target, (int(0), long(1)), (int(2), long(3)), 0),
        _ => Err(Errno::NOSYS),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn perform_old(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    let (old, new) = ((target.int(0), target.long(1)), (target.int(2), target.long(3)));
    match target.held.call {
        libc::SYS_renameat => create::rename(context, target, old, new, 0),
        _ => Err(Errno::NOSYS),
    }
}
