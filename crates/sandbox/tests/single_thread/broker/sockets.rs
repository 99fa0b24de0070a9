//! Only sockets that the session made, or that were granted, can be reached.

use std::io::ErrorKind;
use std::os::unix::net::{UnixDatagram, UnixListener};

use shellgate_sandbox::launcher::Launcher;
use shellgate_sandbox::{Confinement, Operation, RefusalRule};

use super::{fail, succeed};
use crate::Test;
use crate::place::{Place, as_each_user, launcher, start};

pub(crate) const TESTS: &[Test] = &[
    ("sockets_outside_cannot_be_reached", sockets_outside_cannot_be_reached),
    ("sockets_of_the_session_can_be_reached", sockets_of_the_session_can_be_reached),
    ("granted_sockets_can_be_reached", granted_sockets_can_be_reached),
    (
        "an_address_that_changes_during_the_call_reaches_nothing",
        an_address_that_changes_during_the_call_reaches_nothing,
    ),
    (
        "a_send_before_the_first_datagram_socket_reaches_nothing",
        a_send_before_the_first_datagram_socket_reaches_nothing,
    ),
    ("ip_works", ip_works),
];

/// Sockets outside, and in the project but not of the session.
struct Outside {
    streams: Vec<UnixListener>,
    datagrams: Vec<UnixDatagram>,
}

impl Outside {
    fn new(place: &Place) -> Self {
        let names = ["outside/stream", "root/stream"].map(|name| place.path(name));
        let streams = names.map(|path| UnixListener::bind(path).unwrap()).into();
        let names = ["outside/datagram", "root/datagram"].map(|name| place.path(name));
        let datagrams = names.map(|path| UnixDatagram::bind(path).unwrap()).into();
        let outside = Self { streams, datagrams };
        outside.streams.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
        outside.datagrams.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
        outside
    }

    fn assert_unreached(&self, text: &str) {
        for socket in &self.streams {
            assert_eq!(socket.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "{text}");
        }
        for socket in &self.datagrams {
            assert_eq!(socket.recv(&mut [0; 9]).unwrap_err().kind(), ErrorKind::WouldBlock, "{text}");
        }
    }
}

fn python(launcher: &mut Launcher, place: &Place, text: &str) -> String {
    succeed(launcher, place, &format!("python3 -c '{text}'"))
}

const CONNECT: &str = "import socket,sys; s=socket.socket(socket.AF_UNIX)";
const DATAGRAM: &str = "import socket,sys; s=socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)";

fn sockets_outside_cannot_be_reached() {
    as_each_user(|place| {
        let outside = Outside::new(place);
        let (mut launcher, _pod) = launcher(&place.confinement());
        for text in [
            format!("{CONNECT}; s.connect(\"../outside/stream\")"),
            format!("{CONNECT}; s.connect(\"stream\")"),
            format!("{CONNECT}; s.connect(\"/proc/self/cwd/stream\")"),
            format!("{CONNECT}; import os; os.symlink(\"stream\", \"l\"); s.connect(\"l\")"),
            format!("{CONNECT}; import os; os.link(\"stream\", \"hard\"); s.connect(\"hard\")"),
            format!("{CONNECT}; import os; os.rename(\"stream\", \"new\"); os.rename(\"new\", \"stream\"); s.connect(\"stream\")"),
            format!("{DATAGRAM}; s.connect(\"../outside/datagram\")"),
            format!("{DATAGRAM}; s.sendto(b\"x\", \"../outside/datagram\")"),
            format!("{DATAGRAM}; s.sendmsg([b\"x\"], [], 0, \"datagram\")"),
            format!("{DATAGRAM}; s.sendmsg([b\"x\"], [], 0, \"../outside/datagram\")"),
            "import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b\"x\", \"datagram\")".to_owned(),
            "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_RAW); s.sendto(b\"x\", \"datagram\")".to_owned(),
        ] {
            let output = fail(&mut launcher, place, &format!("python3 -c '{text}'"));
            assert!(output.contains("Permission denied"), "{text}: {output}");
            outside.assert_unreached(&text);
        }
        let told: Vec<_> = crate::place::told(&launcher);
        assert_eq!((told[0].operation, told[0].rule), (Operation::Connect, RefusalRule::ForeignSocket));
        assert_eq!((&told[0].path, &told[0].grant), (&place.path("outside/stream"), &told[0].path));
        assert!(told.iter().any(|told| told.operation == Operation::Send), "{told:?}");
        // Abstract names are refused, too.
        let name = format!("shellgate-test-{}", std::process::id());
        let address =
            <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(&name);
        let machine = UnixListener::bind_addr(&address.unwrap()).unwrap();
        machine.set_nonblocking(true).unwrap();
        fail(&mut launcher, place, &format!("python3 -c '{CONNECT}; s.connect(\"\\0{name}\")'"));
        assert!(machine.accept().is_err());
    });
}

fn sockets_of_the_session_can_be_reached() {
    as_each_user(|place| {
        let (mut first, mut pod) = launcher(&place.confinement());
        let serve = "exec python3 -u -c 'import socket; s=socket.socket(socket.AF_UNIX); s.bind(\"own\"); s.listen(); d=socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); d.bind(\"owndgram\"); print(s.getsockname(), flush=True)\nwhile True:\n c=s.accept()[0]; c.send(b\"hi \" + d.recv(9)); c.close()'";
        let (_, mut up) = start(&mut first, &place.path("root"), serve);
        let mut line = [0; 4];
        std::io::Read::read_exact(&mut up, &mut line).unwrap();
        assert_eq!(&line, b"own\n", "the name is what was bound");
        let mut second = Launcher::start(&place.confinement(), &mut pod).unwrap();
        for launcher in [&mut first, &mut second] {
            let text = "import socket,os; d=socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); d.sendto(b\"you\", os.path.abspath(\"owndgram\")); s=socket.socket(socket.AF_UNIX); s.connect(\"own\"); print(s.recv(9).decode(), s.getpeername())";
            assert_eq!(python(launcher, place, text), "hi you own\n");
        }
        // A socket that was removed is forgotten with its file, although a new one may get the same number.
        succeed(&mut first, place, "rm own");
        let foreign = UnixListener::bind(place.path("root/own")).unwrap();
        foreign.set_nonblocking(true).unwrap();
        fail(&mut first, place, &format!("python3 -c '{CONNECT}; s.connect(\"own\")'"));
        assert!(foreign.accept().is_err());
        let manager = "from multiprocessing import Manager\nif __name__ == \"__main__\":\n m = Manager(); d = m.dict(); d[1] = 2; print(d)";
        let (mut temp, _) = (
            Launcher::start(
                &Confinement { temp: shellgate_sandbox::Temp::Private, ..place.confinement() },
                &mut pod,
            )
            .unwrap(),
            (),
        );
        place.write("root/manager.py", manager);
        assert_eq!(succeed(&mut temp, place, "python3 manager.py"), "{1: 2}\n");
    });
}

fn granted_sockets_can_be_reached() {
    as_each_user(|place| {
        let outside = Outside::new(place);
        let sockets = vec![place.path("outside/stream"), place.path("root/datagram")];
        let (mut launcher, mut pod) = launcher(&Confinement { sockets, ..place.confinement() });
        python(&mut launcher, place, &format!("{CONNECT}; s.connect(\"../outside/stream\"); s.send(b\"x\")"));
        assert!(outside.streams[0].accept().is_ok());
        python(
            &mut launcher,
            place,
            &format!("{DATAGRAM}; s.sendto(b\"x\", \"datagram\"); s.sendmsg([b\"x\"], [], 0, \"datagram\")"),
        );
        assert_eq!(outside.datagrams[1].recv(&mut [0; 9]).unwrap(), 1);
        assert_eq!(outside.datagrams[1].recv(&mut [0; 9]).unwrap(), 1);
        fail(&mut launcher, place, &format!("python3 -c '{CONNECT}; s.connect(\"stream\")'"));
        fail(
            &mut launcher,
            place,
            &format!("python3 -c '{DATAGRAM}; s.sendto(b\"x\", \"../outside/datagram\")'"),
        );
        // A link in the place of a granted socket grants nothing.
        fail(
            &mut launcher,
            place,
            &format!(
                "rm datagram; ln -s ../outside/datagram datagram; python3 -c '{DATAGRAM}; s.sendto(b\"x\", \"datagram\")'"
            ),
        );
        let mut next = Launcher::start(&place.confinement(), &mut pod).unwrap();
        fail(&mut next, place, &format!("python3 -c '{CONNECT}; s.connect(\"../outside/stream\")'"));
        outside.assert_unreached("the next command has no grant");
    });
}

/// Threads change the address, and what the descriptor is, while others connect and send.
const SWAP: &str = r#"
import ctypes, os, socket, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
own = socket.socket(socket.AF_UNIX); own.bind("1wn"); own.listen(4096)
dgram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); dgram.bind("1gram"); dgram.setblocking(False)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def address(path):
    return ctypes.create_string_buffer(struct.pack("H", socket.AF_UNIX) + path + b"\0", 60)
stream, gram = address(b"1wn"), address(b"1gram")
done = False
number = 200
os.dup2(udp.fileno(), number)
unix = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
def swap():
    while not done:
        stream[2] = b"2"; gram[2] = b"2"
        os.dup2(unix.fileno(), number)
        stream[2] = b"1"; gram[2] = b"1"
        os.dup2(udp.fileno(), number)
for _ in range(2):
    threading.Thread(target=swap).start()
sys.setswitchinterval(1e-6)
class Msg(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.c_void_p), ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int)]
data = ctypes.create_string_buffer(b"x", 1)
iov = (ctypes.c_size_t * 2)(ctypes.addressof(data), 1)
message = Msg(ctypes.addressof(gram), 9, ctypes.addressof(iov), 1, None, 0, 0)
good = bad = 0
for i in range(2000):
    stream[2] = gram[2] = b"2" if i // 3 % 2 else b"1"
    if i % 3 == 0:
        s = socket.socket(socket.AF_UNIX)
        result = libc.connect(s.fileno(), stream, 6)
        s.close()
        if result == 0:
            own.accept()[0].close()
    elif i % 3 == 1:
        result = libc.sendto(number, b"x", 1, 0, gram, 8)
    else:
        result = libc.sendmsg(number, ctypes.byref(message), 0)
    if result >= 0:
        good += 1
        try: dgram.recv(9)
        except BlockingIOError: pass
    else:
        bad += 1
done = True
print("good", good > 100, "bad", bad > 100)
"#;

fn an_address_that_changes_during_the_call_reaches_nothing() {
    as_each_user(|place| {
        place.write("swap.py", SWAP);
        let outside = Outside {
            streams: vec![UnixListener::bind(place.path("root/2wn")).unwrap()],
            datagrams: vec![UnixDatagram::bind(place.path("root/2gram")).unwrap()],
        };
        outside.streams[0].set_nonblocking(true).unwrap();
        outside.datagrams[0].set_nonblocking(true).unwrap();
        let (mut launcher, _pod) = launcher(&place.confinement());
        let output = succeed(&mut launcher, place, "python3 ../swap.py");
        assert_eq!(output, "good True bad True\n");
        outside.assert_unreached("a race");
    });
}

/// Many slow threads send with an address on an IP socket. Then the first datagram socket takes its number.
const LATE: &str = r#"
import ctypes, os, socket, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
number = 200
os.dup2(udp.fileno(), number)
path = b"datagram"
address = ctypes.create_string_buffer(struct.pack("H", socket.AF_UNIX) + path + b"\0", 60)
done = False
def send():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while not done:
        libc.sendto(number, b"x", 1, 0, address, 11)
threads = [threading.Thread(target=send) for _ in range(20)]
for thread in threads: thread.start()
time.sleep(0.05)
try:
    unix = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    os.dup2(unix.fileno(), number)
    print("made")
except OSError as error:
    print("refused", error.errno)
time.sleep(0.1)
done = True
"#;

fn a_send_before_the_first_datagram_socket_reaches_nothing() {
    as_each_user(|place| {
        place.write("late.py", LATE);
        let outside = Outside::new(place);
        for _ in 0..20 {
            let (mut launcher, _pod) = launcher(&place.confinement());
            let output = succeed(&mut launcher, place, "python3 ../late.py");
            assert!(output == "made\n" || output.starts_with("refused"), "{output}");
            outside.assert_unreached("a thread that was let go on before");
        }
    });
}

fn ip_works() {
    as_each_user(|place| {
        let (mut launcher, _pod) = launcher(&place.confinement());
        let text = "import socket,threading; s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen(); t=threading.Thread(target=lambda: s.accept()[0].sendall(b\"hi\")); t.start(); c=socket.create_connection(s.getsockname(), 5); print(c.recv(9)); t.join()";
        assert_eq!(python(&mut launcher, place, text), "b'hi'\n");
        // A connection that takes long doesn't hold up others, and a signal ends it.
        let slow = "import socket,threading,os,signal,time\nl=socket.socket(); l.bind((\"127.0.0.1\",0)); l.listen(0)\nfill=[socket.socket() for _ in range(4)]\nfor f in fill: f.setblocking(False); f.connect_ex(l.getsockname())\ndef connect():\n try: socket.socket().connect(l.getsockname())\n except OSError: pass\nthreads=[threading.Thread(target=connect, daemon=True) for _ in range(20)]\n[t.start() for t in threads]\ntime.sleep(0.1)\nstart=time.time(); open(\"quick\",\"w\").close(); print(time.time()-start < 1, flush=True)\nos._exit(0)";
        place.write("slow.py", slow);
        assert_eq!(succeed(&mut launcher, place, "python3 ../slow.py"), "True\n");
    });
}
