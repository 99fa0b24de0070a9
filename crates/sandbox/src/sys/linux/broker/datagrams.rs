//! Whether a send can be left to the kernel.
//!
//! Only a Unix datagram socket can send to a socket that it isn't connected to. As long as the session never had one, a
//! held send is harmless whatever its memory says, and the kernel runs it.
//!
//! Between our answer and the kernel's look at the descriptor, the thread may be stopped for any time. If the session then
//! made its first datagram socket and put it under the same number, the send would be one that was not checked. So before
//! the first one is made, every thread that was let go on must be past that point: it waits in the kernel, or it has run
//! for longer than the way there takes.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::Pid;

use super::context::Context;
use super::notifications::Reply;
use super::serve::may_wait;
use super::target::{Target, read_text};

/// Processor time after which a thread has certainly looked up its descriptor.
const PASSED: Duration = Duration::from_millis(20);

/// How long the first datagram socket waits for other threads.
const WAIT_TIMEOUT: Duration = Duration::from_millis(500);

const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// `socket` and `socketpair` for Unix datagrams. Their arguments are registers.
pub(super) fn make(context: &Context, target: &Target<'_>) -> Result<Reply, Errno> {
    // A second one waits, too, until the first has: the flag alone doesn't say that it is over.
    let is_first = context.session.note_datagram_socket();
    if is_first || !context.session.senders().is_empty() {
        let _waiting = may_wait(context, target)?;
        wait_for_senders(context)?;
    }
    Ok(Reply::Continue)
}

/// Whether the kernel may run a send of this thread.
pub(super) fn may_send_itself(context: &Context, target: &Target<'_>) -> bool {
    let session = &context.session;
    if session.has_datagram_socket() || !context.granted.is_empty() {
        return false;
    }
    let thread = target.held.thread;
    if !session.note_sender(thread) {
        let is_gone = |sender: &Pid| activity(context.proc(), *sender).is_none();
        session.senders().into_iter().filter(is_gone).for_each(|sender| session.forget_sender(sender));
        if !session.note_sender(thread) {
            return false;
        }
    }
    // The process that makes the first one waits for our answer, or we see that it was made.
    session.begin_answer();
    target.is_counted.set(true);
    !session.has_datagram_socket()
}

/// What a thread does.
enum Activity {
    /// It waits for something.
    Waits,
    /// It has run for so long.
    Runs(Duration),
}

fn wait_for_senders(context: &Context) -> Result<(), Errno> {
    let end = Instant::now() + WAIT_TIMEOUT;
    // A thread that still waits for its answer looks like one that waits for something else.
    while context.session.has_unanswered() {
        if Instant::now() >= end {
            return Err(Errno::NOBUFS);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let mut senders: Vec<(Pid, Option<Duration>)> =
        context.session.senders().into_iter().map(|sender| (sender, None)).collect();
    loop {
        senders.retain_mut(|(sender, ran_before)| match activity(context.proc(), *sender) {
            Some(Activity::Runs(ran)) => {
                let before = *ran_before.get_or_insert(ran);
                ran.saturating_sub(before) < PASSED || {
                    context.session.forget_sender(*sender);
                    false
                }
            }
            Some(Activity::Waits) | None => {
                context.session.forget_sender(*sender);
                false
            }
        });
        if senders.is_empty() {
            return Ok(());
        }
        if Instant::now() >= end {
            return Err(Errno::NOBUFS);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// What a thread does; `None`: it has ended.
fn activity(proc: BorrowedFd<'_>, thread: Pid) -> Option<Activity> {
    let number = thread.as_raw_nonzero();
    let ran = || {
        let text = read_text(proc, &format!("{number}/schedstat")).ok()?;
        Some(Duration::from_nanos(text.split_ascii_whitespace().next()?.parse().ok()?))
    };
    // The state is read first: a thread that waits has passed, whatever it does afterwards.
    match read_text(proc, &format!("{number}/stat")) {
        Ok(stat) => match stat.rsplit_once(") ")?.1.chars().next()? {
            // Not `D`: on its way a thread may wait for a lock of the notification itself.
            'S' => Some(Activity::Waits),
            'Z' | 'X' => None,
            _ => Some(Activity::Runs(ran().unwrap_or_default())),
        },
        Err(_) => None,
    }
}
