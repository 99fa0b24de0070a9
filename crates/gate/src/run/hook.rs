//! Letting any program be its own keeper.

use std::sync::atomic::{AtomicBool, Ordering};

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Call this first thing in `main`, before any thread: a program that was started to be a keeper becomes one here and
/// never returns. With it, a program that embeds the library needs no `shellgate` binary beside it.
pub fn keeper_hook() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == shellgate_exec::KEEPER_ARGUMENT) {
        let arguments: Vec<_> = arguments.collect();
        if arguments.len() == 3 {
            std::process::exit(shellgate_exec::keeper_main(&arguments));
        }
    }
    INSTALLED.store(true, Ordering::Relaxed);
}

pub(crate) fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}
