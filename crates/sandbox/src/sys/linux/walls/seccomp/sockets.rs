//! Rules for sockets: which kinds can be made.
//!
//! An allow-list of families, because most families of the kernel are rarely used and loaded on demand. Unix sockets,
//! IPv4 and IPv6 are open here: the network namespace decides what IP reaches, and notifications decide which Unix
//! sockets are reached.

use super::calls::{self, Call};
use super::rules::Argument::{First, Second, Third};
use super::rules::{Action, Condition, RefusalErrno, Rule, equals, masked};

const FAMILY_UNIX: Condition = equals(First, libc::AF_UNIX as u32);
/// Both versions: their numbers, 2 and 10, differ in this bit and in no other.
const FAMILY_IP: Condition = masked(First, !IP_VERSION_BIT, libc::AF_INET as u32);
const IP_VERSION_BIT: u32 = (libc::AF_INET ^ libc::AF_INET6) as u32;
const _: () = assert!(IP_VERSION_BIT.is_power_of_two() && libc::AF_INET & libc::AF_INET6 == libc::AF_INET);
const FAMILY_NETLINK: Condition = equals(First, libc::AF_NETLINK as u32);
/// Without the flags for non-blocking and close-on-exec, which share the parameter.
const KIND_MASK: u32 = 0xf;
const KIND_STREAM: Condition = masked(Second, KIND_MASK, libc::SOCK_STREAM as u32);
const KIND_DATAGRAM: Condition = masked(Second, KIND_MASK, libc::SOCK_DGRAM as u32);
const KIND_RAW: Condition = masked(Second, KIND_MASK, libc::SOCK_RAW as u32);
const KIND_PACKET: Condition = masked(Second, KIND_MASK, SOCK_PACKET);
const SOCK_PACKET: u32 = 10;
const ROUTES: Condition = equals(Third, libc::NETLINK_ROUTE as u32);
const ANY_PROTOCOL: Condition = equals(Third, 0);
const TCP: Condition = equals(Third, libc::IPPROTO_TCP as u32);
const MULTIPATH_TCP: Condition = equals(Third, libc::IPPROTO_MPTCP as u32);
const UDP: Condition = equals(Third, libc::IPPROTO_UDP as u32);
const ICMP: Condition = equals(Third, libc::IPPROTO_ICMP as u32);
const ICMPV6: Condition = equals(Third, libc::IPPROTO_ICMPV6 as u32);

const SOCKET: &[Call] = &[calls::SOCKET];
const PAIR: &[Call] = &[calls::SOCKETPAIR];

const fn allow(calls: &'static [Call], when: &'static [Condition], reason: &'static str) -> Rule {
    Rule { calls, when, action: Action::Allow, reason }
}

const fn refuse(
    calls: &'static [Call],
    when: &'static [Condition],
    errno: RefusalErrno,
    reason: &'static str,
) -> Rule {
    Rule { calls, when, action: Action::Refuse(errno), reason }
}

const fn notify(when: &'static [Condition]) -> Rule {
    Rule {
        calls: &[calls::SOCKET, calls::SOCKETPAIR],
        when,
        action: Action::Notify,
        reason: "it can send to sockets that it is not connected to",
    }
}

/// Rules of a group, tried before the others. The kernel takes a raw Unix socket for a datagram socket.
pub(super) const NOTIFY_DATAGRAMS: &[Rule] =
    &[notify(&[FAMILY_UNIX, KIND_DATAGRAM]), notify(&[FAMILY_UNIX, KIND_RAW])];

const STREAMS: &str = "TCP, and the multipath TCP that Go servers ask for";
const DATAGRAMS: &str = "UDP, and the echo requests of ping";

/// Rules that always hold.
pub(super) const SOCKETS: &[Rule] = &[
    allow(SOCKET, &[FAMILY_UNIX], "which of them can be reached is decided when they connect"),
    allow(SOCKET, &[FAMILY_NETLINK, ROUTES], "getifaddrs lists the interfaces by it"),
    refuse(
        SOCKET,
        &[KIND_RAW],
        RefusalErrno::EPERM,
        "reads and forges packets; the error is that of a missing capability",
    ),
    refuse(SOCKET, &[KIND_PACKET], RefusalErrno::EPERM, "the old name of a raw socket"),
    allow(SOCKET, &[FAMILY_IP, KIND_STREAM, ANY_PROTOCOL], STREAMS),
    allow(SOCKET, &[FAMILY_IP, KIND_STREAM, TCP], STREAMS),
    allow(SOCKET, &[FAMILY_IP, KIND_STREAM, MULTIPATH_TCP], STREAMS),
    allow(SOCKET, &[FAMILY_IP, KIND_DATAGRAM, ANY_PROTOCOL], DATAGRAMS),
    allow(SOCKET, &[FAMILY_IP, KIND_DATAGRAM, UDP], DATAGRAMS),
    allow(SOCKET, &[FAMILY_IP, KIND_DATAGRAM, ICMP], DATAGRAMS),
    allow(SOCKET, &[FAMILY_IP, KIND_DATAGRAM, ICMPV6], DATAGRAMS),
    refuse(SOCKET, &[FAMILY_IP], RefusalErrno::EPROTONOSUPPORT, "SCTP, DCCP and others: rarely used code"),
    refuse(
        SOCKET,
        &[],
        RefusalErrno::EAFNOSUPPORT,
        "vsock reaches the host, the others (packet, key, alg, xdp, bluetooth, tipc, rds, can …) the kernel",
    ),
    allow(PAIR, &[FAMILY_UNIX], "the two ends know only each other"),
    refuse(PAIR, &[], RefusalErrno::EAFNOSUPPORT, "only TIPC has other pairs"),
];
