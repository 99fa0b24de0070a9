//! Waiting for a descriptor on the runtime.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A copy of a descriptor that is waited for. A copy of our own: whoever holds the original may close it or use it for
/// something else at any time.
#[derive(Debug)]
pub(crate) struct Waiter(AsyncFd<OwnedFd>);

impl Waiter {
    pub(crate) fn new(descriptor: BorrowedFd<'_>, interest: Interest) -> io::Result<Self> {
        let own = descriptor.try_clone_to_owned()?;
        #[expect(
            deprecated,
            reason = "it is for descriptors that nobody else closes, and ours is such a one"
        )]
        AsyncFd::with_interest(own, interest).map(Self)
    }

    /// Waits until there is something to read that wasn't there the last time.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.0.readable().await.map(|mut ready| ready.clear_ready())
    }

    /// The same for room to write.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.0.writable().await.map(|mut ready| ready.clear_ready())
    }
}
