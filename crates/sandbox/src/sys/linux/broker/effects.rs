//! Telling the keeper what commands did.
//!
//! What the broker does for a command it knows for certain. Other calls (opening a file that exists, removing one, starting a
//! program) it only looks at: they go on in the kernel, which decides. A command that changes the path meanwhile blurs what is
//! told, and gains nothing.

use std::ffi::{CStr, c_int};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FileType, StatVfsMountFlags};
use rustix::io::Errno;

use super::context::Context;
use super::create::PathArgument;
use super::kernel;
use super::notifications::Reply;
use super::protections::{as_path, path_of};
use super::refusals::{Patience, Refusals};
use super::target::{Target, field};
use super::walk::Place;
use crate::effect::{Effect, EffectKind};
use crate::observation::Operation;

/// How many effects are remembered, so that they are not told again.
const REMEMBERED_EFFECTS: usize = 1024;

/// How many words of a program are told, and how long they are together.
const MAX_WORDS: usize = 12;
const MAX_WORDS_BYTES: usize = 1024;

/// Places whose files are no files.
const NO_FILES: [&[u8]; 3] = [b"/dev/", b"/proc/", b"/sys/"];

/// The terminal of whoever opens it. The folder is the pod's own, and commands can't change it.
const OWN_TERMINAL: &[u8] = b"/dev/tty";

/// Memory that processes share, as files.
const SHARED_MEMORY: &[u8] = b"/dev/shm/";

/// Whether what has this path is no file.
pub(super) fn is_no_file(path: &[u8]) -> bool {
    NO_FILES.iter().any(|begin| path.starts_with(begin))
}

/// Which effects were told.
pub(super) struct Told {
    hashes: [AtomicU64; REMEMBERED_EFFECTS],
    lost: AtomicU64,
}

impl Told {
    pub(super) const fn new() -> Self {
        Self { hashes: [const { AtomicU64::new(0) }; REMEMBERED_EFFECTS], lost: AtomicU64::new(0) }
    }

    /// Whether this effect was told a moment ago. It counts as told from now on.
    fn remember(&self, effect: &Effect) -> bool {
        let mut hasher = DefaultHasher::new();
        (effect.tag, effect.kind, &effect.target).hash(&mut hasher);
        // A place that was never used has 0.
        let hash = hasher.finish() | 1;
        let place = usize::try_from(hash >> 1).unwrap_or(0) % REMEMBERED_EFFECTS;
        self.hashes.get(place).is_some_and(|told| told.swap(hash, Ordering::Relaxed) == hash)
    }
}

impl Refusals {
    /// Tells the keeper of an effect. It never waits for a keeper that doesn't read: then effects are counted, and the
    /// number is told with the next one.
    fn tell_effect(&self, told: &Told, effect: &Effect) {
        if effect.kind != EffectKind::Program && told.remember(effect) {
            return;
        }
        if !self.send(&effect.encode(), Patience::None) {
            told.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let lost = told.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let number = u32::try_from(lost).unwrap_or(u32::MAX);
            let effect = Effect { kind: EffectKind::Lost, process: (number, 0), ..effect.clone() };
            if !self.send(&effect.encode(), Patience::None) {
                told.lost.fetch_add(lost, Ordering::Relaxed);
            }
        }
    }
}

impl Context {
    /// Tells of an effect on a path, if commands are observed.
    pub(super) fn tell_effect(&self, target: &Target<'_>, kind: EffectKind, path: &[u8]) {
        let Some(told) = &self.told else { return };
        // The folder for temporary files of a trial.
        let is_temporary = self.refusals.is_trial() && path.starts_with(SHARED_MEMORY);
        if kind != EffectKind::Program && is_no_file(path) && !is_temporary {
            return;
        }
        let thread = target.held.thread;
        let tag = kernel::lock_limit(thread).unwrap_or(0);
        let parent = || {
            let status = target.proc_text("status").ok()?;
            field(&status, "PPid:")?.trim().parse().ok()
        };
        let parent = if kind == EffectKind::Program { parent().unwrap_or(0) } else { 0 };
        let process = (thread.as_raw_nonzero().get().unsigned_abs(), parent);
        self.refusals.tell_effect(told, &Effect { kind, target: as_path(path), process, tag });
    }

    /// Tells that a name was made or opened for writing.
    pub(super) fn tell_written(&self, target: &Target<'_>, place: &Place<'_>) {
        self.tell_place(target, EffectKind::Write, place);
    }

    /// Tells that a name was given to a file, and another one taken from it.
    pub(super) fn tell_renamed(&self, target: &Target<'_>, (old, new): (&Place<'_>, &Place<'_>)) {
        self.tell_place(target, EffectKind::Delete, old);
        self.tell_place(target, EffectKind::Write, new);
    }

    fn tell_place(&self, target: &Target<'_>, kind: EffectKind, place: &Place<'_>) {
        if self.told.is_some()
            && let Some(path) = self.whole_path(place)
        {
            self.tell_effect(target, kind, &path);
        }
    }

    /// The path of a place.
    pub(super) fn whole_path(&self, place: &Place<'_>) -> Option<Vec<u8>> {
        let mut path = path_of(self.proc(), place.folder.as_fd()).ok()?;
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(place.bare_name());
        Some(path)
    }

    /// Tells of a connection.
    pub(super) fn tell_connected(&self, target: &Target<'_>, address: &[u8]) {
        if let (Some(_), Some(shown)) = (&self.told, shown_address(address)) {
            self.tell_effect(target, EffectKind::Connect, shown.as_bytes());
        }
    }
}

/// An internet address as people write it.
pub(super) fn shown_address(address: &[u8]) -> Option<String> {
    let (family, rest) = address.split_first_chunk::<2>()?;
    let (port, rest) = rest.split_first_chunk::<2>()?;
    let port = u16::from_be_bytes(*port);
    match i32::from(u16::from_ne_bytes(*family)) {
        libc::AF_INET => {
            let (host, _) = rest.split_first_chunk::<4>()?;
            Some(format!("{}:{port}", Ipv4Addr::from(*host)))
        }
        libc::AF_INET6 => {
            // The flow comes first.
            let (_, rest) = rest.split_first_chunk::<4>()?;
            let (host, _) = rest.split_first_chunk::<16>()?;
            Some(format!("[{}]:{port}", Ipv6Addr::from(*host)))
        }
        _ => None,
    }
}

/// Looks at an `open` for writing that makes no file. The kernel does it.
pub(super) fn open_for_writing(context: &Context, target: &Target<'_>, path: PathArgument) -> Reply {
    let named = target.path(path.1);
    // Every shell opens its terminal so.
    if named.as_ref().is_ok_and(|named| named.to_bytes() == OWN_TERMINAL) {
        return Reply::Continue;
    }
    let found = named.and_then(|named| file_named(context, target, path.0, &named)).and_then(|file| {
        let stat = rustix::fs::fstat(&file)?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        Ok((path_of(context.proc(), file.as_fd())?, is_file, is_read_only(file.as_fd())))
    });
    match found {
        Ok((path, true, false)) => context.tell_effect(target, EffectKind::Write, &path),
        // A debugger tries the memory of a process, and uses `ptrace` if it can't be written. No settings grant it.
        Ok((path, true, true)) if path.starts_with(b"/proc/") && path.ends_with(b"/mem") => {}
        Ok((path, true, true)) => context.tell_read_only(target, Operation::Open, (&path, path.len())),
        _ => {}
    }
    Reply::Continue
}

/// Looks at an `unlink` or `rmdir`. The kernel does it.
pub(super) fn remove(context: &Context, target: &Target<'_>, path: PathArgument) -> Reply {
    let Ok(place) = super::create::place(context, target, path) else { return Reply::Continue };
    if place.file_type().is_err() {
        return Reply::Continue;
    }
    match (is_read_only(place.folder.as_fd()), context.whole_path(&place)) {
        (true, Some(path)) => {
            // To remove a name takes the right to write its folder.
            let folder = path.len().saturating_sub(place.bare_name().len() + 1).max(1);
            context.tell_read_only(target, Operation::Remove, (&path, folder));
        }
        (false, Some(path)) => context.tell_effect(target, EffectKind::Delete, &path),
        (_, None) => {}
    }
    Reply::Continue
}

/// Looks at an `exec`. The kernel does it.
pub(super) fn program(context: &Context, target: &Target<'_>, path: PathArgument, words: u64) -> Reply {
    let told = file(context, target, path).and_then(|file| {
        let stat = rustix::fs::fstat(&file)?;
        let is_program =
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_mode & 0o111 != 0;
        if !is_program {
            return Err(Errno::ACCESS);
        }
        path_of(context.proc(), file.as_fd())
    });
    if let Ok(mut told) = told {
        for word in words_at(target, words) {
            told.push(0);
            told.extend_from_slice(&word);
        }
        context.tell_effect(target, EffectKind::Program, &told);
    }
    Reply::Continue
}

/// The file that a path argument leads to.
pub(super) fn file(
    context: &Context,
    target: &Target<'_>,
    (folder, path): PathArgument,
) -> Result<OwnedFd, Errno> {
    file_named(context, target, folder, &target.path(path)?)
}

fn file_named(context: &Context, target: &Target<'_>, folder: c_int, path: &CStr) -> Result<OwnedFd, Errno> {
    let walk = context.walk(target);
    let start = walk.start(folder, path)?;
    target.confirm()?;
    walk.file(start.as_fd(), path.to_bytes())
}

/// The first words of an argument list.
fn words_at(target: &Target<'_>, list: u64) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut length = 0;
    for number in 0..MAX_WORDS as u64 {
        let mut pointer = [0; size_of::<u64>()];
        let at = list.wrapping_add(number * size_of::<u64>() as u64);
        if list == 0 || target.read_into(at, &mut pointer).is_err() {
            break;
        }
        let address = u64::from_ne_bytes(pointer);
        let Some(word) = Some(address)
            .filter(|address| *address != 0)
            .and_then(|address| target.path_or_empty(address).ok())
        else {
            break;
        };
        length += word.as_bytes().len();
        if length > MAX_WORDS_BYTES {
            break;
        }
        words.push(word.into_bytes());
    }
    words
}

/// Whether the mount that a file is on is read-only.
pub(super) fn is_read_only(file: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

#[cfg(test)]
mod tests {
    use super::shown_address;

    #[test]
    fn addresses_are_shown_as_people_write_them() {
        let family = |family: i32| u16::try_from(family).unwrap().to_ne_bytes().to_vec();
        let four = [family(libc::AF_INET), vec![0, 80, 10, 0, 0, 7], vec![0; 8]].concat();
        assert_eq!(shown_address(&four).unwrap(), "10.0.0.7:80");
        let six =
            [family(libc::AF_INET6), vec![1, 187], vec![0; 4], vec![0; 15], vec![1], vec![0; 4]].concat();
        assert_eq!(shown_address(&six).unwrap(), "[::1]:443");
        assert_eq!(shown_address(&family(libc::AF_UNIX)), None);
    }
}
