//! Bounds on what clients may ask of the server. All of them are far above what agents use.

use std::time::Duration;

/// The longest message. A command's text has at most 128 KiB; its standard input may be longer.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Tool calls under way. The server refuses more with `busy`.
pub(crate) const MAX_CALLS: usize = 4096;
/// The server reads nothing more from a client that has this much of our output left to read.
pub(crate) const MAX_UNSENT_BYTES: usize = 8 << 20;
/// Nor from a client that waits for the answers to this many requests.
pub(crate) const MAX_OPEN_REQUESTS: usize = 4096;
/// Ids of canceled requests that a client may not use again.
pub(crate) const MAX_CANCELED_IDS: usize = 256;
/// Calls that wait for a job at once, each on a thread. More of them wait for their turn.
pub(crate) const MAX_JOB_WAITS: usize = 128;
/// All threads for work that blocks: those that wait for jobs, and those that start commands or look into the record.
pub(crate) const MAX_BLOCKING_THREADS: usize = MAX_JOB_WAITS + 32;
/// Questions that wait for an answer.
pub(crate) const MAX_QUESTIONS: usize = 256;
/// Questions of one client among them.
pub(crate) const MAX_QUESTIONS_PER_CLIENT: usize = 64;
/// Open HTTP connections.
pub(crate) const MAX_HTTP_CONNECTIONS: usize = 256;
/// Sessions that older clients hold over HTTP.
pub(crate) const MAX_HTTP_SESSIONS: usize = 512;
/// Sessions of one key among them.
pub(crate) const MAX_HTTP_SESSIONS_PER_KEY: usize = 64;
/// HTTP requests of one key under way: less than all connections, so that others find one.
pub(crate) const MAX_HTTP_REQUESTS_PER_KEY: usize = 64;
/// Answers that a key has not read. One answer may be longer.
pub(crate) const MAX_UNREAD_BYTES_PER_KEY: u64 = 64 << 20;
/// Values in a message. Each costs far more memory than it has bytes.
pub(crate) const MAX_MESSAGE_VALUES: usize = 100_000;
/// An HTTP session ends after this time without a request.
pub(crate) const HTTP_SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(3600);
/// The head of an HTTP request must arrive within this time.
pub(crate) const HTTP_HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The body of an HTTP request must arrive within this time.
pub(crate) const HTTP_BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a call without `wait_ms` waits for its command: less than the common timeouts of clients.
pub(crate) const DEFAULT_WAIT: Duration = Duration::from_secs(45);
/// After the end of our input, calls under way have this much time to end by themselves.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_millis(500);
/// The server tidies the record this long after its start, so that no client waits for it.
pub(crate) const TIDY_DELAY: Duration = Duration::from_secs(2);
