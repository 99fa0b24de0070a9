//! Where output is kept: a little in the entry of an execution's end, more in files.
//!
//! Creating two files costs more than the rest of recording a short command, and on some file systems more than the command. So an
//! end whose output is short, and still in memory when it is recorded, has the output itself as text.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use shellgate_exec::{Outcome, PerStream, Spool};
use shellgate_journal::{PastExecution, RecordedStream};

/// How many bytes of output the entry of an end may have, both streams together.
pub(crate) const MAX_TEXT_BYTES: u64 = 4 << 10;

/// The output of an execution that has ended.
pub(crate) enum KeptOutput<'a> {
    /// In files.
    Files(&'a Spool),
    /// All of it, for the record.
    Texts(PerStream<String>),
}

/// The output, if it is in memory, short and text.
pub(crate) fn short_texts(outcome: &Outcome, spool: &Spool) -> Option<PerStream<String>> {
    let PerStream { stdout, stderr } = &outcome.output;
    if !spool.is_in_memory() || stdout.total + stderr.total > MAX_TEXT_BYTES {
        return None;
    }
    let text = |file: &File, length: u64| {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact_at(&mut bytes, 0).ok()?;
        String::from_utf8(bytes).ok()
    };
    Some(PerStream {
        stdout: text(&spool.files.stdout, stdout.total)?,
        stderr: text(&spool.files.stderr, stderr.total)?,
    })
}

/// The output that the record itself has of an execution.
pub(crate) fn recorded_texts(execution: &PastExecution) -> Option<PerStream<String>> {
    let ended = execution.ended.as_ref().filter(|ended| ended.pid.is_some())?;
    let text = |stream: &RecordedStream| match (&stream.file, stream.bytes) {
        (None, 0) => Some(String::new()),
        (None, _) => stream.text.clone(),
        (Some(_), _) => None,
    };
    Some(PerStream { stdout: text(&ended.stdout)?, stderr: text(&ended.stderr)? })
}

/// An entry's output that is in no file.
pub(super) fn text_stream(text: &str) -> RecordedStream {
    let bytes = text.len() as u64;
    let text = (!text.is_empty()).then(|| text.to_owned());
    RecordedStream { bytes, spooled: bytes, text, ..RecordedStream::default() }
}
