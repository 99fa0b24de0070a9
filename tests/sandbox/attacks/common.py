# Runs attacks and prints a line for each: its name, a blank, and `done` or the name of the error that stopped it.
#
# A file of attacks follows this text. It defines `fixture`, which makes what is attacked, and one function for each attack.
# An attack returns when it succeeded. One that has an effect on files counts as done only if the files changed.
#
#   attacks.py fixture    makes what is attacked
#   attacks.py snapshot   prints what it is now
#   attacks.py attack     tries each attack
#   attacks.py control    the same where nothing is confined, with a new fixture for each
import ctypes, errno, itertools, json, os, shutil, signal, socket, stat, struct, sys, time, traceback

ATTACKS = []
HERE = os.path.dirname(os.path.abspath(__file__))
# An empty folder in the root, for each attack anew, unless the mode is read-only.
WORK = HERE + "/work"
PLAN = json.load(open(HERE + "/plan.json"))
C = ctypes.CDLL(None, use_errno=True)
C.syscall.restype = ctypes.c_long


class Refused(Exception):
    """The attack was stopped without an error of the kernel."""


def attack(function):
    ATTACKS.append(function)
    return function


def unseen_attack(function):
    """An attack with an effect that no file shows."""
    function.is_unseen = True
    return attack(function)


def call(number, *arguments):
    """A system call by its number."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = C.syscall(ctypes.c_long(number), *wide)
    if result == -1:
        raise OSError(ctypes.get_errno(), "call %d" % number)
    return result


def text(path, content="kept"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content)


def read(path):
    with open(path) as file:
        return file.read()


def link_descriptor(handle, path):
    """Gives an open file a further name."""
    if C.linkat(-100, b"/proc/self/fd/%d" % handle, -100, path.encode(), 0x400) == -1:
        raise OSError(ctypes.get_errno(), path)


def remove(path):
    if os.path.islink(path) or not os.path.isdir(path):
        if os.path.lexists(path):
            os.unlink(path)
    else:
        shutil.rmtree(path)


def snapshot():
    """All that can be changed of the files in `PLAN["watched"]`."""
    lines = []
    for top in PLAN["watched"]:
        paths = [top] + [os.path.join(at, name) for at, folders, files in os.walk(top) for name in folders + files]
        for path in sorted(paths):
            if not os.path.lexists(path):
                lines.append([path, "absent"])
                continue
            found = os.lstat(path)
            line = [path, oct(found.st_mode), found.st_uid, found.st_nlink, found.st_mtime_ns]
            if stat.S_ISREG(found.st_mode):
                line += [read(path), os.listxattr(path)]
            if stat.S_ISLNK(found.st_mode):
                line += [os.readlink(path)]
            lines.append(line)
    return lines


def attempt(function):
    """What becomes of an attack in a process of its own."""
    if os.access(HERE, os.W_OK):
        remove(WORK)
        os.mkdir(WORK)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        if "HAS_OWN_MOUNTS" in globals() and sys.argv[1] == "control":
            assert C.unshare(0x20000) == 0
        try:
            function()
            result = "done"
        except OSError as error:
            result = errno.errorcode.get(error.errno, repr(error))
        except Refused as refused:
            result = "refused"
        except BaseException:
            result = "broken: " + traceback.format_exc().replace("\n", " | ")
        os.write(writer, result.encode())
        os._exit(0)
    os.close(writer)
    result = b""
    while part := os.read(reader, 4096):
        result += part
    os.close(reader)
    os.waitpid(child, 0)
    return result.decode() or "ended"


def main():
    what, wanted = sys.argv[1], sys.argv[2:]
    if what == "fixture":
        fixture()
    elif what == "snapshot":
        for line in snapshot():
            print(json.dumps(line))
    else:
        for function in ATTACKS:
            if wanted and function.__name__ not in wanted:
                continue
            if what == "control":
                fixture()
                before = snapshot()
            result = attempt(function)
            if what == "control" and result == "done" and not hasattr(function, "is_unseen") and snapshot() == before:
                result = "without effect"
            print(function.__name__, result, flush=True)
