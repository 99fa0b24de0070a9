//! `/proc/PID/fd` and `/proc/PID/fdinfo`.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::{ProcessFolder, line_of, numbers_in};

/// What a descriptor is open on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// A socket, by its number.
    Socket(u64),
    /// A pipe, by its number.
    Pipe(u64),
    /// A file with a name. One that was removed ends in ` (deleted)`.
    File(PathBuf),
    /// Something else that has no name: an epoll descriptor, a file in memory.
    Other,
}

impl Link {
    fn parse(target: &Path) -> Self {
        if target.is_absolute() {
            return Self::File(target.to_owned());
        }
        let text = target.to_str().unwrap_or_default();
        let number = |kind: &str| text.strip_prefix(kind)?.strip_suffix(']')?.parse().ok();
        match (number("socket:["), number("pipe:[")) {
            (Some(socket), _) => Self::Socket(socket),
            (_, Some(pipe)) => Self::Pipe(pipe),
            _ => Self::Other,
        }
    }
}

/// What the kernel says about an open descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorInfo {
    /// The flags that it was opened with.
    pub flags: u32,
    /// For an epoll descriptor: the descriptors that it waits for, and the events.
    pub awaited: Vec<(u64, u32)>,
}

impl DescriptorInfo {
    fn parse(text: &str) -> Option<Self> {
        let flags = line_of(text, "flags:").and_then(|flags| u32::from_str_radix(flags, 8).ok())?;
        // `tfd:        5 events:       19 data:                5  pos:0 ino:c sdev:d`
        let awaited = text.lines().filter_map(|line| {
            let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
            let fd = words.next()?.parse().ok()?;
            let events = words.nth(1).and_then(|word| u32::from_str_radix(word, 16).ok())?;
            Some((fd, events))
        });
        Some(Self { flags, awaited: awaited.collect() })
    }
}

impl ProcessFolder {
    /// The numbers of its open descriptors.
    ///
    /// # Errors
    /// When the process is gone or belongs to another user.
    pub fn descriptors(self) -> io::Result<Vec<u32>> {
        numbers_in(self.path("fd"))
    }

    /// What each of its descriptors is open on. Empty when they aren't ours to see.
    #[must_use]
    pub fn links(self) -> Vec<Link> {
        let descriptors = self.descriptors().unwrap_or_default();
        descriptors.into_iter().filter_map(|fd| self.link(fd)).collect()
    }

    /// What descriptor `fd` is open on.
    #[must_use]
    pub fn link(self, fd: u32) -> Option<Link> {
        std::fs::read_link(self.path(&format!("fd/{fd}"))).ok().map(|target| Link::parse(&target))
    }

    /// The file that descriptor `fd` is open on.
    #[must_use]
    pub fn descriptor_metadata(self, fd: u64) -> Option<Metadata> {
        self.path(&format!("fd/{fd}")).metadata().ok()
    }

    /// More about descriptor `fd`.
    #[must_use]
    pub fn descriptor_info(self, fd: u64) -> Option<DescriptorInfo> {
        let text = std::fs::read_to_string(self.path(&format!("fdinfo/{fd}"))).ok()?;
        DescriptorInfo::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::MetadataExt as _;

    use super::super::{of, own};
    use super::*;

    #[test]
    fn links_are_told_apart() {
        let link = |text: &str| Link::parse(Path::new(text));
        assert_eq!(link("socket:[4242]"), Link::Socket(4242));
        assert_eq!(link("pipe:[7]"), Link::Pipe(7));
        assert_eq!(link("/tmp/pipe:[7]"), Link::File("/tmp/pipe:[7]".into()));
        assert_eq!(link("/tmp/a b (deleted)"), Link::File("/tmp/a b (deleted)".into()));
        for other in ["anon_inode:[eventpoll]", "anon_inode:[signalfd]", "pipe:[x]", "socket:[1", ""] {
            assert_eq!(link(other), Link::Other, "{other}");
        }
    }

    #[test]
    fn flags_are_octal_and_an_epoll_descriptor_names_what_it_waits_for() {
        let plain = "pos:\t0\nflags:\t02100002\nmnt_id:\t15\nino:\t57\n";
        assert_eq!(
            DescriptorInfo::parse(plain),
            Some(DescriptorInfo { flags: 0o2_100_002, awaited: vec![] })
        );
        let epoll = "pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t1057\n\
                     tfd:        5 events:       19 data:                5  pos:0 ino:c sdev:d\n\
                     tfd:       12 events: 80000001 data:  ffffffff00000c  pos:0 ino:d sdev:d\n";
        let awaited = vec![(5, 0x19), (12, 0x8000_0001)];
        assert_eq!(DescriptorInfo::parse(epoll), Some(DescriptorInfo { flags: 2, awaited }));
        assert_eq!(DescriptorInfo::parse(""), None);
    }

    #[test]
    fn our_own_socket_is_found() {
        let socket = std::net::UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        let fd = socket.as_raw_fd().cast_unsigned();
        let Some(Link::Socket(number)) = own().link(fd) else { panic!("no socket") };
        assert!(of(std::process::id()).links().contains(&Link::Socket(number)));
        assert_eq!(own().descriptor_metadata(fd.into()).unwrap().ino(), number);
        assert!(own().descriptor_info(fd.into()).is_some());
        assert_eq!((of(u32::MAX).links(), of(u32::MAX).link(0)), (vec![], None));
    }
}
