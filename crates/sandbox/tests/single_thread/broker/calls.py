"""Makes some hundred system calls and prints what each returned.

The test runs it without a broker and through one, in folders with the same content, and compares the output. Nothing in
the output may depend on where it runs: no absolute paths, no process ids, no times.
"""
import ctypes, errno, os, shutil, socket, stat, struct, sys, threading

libc = ctypes.CDLL(None, use_errno=True)
HERE = -100
BAD = 0x10
LONG = "n" * 256
FAR = "d/" * 2100


def call(name, *args):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*[ctypes.c_char_p(a.encode()) if isinstance(a, str) else a for a in args])
    return result, errno.errorcode.get(ctypes.get_errno(), ctypes.get_errno()) if result == -1 else ""


def raw(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(number, *[ctypes.c_char_p(a.encode()) if isinstance(a, str) else ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return result, errno.errorcode.get(ctypes.get_errno(), ctypes.get_errno()) if result == -1 else ""


def build():
    for name in ["t/ro", "t/dark", "t/renamed", "t/new"]:
        if os.path.isdir(name) and not os.path.islink(name):
            os.chmod(name, 0o700)
    shutil.rmtree("t", ignore_errors=True)
    old = os.umask(0)
    os.mkdir("t", 0o755)
    os.chdir("t")
    os.mkdir("dir", 0o755)
    os.mkdir("dir/sub", 0o755)
    os.mkdir("sticky", 0o1777)
    os.mkdir("full", 0o755)
    for name in ["file", "dir/inner", "full/x", "sticky/f"]:
        with open(name, "w") as f:
            f.write("content")
    os.mkdir("ro", 0o755)
    open("ro/old", "w").close()
    os.chmod("ro", 0o555)
    os.mkdir("dark", 0o600)
    for name, to in [("link", "file"), ("dlink", "dir"), ("broken", "missing"), ("deep", "missing/x"),
                     ("loop1", "loop2"), ("loop2", "loop1"), ("up", "../t/file"),
                     ("abs", os.getcwd() + "/absnew"), ("slash", "newdir/"), ("dot", "."), ("null", "/dev/null"),
                     ("fdlink", "/proc/self/fd/7"), ("dirnew", "dir/viaLink"), ("rolink", "ro/viaLink")]:
        os.symlink(to, name)
    os.mkfifo("fifo", 0o600)
    os.umask(old)


def digest():
    found = []
    for folder, folders, files in os.walk("."):
        for name in folders + files:
            path = os.path.join(folder, name)
            s = os.lstat(path)
            found.append("%s %o %d%s" % (path, s.st_mode, s.st_size if stat.S_ISREG(s.st_mode) else 0, " n%d" % s.st_nlink if stat.S_ISREG(s.st_mode) else ""))
    return sorted(found)


BASE = None


def show(label, result, fd=None):
    """Prints the result, what changed in the tree, and rebuilds the tree if something did."""
    global BASE
    text = "%s -> %s" % (label, result)
    if fd is not None and fd >= 0:
        s = os.fstat(fd)
        flags = libc.fcntl(fd, 3) & ~0o100000
        text += " mode %o flags %o cloexec %d" % (s.st_mode, flags, libc.fcntl(fd, 1))
        os.close(fd)
    now = digest()
    changed = [e for e in now if e not in BASE] + ["-" + e for e in BASE if e not in now]
    print(text, changed, flush=True)
    if changed:
        os.chdir("..")
        build()


PATHS = ["new", "file", "dir", "link", "dlink", "dlink/new", "broken", "deep", "loop1", "loop1/x", "up", "abs", "slash",
         "new/", "file/", "dir/", "dlink/", "link/", "broken/", ".", "..", "/", "//", "dir/.", "dir/..", "dir/../new", "file/x",
         "missing/x", "", LONG, FAR + "x", "dir/" + LONG, "ro/new", "ro/old", "ro/old/x", "dark/new", "../c/chain40", "../c/chain41",
         "../c/chain39", "sticky/new", "sticky/f", "dir/sub/../../dlink/sub/new", "/etc/passwd/x", "/nonexistent/x", "dot/new",
         "dot/./dot//new", "./new", "dirnew", "rolink", "/proc/self/cwd/new", "/proc/self/cwd/file", "/proc/thread-self/cwd/new",
         "/proc/self/root/nonexistent/x", "/proc/self/nonexistent", "/proc/self", "/proc/self/fd/99", "/proc/nonexistent/x",
         "/dev/null/x", "é", "a\\b", " "]

O = os


def opens():
    flags = [("w", O.O_WRONLY), ("r", 0), ("rw", O.O_RDWR), ("wt", O.O_WRONLY | O.O_TRUNC), ("x", O.O_WRONLY | O.O_EXCL),
             ("nf", O.O_WRONLY | O.O_NOFOLLOW), ("dir", O.O_DIRECTORY), ("ap", O.O_RDWR | O.O_APPEND | O.O_CLOEXEC),
             ("path", O.O_PATH), ("xnf", O.O_EXCL | O.O_NOFOLLOW | O.O_RDWR)]
    for path in PATHS:
        for name, flag in flags:
            fd, error = call("open", path, flag | O.O_CREAT | O.O_NONBLOCK, 0o666)
            show("open %s %.40s" % (name, path), error or "fd", fd)
    for path in ["fifo", "/dev/null", "null", "/dev/full", "fdlink"]:
        for name, flag in flags[:5]:
            fd, error = call("open", path, flag | O.O_CREAT | O.O_NONBLOCK, 0o666)
            show("open %s %s" % (name, path), error or "fd", fd)
    for mask in [0, 0o22, 0o77, 0o777]:
        for mode in [0o666, 0o777, 0o4755, 0o1777, 0o177777]:
            os.umask(mask)
            for n, f in [("open", lambda: call("open", "new", O.O_CREAT | O.O_WRONLY, mode)), ("creat", lambda: call("creat", "new", mode)), ("existing", lambda: call("creat", "file", mode))]:
                fd, error = f()
                os.umask(0o22)
                show("%s %o %o" % (n, mask, mode), error or "fd", fd)
                os.umask(mask)
            result = call("mkdir", "new", mode)
            os.umask(0o22)
            show("mkdir %o %o" % (mask, mode), result)
    for path in [None, ctypes.c_void_p(BAD)]:
        show("open pointer", call("open", path, O.O_CREAT | O.O_WRONLY, 0o600))
        show("mkdir pointer", call("mkdir", path, 0o600))
        show("rename pointer", call("rename", "file", path))
        show("symlink pointer", call("symlink", path, "new"))
    show("tmpfile", call("open", ".", O.O_TMPFILE | O.O_CREAT | O.O_RDWR, 0o600))
    show("tmpfile missing", call("open", "missing/x", O.O_TMPFILE | O.O_CREAT | O.O_RDWR, 0o600))


def hows():
    """openat2, by its number, which is the same everywhere."""
    def openat2(folder, path, flags, mode=0, resolve=0, size=24, tail=b""):
        how = ctypes.create_string_buffer(struct.pack("QQQ", flags, mode, resolve) + tail, 24 + len(tail))
        return raw(437, folder, path, how, size)
    folder = os.open("dir", O.O_RDONLY)
    for resolve in [0, 1, 2, 4, 8, 0x10, 0x20, 0x40]:
        for path in ["new", "inner", "sub/new", "../new", "../file", "/nonexistent/new", "sub/../new", "missing/x", "../dlink/new", "../broken", "sub/", "/dev/null"]:
            for name, flags, mode in [("create", O.O_CREAT | O.O_WRONLY, 0o640), ("read", 0, 0), ("excl", O.O_CREAT | O.O_EXCL | O.O_RDWR | O.O_CLOEXEC, 0o600)]:
                fd, error = openat2(folder, path, flags, mode, resolve)
                show("openat2 %d %s %s" % (resolve, name, path), error or "fd", fd)
    show("openat2 small", openat2(folder, "new", O.O_CREAT, 0o600, 0, 16))
    show("openat2 large", openat2(folder, "new", O.O_CREAT, 0o600, 0, 5000))
    fd, error = openat2(folder, "new", O.O_CREAT, 0o600, 0, 32, b"\0" * 8)
    show("openat2 tail", error or "fd", fd)
    show("openat2 tail set", openat2(folder, "new", O.O_CREAT, 0o600, 0, 32, b"\1" + b"\0" * 7))
    show("openat2 mode", openat2(folder, "new", 0, 0o600))
    show("openat2 flags", openat2(folder, "missing/x", 1 << 40, 0))
    show("openat2 mode bits", openat2(folder, "new", O.O_CREAT, 0o177777))
    show("openat2 null", raw(437, folder, "new", 0, 24))
    for path in ["/proc/self/fd/%d" % folder, "/proc/self/cwd/file", "link", "fifo"]:
        fd, error = openat2(HERE, path, O.O_RDONLY | O.O_NONBLOCK)
        show("openat2 read %s" % path.replace(str(folder), "N"), error or "fd", fd)
    os.close(folder)


def names():
    for path in PATHS:
        label = "%.40s" % path
        show("mkdir " + label, call("mkdir", path, 0o777))
        show("mkfifo " + label, call("mknod", path, stat.S_IFIFO | 0o666, 0))
        show("mknod 0 " + label, call("mknod", path, 0o666, 0))
        show("symlink " + label, call("symlink", "to", path))
        show("link to " + label, call("link", "file", path))
        if path.startswith("/") and not path.strip("/"):
            # For a command the root folder is in another mount than its project.
            continue
        show("link from " + label, call("link", path, "linked"))
        show("link following " + label, call("linkat", HERE, path, HERE, "linked", 0x400))
        show("rename to " + label, call("rename", "file", path))
        show("rename from " + label, call("rename", path, "renamed"))
        show("rename dir to " + label, call("rename", "dir", path))
        show("exchange " + label, call("renameat2", HERE, "file", HERE, path, 2))
        show("noreplace " + label, call("renameat2", HERE, "file", HERE, path, 1))
    show("mknod dir", call("mknod", "new", stat.S_IFDIR | 0o666, 0))
    show("mknod socket", call("mknod", "new", stat.S_IFSOCK | 0o666, 0))
    show("mknod regular", call("mknod", "new", stat.S_IFREG | 0o666, 0))
    show("rename full", call("rename", "dir/sub", "full"))
    show("rename into itself", call("rename", "dir", "dir/sub/x"))
    show("rename dir over file", call("rename", "dir", "file"))
    show("rename flags", call("renameat2", HERE, "file", HERE, "new", 64))
    show("rename both flags", call("renameat2", HERE, "file", HERE, "new", 3))
    show("link flags", call("linkat", HERE, "file", HERE, "new", 1))
    show("symlink empty", call("symlink", "", "new"))
    show("symlink long", call("symlink", "x" * 4095, "new"))
    show("symlink too long", call("symlink", "x" * 4096, "new"))


def folders():
    folder, path_only, file = os.open("dir", O.O_RDONLY), os.open("dir", O.O_PATH), os.open("file", O.O_RDONLY)
    gone = os.open("full", O.O_RDONLY)
    os.unlink("full/x"); os.rmdir("full")
    numbers = [("folder", folder), ("path", path_only), ("file", file), ("gone", gone), ("closed", 99), ("negative", -1), ("here", HERE)]
    for name, number in numbers:
        for path in ["new", "../new", "sub/new", "/nonexistent/x", "/dev/null", ""]:
            fd, error = call("openat", number, path, O.O_CREAT | O.O_RDWR, 0o600)
            show("openat %s %s" % (name, path), error or "fd", fd)
            show("mkdirat %s %s" % (name, path), call("mkdirat", number, path, 0o700))
            show("symlinkat %s %s" % (name, path), call("symlinkat", "to", number, path))
            show("linkat %s %s" % (name, path), call("linkat", HERE, "file", number, path, 0))
            show("renameat %s %s" % (name, path), call("renameat", HERE, "file", number, path))
            show("linkat empty %s %s" % (name, path), call("linkat", number, path, HERE, "linked", 0x1000))
    for number in [folder, path_only, file, gone]:
        os.close(number)
    temporary = os.open(".", O.O_TMPFILE | O.O_RDWR, 0o600)
    show("link of tmpfile", call("linkat", HERE, "/proc/self/fd/%d" % temporary, HERE, "linked", 0x400))
    show("link of tmpfile by descriptor", call("linkat", temporary, "", HERE, "linked", 0x1000))
    os.close(temporary)
    read, write = os.pipe()
    for path in ["/proc/self/fd/%d" % write, "/dev/fd/%d" % write, "/proc/thread-self/fd/%d" % write]:
        fd, error = call("open", path, O.O_CREAT | O.O_WRONLY | O.O_TRUNC, 0o600)
        if fd >= 0:
            os.write(fd, b"x")
            error = os.read(read, 1)
        show("open pipe", error, fd)
    here = os.getcwd()
    os.mkdir("away")
    os.chdir("away")
    os.rmdir("../away")
    print("in a folder that is gone", call("open", "new", O.O_CREAT, 0o600), call("mkdir", "new", 0o600), call("open", "../new", O.O_CREAT, 0o600))
    os.chdir(here)
    results = []
    thread = threading.Thread(target=lambda: results.append(call("mkdir", "new", 0o700)))
    thread.start(); thread.join()
    show("in a thread", results)


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


os.umask(0o22)
os.mkdir("c")
os.symlink("../t/file", "c/chain0")
for i in range(1, 46):
    os.symlink("chain%d" % (i - 1), "c/chain%d" % i)
build()
BASE = digest()
opens()
hows()
names()
folders()
os.chdir("..")
build()
sockets()
