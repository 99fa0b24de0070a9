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
    for mask in [0, 0o77]:
        os.umask(mask)
        fd, error = openat2(HERE, ".", O.O_TMPFILE | O.O_RDWR, 0o666)
        os.umask(0o22)
        show("openat2 tmpfile", error or "fd", fd)
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


# The calls about sockets are here: socket_calls.py

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
