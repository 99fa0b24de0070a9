//! Which sockets listen on which TCP ports.
//!
//! `/proc/PID/net/tcp` walks the kernel's table of all connections, which takes milliseconds even when it is empty, and `wait`
//! looks every few. The kernel's `sock_diag` answers about listeners alone in microseconds, but only about our own network: it is
//! asked where the process shares that. A request and a reply of fixed layout are no reason for a library.

use std::collections::BTreeMap;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use shellgate_exec::proc::{self, Namespace};

/// The type of a request about sockets, and of each answer.
const BY_FAMILY: u16 = 20;

/// Port by number of the socket.
pub(super) type Listeners = BTreeMap<u64, u16>;

/// The sockets that somebody listens on, as the process `pid` sees its network.
pub(super) fn listeners(pid: u32) -> Listeners {
    let asked = shares_our_network(pid).then(ask).flatten();
    asked.unwrap_or_else(|| in_tables_of(pid))
}

fn shares_our_network(pid: u32) -> bool {
    let network = |process: proc::ProcessFolder| process.namespace(Namespace::Network);
    network(proc::own()).is_some_and(|own| network(proc::of(pid)) == Some(own))
}

fn ask() -> Option<Listeners> {
    let kinds = [AddressFamily::INET, AddressFamily::INET6];
    let found: Option<Vec<Listeners>> = kinds.into_iter().map(ask_for).collect();
    found.map(|found| found.into_iter().flatten().collect())
}

/// Asks for the listeners of one family, in the words of `linux/netlink.h` and `linux/inet_diag.h`.
fn ask_for(family: AddressFamily) -> Option<Listeners> {
    const HEADER: usize = 16;
    const REQUEST: usize = HEADER + 56;
    const REQUEST_DUMP: u16 = 0x301;
    const TCP: u8 = 6;
    const LISTEN: u32 = 1 << 10;

    let how = SocketFlags::CLOEXEC;
    let kernel =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, how, Some(netlink::SOCK_DIAG))
            .ok()?;
    let mut request = Vec::with_capacity(REQUEST);
    request.extend(u32::try_from(REQUEST).ok()?.to_ne_bytes());
    request.extend(BY_FAMILY.to_ne_bytes());
    request.extend(REQUEST_DUMP.to_ne_bytes());
    request.resize(HEADER, 0);
    request.extend([u8::try_from(family.as_raw()).ok()?, TCP, 0, 0]);
    request.extend(LISTEN.to_ne_bytes());
    request.resize(REQUEST, 0);
    rustix::net::send(&kernel, &request, SendFlags::empty()).ok()?;

    let mut listeners = Listeners::new();
    let mut buffer = vec![0; 32 << 10];
    loop {
        let (filled, _) = rustix::net::recv(&kernel, &mut buffer[..], RecvFlags::empty()).ok()?;
        let mut rest = buffer.get(..filled)?;
        while let Some((message, others)) = next(rest) {
            match message {
                Message::Listener { socket, port } => drop(listeners.insert(socket, port)),
                Message::Done => return Some(listeners),
                Message::Other => return None,
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
    Other,
}

/// The first message of an answer, and what follows.
fn next(answer: &[u8]) -> Option<(Message, &[u8])> {
    const DONE: u16 = 3;
    let number = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
    let short = |at: usize| Some([*answer.get(at)?, *answer.get(at + 1)?]);
    let length = usize::try_from(number(0)?).ok().filter(|length| *length >= 16)?;
    let message = match u16::from_ne_bytes(short(4)?) {
        DONE => Message::Done,
        // Behind the header: four bytes, then the port; the socket's number is the last of 72.
        BY_FAMILY => {
            Message::Listener { socket: number(16 + 68)?.into(), port: u16::from_be_bytes(short(16 + 4)?) }
        }
        _ => Message::Other,
    };
    Some((message, answer.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

fn in_tables_of(pid: u32) -> Listeners {
    proc::of(pid).tcp_listeners().into_iter().map(|found| (found.socket, found.port)).collect()
}

#[cfg(test)]
mod tests {
    use shellgate_exec::proc::Link;

    use super::*;

    #[test]
    fn both_ways_know_our_listeners() {
        let four = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let six = std::net::TcpListener::bind(("::1", 0)).unwrap();
        let asked = ask().expect("this kernel has sock_diag");
        let read = in_tables_of(std::process::id());
        for listener in [four, six] {
            let port = listener.local_addr().unwrap().port();
            let fd = std::os::fd::AsRawFd::as_raw_fd(&listener).cast_unsigned();
            let Some(Link::Socket(socket)) = proc::own().link(fd) else { panic!("no socket") };
            assert_eq!((asked.get(&socket), read.get(&socket)), (Some(&port), Some(&port)));
            assert_eq!(listeners(std::process::id()).get(&socket), Some(&port));
        }
    }

    #[test]
    fn answers_that_make_no_sense_end_the_reading() {
        assert_eq!(next(&[]), None);
        assert_eq!(next(&[0; 40]), None, "a length of nothing");
        let mut error = vec![36, 0, 0, 0, 2, 0];
        error.resize(36, 0);
        assert_eq!(next(&error), Some((Message::Other, &[][..])));
    }
}
