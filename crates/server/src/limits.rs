//! How much a client may ask of us at once. All of it is far more than agents use.

use std::time::Duration;

/// The longest message. A command's text is at most 128 KiB; what a command reads may be longer.
pub(crate) const LONGEST_MESSAGE: usize = 16 << 20;
/// So many calls may be under way. More are refused at once.
pub(crate) const MOST_CALLS: usize = 4096;
/// While so many bytes wait for a client to read them, nothing more is read from it.
pub(crate) const MOST_UNSENT: usize = 8 << 20;
/// Nor while so many of its requests wait for an answer.
pub(crate) const MOST_REQUESTS: usize = 4096;
/// So many calls may wait for jobs at once; the others have to wait for that, too.
pub(crate) const MOST_WAITS: usize = 128;
/// So many questions may wait for somebody.
pub(crate) const MOST_QUESTIONS: usize = 256;
/// So many of them of one client.
pub(crate) const MOST_QUESTIONS_OF_ONE: usize = 64;
/// So many clients may be connected over HTTP.
pub(crate) const MOST_CONNECTIONS: usize = 256;
/// So many sessions of older clients are held over HTTP.
pub(crate) const MOST_SESSIONS: usize = 256;
/// A session that nobody used for so long is forgotten.
pub(crate) const IDLE_SESSION: Duration = Duration::from_secs(3600);
/// The head of an HTTP request must have come by then.
pub(crate) const SLOWEST_HEAD: Duration = Duration::from_secs(10);
/// How long a call waits for the end of a command that doesn't say it itself: below the common limits of clients.
pub(crate) const WAIT: Duration = Duration::from_secs(45);
/// After the end of our input, calls that are under way have so long to end by themselves.
pub(crate) const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// So long after its start a server looks after the record: nobody should wait for that.
pub(crate) const TIDY: Duration = Duration::from_secs(2);
