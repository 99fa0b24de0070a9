//! Waiting for a command without a thread: only its socket is waited for.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use shellgate::{Event, Execution, Report, Urgency};
use tokio::io::Interest;
use tokio_util::sync::CancellationToken;

use crate::progress::Progress;
use crate::waiter::Waiter;

/// After so many events others have their turn: a command may print faster than we read.
const AT_ONCE: usize = 32;

/// The answer has gone out by then.
const AFTER: Duration = Duration::from_millis(1);
/// Output that takes longer to hash than others should wait.
const MUCH: u64 = 1 << 20;

/// Follows an execution to its answer. `canceled` stops it: the whole tree, and what was printed is kept.
///
/// # Errors
/// When the keeper can't be understood.
pub(crate) async fn to_the_end(
    mut execution: Execution,
    canceled: &CancellationToken,
    progress: &mut Option<Progress>,
) -> io::Result<Box<Report>> {
    execution.record_later();
    let socket = Waiter::new(execution.as_fd(), Interest::READABLE)?;
    let mut stopped = false;
    loop {
        let mut taken = 0;
        while taken < AT_ONCE
            && let Some(event) = execution.try_next()?
        {
            taken += 1;
            match event {
                Event::State(_) => {}
                Event::Output { bytes, .. } => {
                    if let Some(progress) = progress {
                        progress.printed(&bytes);
                    }
                }
                Event::Ended(report) => {
                    drop(socket);
                    let printed = report.stdout_bytes + report.stderr_bytes;
                    tokio::spawn(recorded(execution, printed));
                    Progress::finish(progress).await;
                    return Ok(report);
                }
            }
        }
        tokio::select! {
            biased;
            () = canceled.cancelled(), if !stopped => {
                stopped = true;
                execution.stop(Urgency::Politely)?;
            }
            () = Progress::tell(progress) => {}
            () = tokio::task::yield_now(), if taken == AT_ONCE => {}
            ready = socket.readable(), if taken < AT_ONCE => ready?,
        }
    }
}

/// Writes the end down when the answer has gone out: nobody should wait for that. Hashing much output is done aside.
async fn recorded(mut execution: Execution, printed: u64) {
    tokio::time::sleep(AFTER).await;
    if printed < MUCH {
        execution.record();
    } else {
        let _ = tokio::task::spawn_blocking(move || execution.record()).await;
    }
}
