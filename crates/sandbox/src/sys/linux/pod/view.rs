//! What the commands of one launcher see of the file system.
//!
//! The launcher takes a copy of the pod's mounts and changes it: everything is read-only, then the writable places are put
//! over themselves, then the protected ones in them, then unreadable ones are covered, but for what is exposed in them. Copies are taken while every path
//! still shows the machine's files.
//!
//! A place that has a mount of its own can't be renamed or removed, and neither can a mount be replaced by a link. So each
//! folder between a writable folder and a protected place becomes a mount, too: else the folder could be moved away and
//! a new one made in its place.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use rustix::thread::UnshareFlags;

use super::aliases::{self, Identity, identity};
use super::devices::{HIDDEN_FILE, HIDDEN_FOLDER, UNLISTED_FOLDER};
use super::error::{ConfineError, Context as _, Mechanism};
use super::mounts::{self, Depth, NO_DEVICES, NO_SETUID, READ_ONLY};
use super::{namespaces, owned_copies};
use crate::confinement::{Confinement, Protected, Readable, Temp};

const TEMP: &str = "/tmp";

/// A tree of mounts, with the place where it belongs.
struct Tree {
    place: PathBuf,
    mount: OwnedFd,
    is_folder: bool,
}

/// Gives the calling process mounts of its own, as `confinement` says. `proc` is the machine's.
pub(crate) fn lay_out(confinement: &Confinement, proc: BorrowedFd<'_>) -> Result<(), ConfineError> {
    namespaces::unshare(UnshareFlags::NEWNS).context(Mechanism::Namespaces, "mounts for a launcher")?;
    let aliases = aliases::of_unreadable(confinement, proc)?;
    let temp = copy(TEMP)?;
    mounts::detach(Path::new(TEMP)).context(Mechanism::Mounts, TEMP)?;
    let (devices, proc) = (copy("/dev")?, copy("/proc")?);
    let hidden = Hidden { file: HIDDEN_FILE.as_ref(), folder: HIDDEN_FOLDER.as_ref() };
    let writable = copy_without_links(&confinement.writable)?;
    let visible = copy_existing(&confinement.visible)?;
    let mut exposed = copy_without_links(&confinement.exposed)?;
    exposed.extend(confinement.unlisted.iter().filter_map(|folder| unlisted(folder)));
    match &confinement.readable {
        // A root that is the whole tree is writable, but for what is protected or unreadable.
        Readable::Everything if confinement.writable.iter().any(|path| path == Path::new("/")) => {}
        Readable::Everything => make_all_read_only()?,
        Readable::Only(paths) => make_new_root(paths)?,
    }
    if confinement.readable != Readable::Everything {
        put(&proc)?;
    }
    owned_copies::lay_over()?;
    put(&devices)?;
    if confinement.temp == Temp::Private {
        put(&temp)?;
        for tree in visible.iter().filter(|tree| tree.place.starts_with(TEMP)) {
            put_read_only(tree)?;
        }
    }
    for tree in writable.iter().filter(|tree| tree.place != Path::new("/")) {
        put_writable(tree)?;
    }
    protect(confinement, &aliases)?;
    for path in &confinement.unreadable {
        let inside = |tree: &&Tree| tree.place.starts_with(path) && tree.place != *path;
        let exposed: Vec<&Tree> = exposed.iter().filter(inside).collect();
        match exposed.is_empty() {
            true => hidden.cover(path)?,
            false => cover_all_but(path, &exposed, &confinement.writable)?,
        }
    }
    for (alias, before) in &aliases {
        // In a tree that was made anew the name may stand for something else.
        if identity(alias) == Some(*before) {
            hidden.cover(alias)?;
        }
    }
    // The old folder may lie in a mount that is covered now.
    rustix::process::chdir("/").context(Mechanism::Mounts, "/")
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn copy(place: impl AsRef<Path>) -> Result<Tree, ConfineError> {
    let place = place.as_ref();
    let mount = mounts::copy_tree(place).context(Mechanism::Mounts, shown(place))?;
    tree(place, mount)
}

fn tree(place: &Path, mount: OwnedFd) -> Result<Tree, ConfineError> {
    let stat = rustix::fs::fstat(&mount).context(Mechanism::Mounts, shown(place))?;
    let is_folder = FileType::from_raw_mode(stat.st_mode).is_dir();
    Ok(Tree { place: place.to_owned(), mount, is_folder })
}

/// Copies of the trees that exist, outer ones first.
fn copy_existing(paths: &[PathBuf]) -> Result<Vec<Tree>, ConfineError> {
    let sorted: BTreeSet<&PathBuf> = paths.iter().collect();
    let exists = |path: &&&PathBuf| rustix::fs::lstat(path.as_path()).is_ok();
    sorted.iter().filter(exists).map(copy).collect()
}

/// A tree with the files of `folder` that can't be listed. `None`: the kernel can't make one.
///
/// It is an overlay: the attributes of a folder are those of its uppermost layer, which is empty. Files that are made in
/// `folder` later appear in it, unless their names were looked up before.
fn unlisted(folder: &Path) -> Option<Tree> {
    let mut layers = format!("{UNLISTED_FOLDER}:").into_bytes();
    for byte in folder.as_os_str().as_bytes() {
        if matches!(byte, b':' | b'\\') {
            layers.push(b'\\');
        }
        layers.push(*byte);
    }
    let layers = CString::new(layers).ok()?;
    let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID;
    let mount = mounts::new_filesystem(c"overlay", &[(c"lowerdir", &layers)], attributes).ok()?;
    Some(Tree { place: folder.to_owned(), mount, is_folder: true })
}

/// The same for places that commands may write, or that are opened to them: a link that a command has just made in their
/// paths would open another place, so such a place is taken for missing.
fn copy_without_links(paths: &[PathBuf]) -> Result<Vec<Tree>, ConfineError> {
    let sorted: BTreeSet<&PathBuf> = paths.iter().collect();
    let mut trees = Vec::new();
    for place in sorted {
        let mount = match mounts::copy_tree_without_links(place) {
            Ok(mount) => mount,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => continue,
            Err(errno) => return Err(ConfineError::new(Mechanism::Mounts, shown(place), errno)),
        };
        trees.push(tree(place, mount)?);
    }
    Ok(trees)
}

/// Makes every mount of the namespace read-only.
fn make_all_read_only() -> Result<(), ConfineError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open("/", flags, Mode::empty()).context(Mechanism::Mounts, "/")?;
    mounts::set_attributes(root.as_fd(), Depth::Recursive, READ_ONLY | NO_SETUID | NO_DEVICES)
        .context(Mechanism::Mounts, "making everything read-only")
}

/// Replaces the whole tree by an empty one with these places, read-only.
fn make_new_root(paths: &[PathBuf]) -> Result<(), ConfineError> {
    let links: Vec<(PathBuf, PathBuf)> =
        paths.iter().filter_map(|path| Some((path.clone(), std::fs::read_link(path).ok()?))).collect();
    let folders: Vec<PathBuf> =
        paths.iter().filter(|path| !links.iter().any(|(link, _)| link == *path)).cloned().collect();
    let trees = copy_existing(&folders)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID;
    let root = mounts::new_filesystem(c"tmpfs", &[(c"mode", c"755")], attributes)
        .context(Mechanism::Mounts, "an empty tree")?;
    // The place doesn't matter: it is the whole tree soon.
    mounts::attach(&root, Path::new(TEMP)).context(Mechanism::Mounts, TEMP)?;
    rustix::process::chdir(TEMP).context(Mechanism::Mounts, TEMP)?;
    rustix::process::pivot_root(".", ".").context(Mechanism::Mounts, "changing the root")?;
    // The old root is mounted over the new one.
    mounts::detach(Path::new(".")).context(Mechanism::Mounts, "leaving the old root")?;
    rustix::process::chdir("/").context(Mechanism::Mounts, "/")?;
    for tree in &trees {
        put_read_only(tree)?;
    }
    for (link, target) in links {
        make_parents(&link)?;
        rustix::fs::symlinkat(&target, CWD, &link).context(Mechanism::Mounts, shown(&link))?;
    }
    Ok(())
}

fn put_read_only(tree: &Tree) -> Result<(), ConfineError> {
    mounts::set_attributes(tree.mount.as_fd(), Depth::Recursive, READ_ONLY | NO_SETUID | NO_DEVICES)
        .context(Mechanism::Mounts, shown(&tree.place))?;
    put(tree)
}

fn put_writable(tree: &Tree) -> Result<(), ConfineError> {
    mounts::set_attributes(tree.mount.as_fd(), Depth::Recursive, NO_SETUID | NO_DEVICES)
        .context(Mechanism::Mounts, shown(&tree.place))?;
    put(tree)
}

/// Puts a tree where it belongs. A place that is missing is made: this happens only in the session's own file systems,
/// all others are read-only by then.
fn put(tree: &Tree) -> Result<(), ConfineError> {
    if rustix::fs::lstat(&tree.place).is_err() {
        make_parents(&tree.place)?;
        let made = if tree.is_folder {
            rustix::fs::mkdir(&tree.place, Mode::from_raw_mode(0o755))
        } else {
            let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC;
            rustix::fs::open(&tree.place, flags, Mode::from_raw_mode(0o644)).map(drop)
        };
        made.context(Mechanism::Mounts, shown(&tree.place))?;
    }
    mounts::attach(&tree.mount, &tree.place).context(Mechanism::Mounts, shown(&tree.place))
}

fn make_parents(path: &Path) -> Result<(), ConfineError> {
    let Some(parent) = path.parent() else { return Ok(()) };
    std::fs::create_dir_all(parent).context(Mechanism::Mounts, shown(parent))
}

/// Covers a folder with one that has nothing but the exposed trees, and that can't be listed.
fn cover_all_but(folder: &Path, exposed: &[&Tree], writable: &[PathBuf]) -> Result<(), ConfineError> {
    // The folder is missing where the session has a file system of its own in its place.
    if rustix::fs::lstat(folder).is_err() {
        std::fs::create_dir_all(folder).context(Mechanism::Mounts, shown(folder))?;
    }
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let cover = mounts::new_filesystem(c"tmpfs", &[(c"mode", c"111")], attributes)
        .and_then(|cover| mounts::attach(&cover, folder).map(|()| cover))
        .context(Mechanism::Mounts, shown(folder))?;
    for tree in exposed {
        match writable.contains(&tree.place) {
            true => put_writable(tree)?,
            false => put_read_only(tree)?,
        }
    }
    mounts::set_attributes(cover.as_fd(), Depth::One, READ_ONLY).context(Mechanism::Mounts, shown(folder))
}

/// Makes each protected place that exists a read-only mount, and each folder above it, up to its root, a mount. The same
/// for folders above unreadable places: if one could be renamed, the next launcher would not know what to cover.
fn protect(confinement: &Confinement, aliases: &[(PathBuf, Identity)]) -> Result<(), ConfineError> {
    let mut places: BTreeSet<(PathBuf, bool)> = BTreeSet::new();
    let unreadable = confinement.unreadable.iter().chain(aliases.iter().map(|(name, _)| name));
    for path in unreadable.filter(|path| rustix::fs::lstat(path.as_path()).is_ok()) {
        for root in confinement.writable.iter().filter(|root| path.starts_with(root)) {
            places.extend(folders_between(root, path));
        }
    }
    for Protected { root, path } in &confinement.protected {
        for whole in existing(root, path) {
            places.extend(folders_between(root, &whole));
            places.insert((whole, true));
        }
    }
    // A path sorts before those beneath it, and unprotected before protected, so the stricter mount is on top.
    for (place, is_protected) in places {
        let mount = match mounts::copy_tree(&place) {
            Ok(mount) => mount,
            Err(Errno::NOENT | Errno::NOTDIR) => continue,
            Err(errno) => return Err(ConfineError::new(Mechanism::Mounts, shown(&place), errno)),
        };
        if is_protected {
            mounts::set_attributes(mount.as_fd(), Depth::Recursive, READ_ONLY)
                .context(Mechanism::Mounts, shown(&place))?;
        }
        mounts::attach(&mount, &place).context(Mechanism::Mounts, shown(&place))?;
    }
    Ok(())
}

/// The folders below `root` and above `place`, as places that are not protected themselves.
fn folders_between<'a>(root: &'a Path, place: &'a Path) -> impl Iterator<Item = (PathBuf, bool)> + 'a {
    let above = place.ancestors().skip(1).take_while(move |above| above.starts_with(root) && *above != root);
    above.map(|above| (above.to_owned(), false))
}

/// The places that a protected path stands for: itself, or for a pattern the names that exist now.
pub(crate) fn existing(root: &Path, path: &Path) -> Vec<PathBuf> {
    path.iter().fold(vec![root.to_owned()], |folders, component| {
        let pattern = component.as_bytes();
        if !pattern.ends_with(b"*") {
            return folders.iter().map(|folder| folder.join(component)).collect();
        }
        let names = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        let matching = names.filter(|entry| Protected::is_name(pattern, entry.file_name().as_bytes()));
        matching.map(|entry| entry.path()).collect()
    })
}

/// What unreadable places are covered with.
struct Hidden<'a> {
    file: &'a Path,
    folder: &'a Path,
}

impl Hidden<'_> {
    fn cover(&self, path: &Path) -> Result<(), ConfineError> {
        let Ok(stat) = rustix::fs::lstat(path) else { return Ok(()) };
        let cover = if FileType::from_raw_mode(stat.st_mode).is_dir() { self.folder } else { self.file };
        let mount = mounts::copy_tree(cover).context(Mechanism::Mounts, shown(cover))?;
        mounts::set_attributes(mount.as_fd(), Depth::One, READ_ONLY)
            .context(Mechanism::Mounts, shown(path))?;
        mounts::attach(&mount, path).context(Mechanism::Mounts, shown(path))
    }
}
