//! Listening TCP sockets and their ports.
//!
//! Reading `/proc/PID/net/tcp` walks the kernel's table of all connections. That takes milliseconds even when the table is
//! empty, and `wait` polls every few milliseconds. The kernel's `sock_diag` lists listeners alone, in microseconds, but only
//! those of our own network namespace. So it is used for processes in our namespace, and `/proc` for the others. One request
//! and one reply of fixed layout don't need a library.

use std::collections::BTreeMap;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use shellgate_exec::proc::{self, Namespace};

/// The netlink message type of a `sock_diag` request, and of each answer.
const SOCK_DIAG_BY_FAMILY: u16 = 20;

/// Ports by the inode number of the socket.
pub(super) type Listeners = BTreeMap<u64, u16>;

/// All listening sockets in the network namespace of the process `pid`.
pub(super) fn listeners(pid: u32) -> Listeners {
    let found = shares_our_network(pid).then(query_sock_diag).flatten();
    found.unwrap_or_else(|| read_tables_of(pid))
}

fn shares_our_network(pid: u32) -> bool {
    let network = |process: proc::ProcessFolder| process.namespace(Namespace::Network);
    network(proc::own()).is_some_and(|own| network(proc::of(pid)) == Some(own))
}

fn query_sock_diag() -> Option<Listeners> {
    let kinds = [AddressFamily::INET, AddressFamily::INET6];
    let found: Option<Vec<Listeners>> = kinds.into_iter().map(query_family).collect();
    found.map(|found| found.into_iter().flatten().collect())
}

/// The listeners of one address family. The layout is in `linux/netlink.h` and `linux/inet_diag.h`.
fn query_family(family: AddressFamily) -> Option<Listeners> {
    const HEADER_BYTES: usize = 16;
    const REQUEST_BYTES: usize = HEADER_BYTES + 56;
    const REQUEST_DUMP_FLAGS: u16 = 0x301;
    const TCP_PROTOCOL: u8 = 6;
    const LISTEN_STATE_BIT: u32 = 1 << 10;

    let how = SocketFlags::CLOEXEC;
    let kernel =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, how, Some(netlink::SOCK_DIAG))
            .ok()?;
    let mut request = Vec::with_capacity(REQUEST_BYTES);
    request.extend(u32::try_from(REQUEST_BYTES).ok()?.to_ne_bytes());
    request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend(REQUEST_DUMP_FLAGS.to_ne_bytes());
    request.resize(HEADER_BYTES, 0);
    request.extend([u8::try_from(family.as_raw()).ok()?, TCP_PROTOCOL, 0, 0]);
    request.extend(LISTEN_STATE_BIT.to_ne_bytes());
    request.resize(REQUEST_BYTES, 0);
    rustix::net::send(&kernel, &request, SendFlags::empty()).ok()?;

    let mut listeners = Listeners::new();
    let mut buffer = vec![0; 32 << 10];
    loop {
        let (filled, _) = rustix::net::recv(&kernel, &mut buffer[..], RecvFlags::empty()).ok()?;
        let mut rest = buffer.get(..filled)?;
        while let Some((message, others)) = parse_message(rest) {
            match message {
                Message::Listener { socket, port } => drop(listeners.insert(socket, port)),
                Message::Done => return Some(listeners),
                Message::Error => return None,
            }
            rest = others;
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Message {
    Listener {
        socket: u64,
        port: u16,
    },
    Done,
    /// An error: the kernel has no `sock_diag`.
    Error,
}

/// The first message of an answer, and the bytes after it.
fn parse_message(answer: &[u8]) -> Option<(Message, &[u8])> {
    const DONE_TYPE: u16 = 3;
    let number = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
    let short = |at: usize| Some([*answer.get(at)?, *answer.get(at + 1)?]);
    let length = usize::try_from(number(0)?).ok().filter(|length| *length >= 16)?;
    let message = match u16::from_ne_bytes(short(4)?) {
        DONE_TYPE => Message::Done,
        // After the header come four bytes, then the port. The inode number is the last field of the 72 bytes.
        SOCK_DIAG_BY_FAMILY => {
            Message::Listener { socket: number(16 + 68)?.into(), port: u16::from_be_bytes(short(16 + 4)?) }
        }
        _ => Message::Error,
    };
    Some((message, answer.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// The listeners in `/proc/PID/net`.
fn read_tables_of(pid: u32) -> Listeners {
    proc::of(pid).tcp_listeners().into_iter().map(|found| (found.socket, found.port)).collect()
}

#[cfg(test)]
mod tests {
    use shellgate_exec::proc::Link;

    use super::*;

    #[test]
    fn sock_diag_and_proc_find_the_same_listeners() {
        let four = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let six = std::net::TcpListener::bind(("::1", 0)).unwrap();
        let queried = query_sock_diag().expect("this kernel has sock_diag");
        let read = read_tables_of(std::process::id());
        for listener in [four, six] {
            let port = listener.local_addr().unwrap().port();
            let fd = std::os::fd::AsRawFd::as_raw_fd(&listener).cast_unsigned();
            let Some(Link::Socket(socket)) = proc::own().link(fd) else { panic!("no socket") };
            assert_eq!((queried.get(&socket), read.get(&socket)), (Some(&port), Some(&port)));
            assert_eq!(listeners(std::process::id()).get(&socket), Some(&port));
        }
    }

    #[test]
    fn malformed_answers_are_not_parsed() {
        assert_eq!(parse_message(&[]), None);
        assert_eq!(parse_message(&[0; 40]), None, "a length of nothing");
        let mut error = vec![36, 0, 0, 0, 2, 0];
        error.resize(36, 0);
        assert_eq!(parse_message(&error), Some((Message::Error, &[][..])));
    }
}
