//! Lets any program be its own keeper.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use shellgate_exec::StateFolder;

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Makes a program its own keeper. Call it first thing in `main`, before any thread starts.
///
/// If the process was started as a keeper, this function runs the keeper and never returns. A program that calls it needs
/// no `shellgate` binary.
pub fn keeper_hook() {
    keeper_hook_with_log(|_| {});
}

/// The same, for a program that logs: a keeper calls `start_log` with the folder for logs before it does anything else.
pub fn keeper_hook_with_log(start_log: fn(&Path)) {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == shellgate_exec::KEEPER_ARGUMENT) {
        let arguments: Vec<_> = arguments.collect();
        if let [state, _, _] = arguments.as_slice() {
            start_log(&Path::new(state).join(StateFolder::LOG));
            std::process::exit(shellgate_exec::keeper_main(&arguments));
        }
    }
    INSTALLED.store(true, Ordering::Relaxed);
}

pub(crate) fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}
