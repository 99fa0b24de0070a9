//! Waiting on the runtime until a descriptor is ready.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A duplicate of a descriptor, registered with the runtime. The owner of the original may close it at any time.
#[derive(Debug)]
pub(crate) struct AsyncDescriptor(AsyncFd<OwnedFd>);

impl AsyncDescriptor {
    pub(crate) fn new(descriptor: BorrowedFd<'_>, interest: Interest) -> io::Result<Self> {
        let duplicate = descriptor.try_clone_to_owned()?;
        #[expect(deprecated, reason = "it wants a descriptor that only it closes: the duplicate is one")]
        AsyncFd::with_interest(duplicate, interest).map(Self)
    }

    /// Waits until bytes arrive that were not there at the last call.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.0.readable().await.map(|mut ready| ready.clear_ready())
    }

    /// Waits until there is room to write that was not there at the last call.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.0.writable().await.map(|mut ready| ready.clear_ready())
    }
}
