//! `/proc/PID/net/tcp`, `tcp6` and `unix`: sockets, as the process sees its network.

use std::path::PathBuf;

use super::ProcessFolder;

/// A TCP socket that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The number of the socket.
    pub socket: u64,
    /// The port.
    pub port: u16,
}

impl Listener {
    /// A line of `tcp` or `tcp6`: number, local address, remote address, state, …, socket. `None` for another state.
    fn parse(line: &str) -> Option<Self> {
        const LISTEN: &str = "0A";
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (_, port) = fields.get(1)?.rsplit_once(':')?;
        let listens = *fields.get(3)? == LISTEN;
        let socket = fields.get(9)?.parse().ok()?;
        listens.then_some(Self { socket, port: u16::from_str_radix(port, 16).ok()? })
    }
}

/// A local socket that is bound to a path. Of a socket in use only the listening end has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnixSocket {
    /// The number of the socket.
    pub socket: u64,
    /// The path, as it was bound.
    pub path: PathBuf,
}

impl UnixSocket {
    /// A line of `unix`: address, count, protocol, flags, type, state, number, path.
    fn parse(line: &str) -> Option<Self> {
        let (before, path) = line.split_once('/')?;
        let socket = before.split_ascii_whitespace().next_back()?.parse().ok()?;
        Some(Self { socket, path: PathBuf::from(format!("/{path}")) })
    }
}

impl ProcessFolder {
    /// The TCP sockets that listen. The kernel walks all connections for it, which takes milliseconds.
    #[must_use]
    pub fn tcp_listeners(self) -> Vec<Listener> {
        let tables = ["net/tcp", "net/tcp6"].map(|table| std::fs::read_to_string(self.path(table)));
        // The first line has the names of the columns.
        tables.iter().flatten().flat_map(|table| table.lines().skip(1).filter_map(Listener::parse)).collect()
    }

    /// The local sockets that are bound to a path.
    #[must_use]
    pub fn unix_sockets(self) -> Vec<UnixSocket> {
        let table = std::fs::read(self.path("net/unix")).unwrap_or_default();
        String::from_utf8_lossy(&table).lines().filter_map(UnixSocket::parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Link, own};
    use super::*;

    #[test]
    fn only_sockets_that_listen_are_taken() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 23045 1 0 100 0 0 10 0";
        assert_eq!(Listener::parse(line), Some(Listener { socket: 23045, port: 8080 }));
        let six = "   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0";
        assert_eq!(Listener::parse(six), Some(Listener { socket: 77, port: 80 }));
        assert_eq!(Listener::parse(&line.replace(" 0A ", " 01 ")), None, "a connection");
        assert_eq!(Listener::parse("   0: 0100007F:1F90 00000000:0000 0A"), None, "cut off");
    }

    #[test]
    fn a_path_may_hold_blanks() {
        let line = "0000000000000000: 00000002 00000000 00010000 0001 01 31337 /run/a b/sessions/x.1";
        let socket = UnixSocket { socket: 31337, path: "/run/a b/sessions/x.1".into() };
        assert_eq!(UnixSocket::parse(line), Some(socket));
        for other in [
            "Num       RefCount Protocol Flags    Type St Inode Path",
            "0000000000000000: 00000003 00000000 00000000 0001 03 12",
            "0000000000000000: 00000002 00000000 00010000 0001 01 13 @abstract",
        ] {
            assert_eq!(UnixSocket::parse(other), None, "{other}");
        }
    }

    #[test]
    fn our_own_sockets_are_in_the_tables() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b");
        let _unix = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let links = own().links();
        let is_ours = |socket: u64| links.contains(&Link::Socket(socket));
        assert!(own().tcp_listeners().iter().any(|found| found.port == port && is_ours(found.socket)));
        assert!(own().unix_sockets().iter().any(|found| found.path == path && is_ours(found.socket)));
    }
}
