//! Whether a name that was just made still names the same file.
//!
//! The broker's locks keep the names of one session in their places. Commands of another session, and removals, which no
//! broker does, may give a name to another file between two calls of ours. So the kernel is asked what happened to it.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::protections::own_link;

const CHANGES: WatchFlags =
    WatchFlags::CREATE.union(WatchFlags::DELETE).union(WatchFlags::MOVED_FROM).union(WatchFlags::MOVED_TO);

/// Room for an event with the longest name.
const EVENT_BYTES: usize = 4096;

/// Room for an entry with the longest name.
const ENTRY_BYTES: usize = 512;

/// What the kernel tells about names. It is kept: to close it takes the kernel 10 ms.
#[derive(Default)]
pub(super) struct NameEvents(OnceLock<OwnedFd>);

impl NameEvents {
    fn get(&self) -> Result<&OwnedFd, Errno> {
        match self.0.get() {
            Some(events) => Ok(events),
            None => {
                let made = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
                Ok(self.0.get_or_init(|| made))
            }
        }
    }
}

/// Sees what happens to the names in a folder.
pub(super) struct NameWatch<'a> {
    folder: OwnedFd,
    events: &'a OwnedFd,
    number: i32,
}

impl Drop for NameWatch<'_> {
    fn drop(&mut self) {
        // Fails if it is removed already.
        let _ = inotify::remove_watch(self.events, self.number);
    }
}

impl<'a> NameWatch<'a> {
    /// Begins to watch. The working folder of the thread must be the machine's `/proc`, and no other thread may use `events` as
    /// long as it watches.
    pub(super) fn start(events: &'a NameEvents, folder: BorrowedFd<'_>) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(folder, c".", flags, Mode::empty())?;
        let events = events.get()?;
        let number = inotify::add_watch(events, own_link(folder.as_fd()), CHANGES)?;
        Ok(Self { folder, events, number })
    }

    /// Whether `name` was made, and nothing else happened to it up to now.
    pub(super) fn was_only_made(self, name: &[u8]) -> bool {
        // A change is told before the kernel lets go of the folder, and seen a moment earlier. To read the folder, it waits
        // until others have let go.
        let mut buffer = [MaybeUninit::uninit(); ENTRY_BYTES];
        let _ = RawDir::new(&self.folder, &mut buffer).next();
        // So that the events come to an end.
        let _ = inotify::remove_watch(self.events, self.number);
        let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
        let mut events = Reader::new(self.events, &mut buffer);
        let (mut times_made, mut has_changed) = (0, false);
        loop {
            match events.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => has_changed = true,
                // Those of an earlier watch have other numbers.
                Ok(event) if event.wd() != self.number => {}
                Ok(event) if event.file_name().is_none_or(|found| found.to_bytes() != name) => {}
                Ok(event) if event.events().contains(ReadFlags::CREATE) => times_made += 1,
                Ok(_) => has_changed = true,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return times_made == 1 && !has_changed,
                Err(_) => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no inotify")]
    fn a_name_that_was_made_and_changed_is_told_from_one_that_was_made() {
        let folder = std::env::temp_dir().join(format!("shellgate-names-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        std::env::set_current_dir("/proc").unwrap();
        let opened = rustix::fs::open(&folder, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let path = |name: &str| folder.join(name);
        let make = |name: &str| std::fs::write(path(name), "").unwrap();
        let events = NameEvents::default();
        let only_made = |change: &dyn Fn()| {
            let watch = NameWatch::start(&events, opened.as_fd()).unwrap();
            change();
            watch.was_only_made(b"name")
        };
        assert!(!only_made(&|| {}), "it was not made");
        make("other");
        let rename = || std::fs::rename(path("other"), path("name")).unwrap();
        let remove = || std::fs::remove_file(path("name")).unwrap();
        let link = || std::fs::hard_link(path("other"), path("name")).unwrap();
        assert!(only_made(&|| {
            make("another");
            make("name");
            make(&"x".repeat(255));
        }));
        // One that is given up leaves events behind.
        let given_up = NameWatch::start(&events, opened.as_fd()).unwrap();
        remove();
        make("name");
        drop(given_up);
        assert!(!only_made(&rename), "renamed over it");
        assert!(!only_made(&remove), "removed");
        make("other");
        assert!(!only_made(&|| {
            make("name");
            remove();
            link();
        }));
        remove();
        assert!(!only_made(&|| {
            make("name");
            rename();
        }));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
