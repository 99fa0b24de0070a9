"""The part of calls.py about sockets. It runs in the same module."""


def sockets():
    def attempt(label, f):
        try:
            result = f()
        except OSError as e:
            result = errno.errorcode.get(e.errno, e.errno)
        except Exception as e:
            result = repr(e)
        print(label, "->", result, flush=True)
        return result
    kinds = [("stream", socket.SOCK_STREAM), ("datagram", socket.SOCK_DGRAM), ("seqpacket", socket.SOCK_SEQPACKET)]
    for name, kind in kinds:
        server = socket.socket(socket.AF_UNIX, kind)
        attempt(name + " bind", lambda: server.bind("sock-" + name))
        attempt(name + " name", server.getsockname)
        attempt(name + " mode", lambda: oct(os.stat("sock-" + name).st_mode))
        attempt(name + " bind again", lambda: server.bind("sock2-" + name))
        attempt(name + " bind used", lambda: socket.socket(socket.AF_UNIX, kind).bind("sock-" + name))
        attempt(name + " bind missing", lambda: socket.socket(socket.AF_UNIX, kind).bind("missing/x"))
        attempt(name + " bind file", lambda: socket.socket(socket.AF_UNIX, kind).bind("file"))
        attempt(name + " bind long", lambda: socket.socket(socket.AF_UNIX, kind).bind("x" * 107))
        attempt(name + " connect early", lambda: socket.socket(socket.AF_UNIX, kind).connect("sock-" + name))
        if kind != socket.SOCK_DGRAM:
            server.listen(1)
        client = socket.socket(socket.AF_UNIX, kind)
        attempt(name + " connect", lambda: client.connect("sock-" + name))
        attempt(name + " peer", client.getpeername)
        attempt(name + " connect again", lambda: client.connect("sock-" + name))
        attempt(name + " connect file", lambda: socket.socket(socket.AF_UNIX, kind).connect("file"))
        attempt(name + " connect missing", lambda: socket.socket(socket.AF_UNIX, kind).connect("missing"))
        attempt(name + " connect through file", lambda: socket.socket(socket.AF_UNIX, kind).connect("file/x"))
        attempt(name + " connect other kind", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET if kind == socket.SOCK_STREAM else socket.SOCK_STREAM).connect("sock-" + name))
        os.symlink("sock-" + name, "sl-" + name)
        attempt(name + " connect by link", lambda: socket.socket(socket.AF_UNIX, kind).connect("sl-" + name) if kind == socket.SOCK_DGRAM else "skip")
        attempt(name + " send", lambda: client.send(b"hello"))
        peer = server if kind == socket.SOCK_DGRAM else server.accept()[0]
        attempt(name + " received", lambda: peer.recv(100))
        read, write = os.pipe()
        attempt(name + " send descriptor", lambda: socket.send_fds(client, [b"fd"], [write]))
        data, fds, _, _ = socket.recv_fds(peer, 10, 4)
        attempt(name + " through it", lambda: (data, os.write(fds[0], b"p"), os.read(read, 1)))
        attempt(name + " sendmsg to", lambda: client.sendmsg([b"ab", b"c"], [], 0, "sock-" + name))
        attempt(name + " sendmsg to missing", lambda: client.sendmsg([b"a"], [], 0, "missing"))
        attempt(name + " sendto", lambda: client.sendto(b"abcd", "sock-" + name))
        attempt(name + " bad descriptor", lambda: client.sendmsg([b"a"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 99))]))
        peer.close()
        server.close()
        attempt(name + " send to closed", lambda: client.send(b"x"))
        attempt(name + " sendmsg to closed", lambda: client.sendmsg([b"x"]))
        attempt(name + " connect to closed", lambda: socket.socket(socket.AF_UNIX, kind).connect("sock-" + name))
    automatic = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    attempt("automatic bind", lambda: automatic.bind(""))
    other = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    attempt("abstract bind", lambda: other.bind("\0shellgate-test-%d" % os.getpid()))
    attempt("abstract send", lambda: automatic.sendto(b"x", other.getsockname()))
    attempt("abstract reply", lambda: other.sendto(b"x", other.recvfrom(10)[1]))
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    big = os.urandom(3 << 20)
    got = []
    def reader():
        while sum(map(len, got)) < len(big):
            got.append(b.recv(1 << 16))
    thread = threading.Thread(target=reader)
    thread.start()
    attempt("large sendmsg", lambda: a.sendmsg([big[:100], big[100:]]))
    thread.join()
    print("arrived", b"".join(got) == big)
    a.setblocking(False)
    attempt("full", lambda: [a.sendmsg([big]) > 0, a.sendmsg([big])])
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    attempt("datagram too long", lambda: a.sendmsg([big]))
    attempt("datagram empty", lambda: a.sendmsg([]))
    for length in [0, 1, 2, 3, 16, 200]:
        for kind in [socket.AF_UNIX, socket.AF_INET]:
            s = socket.socket(kind, socket.SOCK_DGRAM)
            for family in [0, 1, 2, 10, 99]:
                if kind == family == 1 and length > 2:
                    # An abstract name that the session doesn't have is refused.
                    continue
                buffer = ctypes.create_string_buffer(struct.pack("H", family) + b"\0" * 200, 202)
                print("connect", kind, family, length, call("connect", s.fileno(), buffer, length), call("bind", s.fileno(), buffer, length) if length > 2 and not (kind == 1 and family == 1) else "")
            s.close()
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    for number in [s.fileno(), 99, -1, os.open("file", O.O_RDONLY), os.open("file", O.O_PATH)]:
        for pointer in [ctypes.c_void_p(BAD), None]:
            print("pointer", number in (99, -1), call("connect", number, pointer, 16), call("bind", number, pointer, 16), call("sendto", number, b"x", 1, 0, pointer, 16), call("sendmsg", number, pointer, 0), call("sendmmsg", number, pointer, 1, 0))
    tcp = socket.socket()
    attempt("tcp bind", lambda: tcp.bind(("127.0.0.1", 0)))
    attempt("tcp refused", lambda: socket.socket().connect(("127.0.0.1", tcp.getsockname()[1])))
    tcp.listen(5)
    client = socket.socket()
    attempt("tcp connect", lambda: client.connect(tcp.getsockname()))
    attempt("tcp again", lambda: client.connect(tcp.getsockname()))
    lazy = socket.socket()
    lazy.setblocking(False)
    attempt("tcp non-blocking", lambda: lazy.connect(tcp.getsockname()))
    attempt("tcp sendmsg", lambda: client.sendmsg([b"abc"]))
    attempt("tcp received", lambda: tcp.accept()[0].recv(10))
    attempt("tcp timeout", lambda: (client.settimeout(1), client.sendmsg([b"abc"])))
    udp, to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    to.bind(("127.0.0.1", 0))
    attempt("udp sendto", lambda: udp.sendto(b"abc", to.getsockname()))
    attempt("udp sendmsg", lambda: udp.sendmsg([b"a", b"b"], [], 0, to.getsockname()))
    attempt("udp received", lambda: (to.recv(10), to.recv(10)))
    attempt("udp large", lambda: udp.sendto(b"x" * 70000, to.getsockname()))
    attempt("udp6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"abc", ("::1", 9)))
    attempt("low port", lambda: socket.socket().bind(("127.0.0.1", 99999)))
    print("interfaces", len(socket.if_nameindex()) > 0)
