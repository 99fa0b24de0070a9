//! Tests as root and as an ordinary user.
//!
//! Where the tests run as root, the ordinary user is [`ORDINARY`]. Where they run as an ordinary user, root is user 0 of
//! a user namespace, which has all capabilities in it and none outside.

use std::path::{Path, PathBuf};

use crate::in_child;

/// A user that exists nowhere and owns nothing.
const ORDINARY: u32 = 12345;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Ordinary,
    /// An ordinary user who is root in a user namespace of its own.
    Namespaced,
}

/// Runs `body` in a child process as `user`.
pub(crate) fn run_as(user: User, body: impl FnOnce()) {
    in_child(|| {
        let is_root = rustix::process::geteuid().is_root();
        match user {
            User::Root if is_root => {}
            User::Root => enter_user_namespace(),
            User::Ordinary | User::Namespaced if is_root => become_ordinary(),
            User::Ordinary | User::Namespaced => {}
        }
        if user == User::Namespaced {
            enter_user_namespace();
        }
        body();
    });
}

/// Runs `body` as root, as an ordinary user, and as one in a user namespace.
pub(crate) fn as_each_user(body: impl Fn(User)) {
    for user in [User::Root, User::Ordinary, User::Namespaced] {
        println!("as {user:?}");
        run_as(user, || body(user));
    }
}

/// Whether the tests run as root of the machine, and not of a user namespace.
pub(crate) fn is_real_root() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    let whole = map.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    rustix::process::geteuid().is_root() && whole
}

fn become_ordinary() {
    // SAFETY: an empty list is read from nowhere.
    assert_eq!(unsafe { libc::setgroups(0, std::ptr::null()) }, 0);
    // SAFETY: no memory is involved; the process has one thread.
    assert_eq!(unsafe { libc::setresgid(ORDINARY, ORDINARY, ORDINARY) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setresuid(ORDINARY, ORDINARY, ORDINARY) }, 0);
    // A change of user takes `/proc/self` away from us, which a launcher gets back the same way.
    // SAFETY: no memory is involved.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1) }, 0);
}

/// A user namespace of its own, in which the user is root.
pub(crate) fn enter_user_namespace() {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // SAFETY: no memory is involved; the process has one thread.
    assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWUSER) }, 0, "{}", std::io::Error::last_os_error());
    std::fs::write("/proc/self/setgroups", "deny").unwrap();
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1")).unwrap();
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1")).unwrap();
}

/// A folder that every user may write, removed at the end of the test. Make it before the child that is confined.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let own = std::process::id();
        let path = std::env::temp_dir().join(format!("shellgate-walls-{name}-{own}"));
        std::fs::create_dir(&path).unwrap();
        open_to_all(&path);
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A new folder in it, open to all.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        std::fs::create_dir(&path).unwrap();
        open_to_all(&path);
        path
    }

    /// A new file in it, open to all.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path.join(name);
        std::fs::write(&path, content).unwrap();
        open_to_all(&path);
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
}
