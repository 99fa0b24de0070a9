//! `/proc/PID/cgroup`, `mountinfo`, `ns/`, `exe` and `cwd`: where a process is.

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::ProcessFolder;

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the kernel's names say it")]
pub enum Namespace {
    Mount,
    Network,
    Pid,
    User,
    Ipc,
    Uts,
    Cgroup,
}

impl Namespace {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Mount, Self::Network, Self::Pid, Self::User, Self::Ipc, Self::Uts, Self::Cgroup];

    const fn file(self) -> &'static str {
        match self {
            Self::Mount => "mnt",
            Self::Network => "net",
            Self::Pid => "pid",
            Self::User => "user",
            Self::Ipc => "ipc",
            Self::Uts => "uts",
            Self::Cgroup => "cgroup",
        }
    }
}

/// A file system in the tree of files, as `mountinfo` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The folder of the file system that is at its top.
    pub root: String,
    /// The folder that it is mounted on.
    pub place: PathBuf,
    /// The type of the file system.
    pub kind: String,
    /// The options of the file system.
    pub options: Vec<String>,
}

impl Mount {
    /// All lines of `mountinfo`.
    pub(crate) fn parse_all(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::parse).collect()
    }

    /// One line: `36 35 98:0 ROOT PLACE rw … - TYPE SOURCE OPTIONS`.
    fn parse(line: &str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, at) = (unescape(place.next()?), unescape(place.next()?));
        let mut kind = kind.split(' ');
        let name = kind.next()?.to_owned();
        let options = kind.nth(1)?.split(',').map(ToOwned::to_owned).collect();
        let root = root.to_string_lossy().into_owned();
        Some(Self { root, place: PathBuf::from(at), kind: name, options })
    }
}

/// Blanks, tabs, line ends and backslashes in a path are written as `\` and three octal digits.
fn unescape(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.first_chunk::<3>().filter(|_| *first == b'\\').and_then(octal);
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { behind.get(3..).unwrap_or_default() } else { behind };
    }
    OsString::from_vec(bytes)
}

fn octal(digits: &[u8; 3]) -> Option<u8> {
    u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok()
}

/// A control group that a process is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupMembership {
    /// The controllers of the hierarchy; none for version 2.
    pub controllers: Vec<String>,
    /// The group's path in its hierarchy.
    pub path: String,
}

impl CgroupMembership {
    /// All lines of `cgroup`.
    pub(crate) fn parse_all(text: &str) -> Vec<Self> {
        text.lines().filter_map(Self::parse).collect()
    }

    /// One line: `NUMBER:CONTROLLERS:PATH`.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.to_owned());
        let controllers = controllers.split(',').filter(|name| !name.is_empty()).map(ToOwned::to_owned);
        Some(Self { controllers: controllers.collect(), path })
    }
}

impl ProcessFolder {
    /// The whole file system as it sees it.
    #[must_use]
    pub(crate) fn root(self) -> PathBuf {
        self.path("root")
    }

    /// The file that opens new terminals where the process is.
    #[must_use]
    pub(crate) fn terminal_multiplexer(self) -> PathBuf {
        self.path("root/dev/pts/ptmx")
    }

    /// Its control groups, one for each hierarchy.
    #[must_use]
    pub fn cgroups(self) -> Vec<CgroupMembership> {
        let text = std::fs::read_to_string(self.path("cgroup")).unwrap_or_default();
        CgroupMembership::parse_all(&text)
    }

    /// The file systems that it sees.
    #[must_use]
    pub fn mounts(self) -> Vec<Mount> {
        let text = std::fs::read(self.path("mountinfo")).unwrap_or_default();
        Mount::parse_all(&String::from_utf8_lossy(&text))
    }

    /// The number of a namespace that it is in.
    #[must_use]
    pub fn namespace(self, namespace: Namespace) -> Option<u64> {
        self.path(&format!("ns/{}", namespace.file())).metadata().ok().map(|file| file.ino())
    }

    /// The program that it runs.
    #[must_use]
    pub fn program(self) -> Option<PathBuf> {
        std::fs::read_link(self.path("exe")).ok()
    }

    /// Its working directory.
    #[must_use]
    pub fn directory(self) -> Option<PathBuf> {
        std::fs::read_link(self.path("cwd")).ok()
    }
}

/// Where descriptor `fd` of this process leads, by a path that is short however long the file's own path is.
#[must_use]
pub fn path_of_own_descriptor(fd: impl AsFd) -> PathBuf {
    super::own().path(&format!("fd/{}", fd.as_fd().as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use super::super::{of, own};
    use super::*;

    #[test]
    fn a_mount_is_read_with_and_without_optional_fields() {
        let with =
            "35 31 0:32 /box /sys/fs/cgroup/memory rw,relatime shared:9 master:1 - cgroup cgroup rw,memory";
        let mount = Mount::parse(with).unwrap();
        assert_eq!((mount.root.as_str(), mount.kind.as_str()), ("/box", "cgroup"));
        assert_eq!(
            (mount.place.as_path(), mount.options),
            (Path::new("/sys/fs/cgroup/memory"), vec!["rw".to_owned(), "memory".to_owned()])
        );
        let without = "41 31 0:38 / / rw - ext4 /dev/vda1 rw";
        assert_eq!(Mount::parse(without).unwrap().kind, "ext4");
        for broken in ["", "41 31 0:38 /", "41 31 0:38 / / rw ext4 /dev/vda1 rw", "1 2 3 / / rw - ext4"] {
            assert_eq!(Mount::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn blanks_in_paths_are_unescaped() {
        let line = r"41 31 0:38 / /mnt/a\040b\011c\134d\9z rw - ext4 /dev/vda1 rw";
        assert_eq!(Mount::parse(line).unwrap().place.as_os_str().as_bytes(), b"/mnt/a b\tc\\d\\9z");
    }

    #[test]
    fn groups_of_both_versions_are_read() {
        let group =
            |line: &str| CgroupMembership::parse(line).map(|group| (group.controllers.join("+"), group.path));
        assert_eq!(group("2:cpu,cpuacct:/a:b"), Some(("cpu+cpuacct".to_owned(), "/a:b".to_owned())));
        assert_eq!(group("0::/user.slice"), Some((String::new(), "/user.slice".to_owned())));
        assert_eq!(group("4:memory"), None);
    }

    #[test]
    fn we_are_in_our_own_namespaces_and_folder() {
        let pid = std::process::id();
        for namespace in Namespace::ALL {
            assert_eq!(own().namespace(namespace), of(pid).namespace(namespace), "{namespace:?}");
        }
        assert!(own().namespace(Namespace::Mount).is_some());
        assert_eq!(own().directory(), std::env::current_dir().ok());
        assert_eq!(own().program(), std::env::current_exe().ok());
        assert!(own().mounts().iter().any(|mount| mount.kind == "proc"));
    }
}
