//! What every thread of a broker works with.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::effects::Told;
use super::name_watch::NameEvents;
use super::notifications::Listener;
use super::pool::Pool;
use super::protections::{Protections, Standing};
use super::refusals::Refusals;
use super::session::Session;
use super::target::Target;
use super::turn::Turn;
use super::walk::{Place, Walk};

/// What every thread of a broker works with.
pub(super) struct Context {
    pub(super) listener: Listener,
    /// The machine's `/proc`. It is also the working folder of all threads of the broker.
    pub(super) proc: OwnedFd,
    /// The root folder of all commands of the launcher, and ours.
    pub(super) root: OwnedFd,
    pub(super) protections: Protections,
    /// Sockets that were granted.
    pub(super) granted: Vec<PathBuf>,
    pub(super) session: Session,
    pub(super) refusals: Refusals,
    /// Which effects were told. `None`: none are.
    pub(super) told: Option<Told>,
    pub(super) pool: Pool,
    pub(super) turn: Turn,
    /// Held for reading while a name is checked and made, and for writing while one is changed: in between, no folder
    /// gets another path.
    pub(super) names: RwLock<()>,
    /// A file that is locked while a name is changed, by this broker or another one of the session.
    pub(super) names_of_session: OwnedFd,
    /// What happens to names. It is used while the file above is locked.
    pub(super) name_events: NameEvents,
}

/// No other name of the session changes until this is dropped.
pub(super) struct NamesGuard<'a> {
    _own: RwLockWriteGuard<'a, ()>,
    file: &'a OwnedFd,
}

impl Drop for NamesGuard<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::flock(self.file, FlockOperation::Unlock);
    }
}

impl Context {
    pub(super) fn walk<'a>(&'a self, target: &'a Target<'a>) -> Walk<'a> {
        Walk { target, root: self.root.as_fd(), proc: self.proc() }
    }

    pub(super) fn proc(&self) -> BorrowedFd<'_> {
        self.proc.as_fd()
    }

    pub(super) fn names_stay(&self) -> RwLockReadGuard<'_, ()> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn names_change(&self) -> Result<NamesGuard<'_>, Errno> {
        let own = self.names.write().unwrap_or_else(PoisonError::into_inner);
        let file = &self.names_of_session;
        rustix::io::retry_on_intr(|| rustix::fs::flock(file, FlockOperation::LockExclusive))?;
        Ok(NamesGuard { _own: own, file })
    }

    /// What a place has to do with protected names, and its path.
    pub(super) fn standing(&self, place: &Place<'_>) -> Result<(Standing, Vec<u8>), Errno> {
        self.protections.standing(self.proc(), place.folder.as_fd(), place.bare_name())
    }
}
