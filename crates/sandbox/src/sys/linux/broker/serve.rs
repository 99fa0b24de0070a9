//! The broker's process: its threads, and its end.

use std::ffi::c_int;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::calls;
use super::context::Context;
use super::kernel;
use super::notifications::{Held, Listener};
use super::pool::{INTERRUPT, READY_THREADS, WaitGuard};
use super::target::Target;
use crate::sys::signals;

/// How often threads that wait within a call are looked after.
const WATCH_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Enough for the deepest call: large buffers are on the heap.
const STACK_BYTES: usize = 256 << 10;

/// The kernel's own `ERESTARTSYS`: it starts the call again after the signal's handler, unless the handler was set to
/// interrupt calls. It must not be used without a signal: programs would see it.
const RESTART: Errno = Errno::from_raw_os_error(512);

thread_local! {
    /// The context of the calling thread, for threads that it starts.
    static OWN: std::cell::RefCell<Option<Arc<Context>>> = const { std::cell::RefCell::new(None) };
}

/// Answers held calls until no process has the filter any more. Writes to `ready` when all threads are up, or why they aren't.
pub(super) fn run(context: Context, ready: OwnedFd) -> c_int {
    let context = Arc::new(context);
    signals::interrupt_by(INTERRUPT);
    for _ in 0..READY_THREADS {
        if let Err(errno) = start_thread(&context) {
            // A launcher that is gone needs no answer.
            let _ = rustix::io::write(&ready, &errno.raw_os_error().to_ne_bytes());
            return 1;
        }
    }
    if rustix::io::write(&ready, &[0]).is_err() {
        return 1;
    }
    watch(&context);
    // Only now: the launcher takes its end for ours.
    drop(ready);
    0
}

fn start_thread(context: &Arc<Context>) -> Result<(), Errno> {
    context.pool.add_thread();
    let own = Arc::clone(context);
    let thread = std::thread::Builder::new().name("shellgate-broker".into()).stack_size(STACK_BYTES);
    match thread.spawn(move || work(&own)) {
        Ok(_) => Ok(()),
        Err(_) => {
            context.pool.remove_thread();
            Err(Errno::AGAIN)
        }
    }
}

/// A thread: does one held call after the other.
fn work(context: &Arc<Context>) {
    OWN.set(Some(Arc::clone(context)));
    signals::let_interrupt(INTERRUPT);
    if kernel::separate_folder_and_mask().is_err() {
        // Calls that no thread answers would wait for ever. Without a broker they fail.
        std::process::abort();
    }
    while let Some(held) = receive(context) {
        context.session.forget_sender(held.thread);
        let target = Target::new(held, &context.listener, context.proc());
        // Every held call gets an answer, or its thread would wait for ever.
        let answer = catch_unwind(AssertUnwindSafe(|| calls::perform(context, &target)));
        let answer = match answer.unwrap_or(Err(Errno::IO)) {
            Err(Errno::INTR) if target.will_handle_signal() => Err(RESTART),
            answer => answer,
        };
        context.listener.answer(held.id, answer);
        if target.is_counted.get() {
            context.session.answered();
        }
        drop(target);
        if context.pool.retire() {
            context.turn.give();
            return;
        }
    }
    context.turn.give();
    context.pool.remove_thread();
}

/// The next held call, when it is our turn.
fn receive(context: &Context) -> Option<Held> {
    context.turn.take();
    context.listener.receive()
}

/// Notes that the calling thread may wait for other processes from now on.
pub(super) fn may_wait<'a>(context: &'a Context, target: &Target<'_>) -> Result<WaitGuard<'a>, Errno> {
    context.turn.give();
    context.pool.wait(target.held.id, target.held.thread, || {
        OWN.with_borrow(|own| own.as_ref().map_or(Err(Errno::AGAIN), start_thread))
    })
}

/// Looks after threads that wait, until no process has the filter any more.
fn watch(context: &Context) {
    let mut waiting = Vec::new();
    loop {
        let mut wanted = [
            PollFd::from_borrowed_fd(Listener::as_fd(&context.listener), PollFlags::empty()),
            PollFd::from_borrowed_fd(context.pool.changed(), PollFlags::IN),
        ];
        let timeout = if waiting.is_empty() { None } else { Some(&WATCH_INTERVAL) };
        match rustix::event::poll(&mut wanted, timeout) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        if wanted.iter().take(1).any(|fd| fd.revents().intersects(PollFlags::HUP | PollFlags::ERR)) {
            return;
        }
        // Only those that have waited for a whole interval: most are done at once.
        let now = context.pool.waiting();
        for call in &now {
            let is_old = waiting.iter().any(|old: &super::pool::Waiting| old.id == call.id);
            if is_old
                && (!context.listener.is_valid(call.id)
                    || Target::has_signal_to_handle(context.proc(), call.thread))
            {
                context.pool.interrupt(call);
            }
        }
        waiting = now;
    }
}
