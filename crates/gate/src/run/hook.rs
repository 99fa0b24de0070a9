//! Lets any program be its own keeper.

use std::sync::atomic::{AtomicBool, Ordering};

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Makes a program its own keeper. Call it first thing in `main`, before any thread starts.
///
/// If the process was started as a keeper, this function runs the keeper and never returns. A program that calls it needs
/// no `shellgate` binary.
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
