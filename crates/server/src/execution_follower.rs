//! Following an execution to its answer without a thread: the runtime waits on the execution's socket.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use shellgate::{Event, Execution, Report, Urgency};
use tokio::io::Interest;
use tokio_util::sync::CancellationToken;

use crate::async_descriptor::AsyncDescriptor;
use crate::progress::Progress;
use crate::workers::{self, Workers};

/// Events handled before other tasks get their turn: a command may print faster than we read.
const MAX_EVENTS_PER_TURN: usize = 32;
/// Delay before the end is recorded, so that the answer is sent first.
const RECORD_DELAY: Duration = Duration::from_millis(1);
/// An end with more output than this is recorded apart from the others: it takes long to hash.
const MAX_ORDERED_OUTPUT_BYTES: u64 = 1 << 20;

/// Follows an execution to its answer. `canceled` stops its whole process tree; the output stays.
///
/// # Errors
/// When the keeper's messages can't be read.
pub(crate) async fn follow_to_answer(
    mut execution: Box<Execution>,
    workers: &Workers,
    canceled: &CancellationToken,
    progress: &mut Option<Progress>,
) -> io::Result<Box<Report>> {
    execution.record_later();
    let socket = AsyncDescriptor::new(execution.as_fd(), Interest::READABLE)?;
    let mut stopped = false;
    loop {
        let mut handled = 0;
        while handled < MAX_EVENTS_PER_TURN
            && let Some(event) = execution.try_next()?
        {
            handled += 1;
            match event {
                Event::State(_) => {}
                Event::Output { bytes, .. } => {
                    if let Some(progress) = progress {
                        progress.add_output(&bytes);
                    }
                }
                Event::Ended(report) => {
                    drop(socket);
                    let printed = report.stdout_bytes + report.stderr_bytes;
                    workers.spawn_recording(record_end(execution, printed, workers.clone()));
                    Box::pin(Progress::finish(progress)).await;
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
            () = tokio::task::yield_now(), if handled == MAX_EVENTS_PER_TURN => {}
            ready = socket.readable(), if handled < MAX_EVENTS_PER_TURN => ready?,
        }
    }
}

/// Records the end after the answer was sent, so that the client doesn't wait for it.
async fn record_end(mut execution: Box<Execution>, printed: u64, workers: Workers) {
    tokio::time::sleep(RECORD_DELAY).await;
    // The way to a thread and back takes as long.
    if execution.is_brief_to_record() && workers.record_here(|| execution.record_in_log()) {
        if execution.has_long_log() {
            workers.record(move || execution.enter_long_log()).await;
        }
        return;
    }
    let record = move || execution.record();
    if printed < MAX_ORDERED_OUTPUT_BYTES {
        workers.record(record).await;
    } else {
        // An error is a panic. The keeper still has the end, and the next process records it.
        let _ = workers::run(record).await;
    }
}
