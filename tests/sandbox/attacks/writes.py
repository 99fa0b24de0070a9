# Attacks on files outside the root, which the same user owns.
OUTSIDE = PLAN["outside"]
FILE = OUTSIDE + "/file"
INSIDE = HERE + "/inside"


def fixture():
    remove(OUTSIDE)
    text(FILE)
    text(OUTSIDE + "/full/file")
    os.mkdir(OUTSIDE + "/empty")
    os.mkfifo(OUTSIDE + "/pipe")
    os.symlink("file", OUTSIDE + "/link")
    remove(INSIDE)
    text(INSIDE + "/file", "evil")
    os.symlink(FILE, INSIDE + "/to-file")
    os.symlink(OUTSIDE, INSIDE + "/to-outside")


def overwrite(path, flags=0):
    handle = os.open(path, os.O_WRONLY | flags)
    os.write(handle, b"evil")


@attack
def write(): overwrite(FILE)

@attack
def append(): overwrite(FILE, os.O_APPEND)

@attack
def write_with_creat(): overwrite(FILE, os.O_CREAT | os.O_TRUNC)

@attack
def open_for_both(): os.write(os.open(FILE, os.O_RDWR), b"evil")

@attack
def truncate(): os.truncate(FILE, 0)

@attack
def create(): overwrite(OUTSIDE + "/new", os.O_CREAT | os.O_EXCL)

@attack
def create_with_openat2():
    how = struct.pack("QQQ", os.O_WRONLY | os.O_CREAT, 0o600, 0)
    call(437, -100, ctypes.c_char_p((OUTSIDE + "/new").encode()), ctypes.c_char_p(how), len(how))

@attack
def create_nameless():
    handle = os.open(OUTSIDE, os.O_TMPFILE | os.O_WRONLY, 0o600)
    link_descriptor(handle, OUTSIDE + "/new")

@attack
def nameless_from_inside():
    handle = os.open(INSIDE, os.O_TMPFILE | os.O_WRONLY, 0o600)
    link_descriptor(handle, OUTSIDE + "/new")

@attack
def make_folder(): os.mkdir(OUTSIDE + "/new")

@attack
def make_pipe(): os.mkfifo(OUTSIDE + "/new")

@attack
def make_link(): os.symlink("/", OUTSIDE + "/new")

@attack
def bind_socket(): socket.socket(socket.AF_UNIX).bind(OUTSIDE + "/new")

@attack
def bind_datagram_socket(): socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind(OUTSIDE + "/new")

@attack
def unlink(): os.unlink(FILE)

@attack
def remove_folder(): os.rmdir(OUTSIDE + "/empty")

@attack
def remove_by_folder_descriptor(): os.unlink("file", dir_fd=os.open(OUTSIDE, os.O_RDONLY))

@attack
def chmod(): os.chmod(FILE, 0o777)

@attack
def chmod_by_read_descriptor(): os.fchmod(os.open(FILE, os.O_RDONLY), 0o777)

@attack
def chmod_by_path_descriptor(): os.chmod("/proc/self/fd/%d" % os.open(FILE, os.O_PATH), 0o777)

@attack
def fchmodat2(): call(452, os.open(FILE, os.O_PATH), ctypes.c_char_p(b""), 0o777, 0x1000)

@attack
def chmod_folder(): os.chmod(OUTSIDE, 0o700)

# Only root can give a file away. A user can name the owner that it has.
@(attack if PLAN["user"] == 0 else unseen_attack)
def chown(): os.chown(FILE, 1 if PLAN["user"] == 0 else PLAN["user"], -1)

@attack
def utimes(): os.utime(FILE, (1, 1))

@attack
def utimes_by_read_descriptor(): os.utime(os.open(FILE, os.O_RDONLY), (1, 1))

@attack
def utimes_of_link(): os.utime(OUTSIDE + "/link", (1, 1), follow_symlinks=False)

@attack
def setxattr(): os.setxattr(FILE, "user.evil", b"1")

@attack
def setxattr_by_read_descriptor(): os.setxattr(os.open(FILE, os.O_RDONLY), "user.evil", b"1")

@attack
def rename_outside(): os.rename(FILE, OUTSIDE + "/other")

@attack
def rename_into_root(): os.rename(FILE, INSIDE + "/taken")

@attack
def rename_out_of_root(): os.rename(INSIDE + "/file", FILE)

@attack
def rename_exchange(): call(316, -100, ctypes.c_char_p(FILE.encode()), -100, ctypes.c_char_p((INSIDE + "/file").encode()), 2)

@attack
def rename_parent(): os.rename(OUTSIDE + "/full", OUTSIDE + "/moved")

@attack
def rename_folder_of_root(): os.rename(os.path.dirname(HERE) + "/root", OUTSIDE + "/root"); os.rename(OUTSIDE + "/root", os.path.dirname(HERE) + "/root")

@attack
def hard_link_into_root(): os.link(FILE, INSIDE + "/hard"); overwrite(INSIDE + "/hard")

@attack
def hard_link_out_of_root(): os.link(INSIDE + "/file", OUTSIDE + "/hard")

@attack
def hard_link_of_descriptor(): link_descriptor(os.open(FILE, os.O_RDONLY), INSIDE + "/harder"); overwrite(INSIDE + "/harder")

@attack
def through_link_to_file(): overwrite(INSIDE + "/to-file")

@attack
def through_link_to_file_with_creat(): overwrite(INSIDE + "/to-file", os.O_CREAT)

@attack
def through_link_to_folder(): overwrite(INSIDE + "/to-outside/new", os.O_CREAT)

@attack
def through_new_link(): os.symlink(OUTSIDE, INSIDE + "/link"); overwrite(INSIDE + "/link/file")

@attack
def through_root_of_process(): overwrite("/proc/self/root" + FILE)

@attack
def through_folder_of_process(): os.chdir(OUTSIDE); overwrite("/proc/self/cwd/new", os.O_CREAT)

@attack
def through_thread_of_process(): overwrite("/proc/thread-self/root" + FILE, os.O_CREAT)

@attack
def by_folder_descriptor(): os.close(os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=os.open(OUTSIDE, os.O_PATH)))

@attack
def by_reopening_a_descriptor(): overwrite("/proc/self/fd/%d" % os.open(FILE, os.O_RDONLY))

@attack
def by_reopening_with_creat(): overwrite("/dev/fd/%d" % os.open(FILE, os.O_RDONLY), os.O_CREAT)

@attack
def by_parents(): overwrite(INSIDE + "/../../outside/file")

@attack
def copy_file_range():
    os.copy_file_range(os.open(INSIDE + "/file", os.O_RDONLY), os.open(FILE, os.O_WRONLY), 4)

@unseen_attack
def attributes_of_file_system():
    import fcntl
    handle = os.open(FILE, os.O_RDONLY)
    flags = struct.unpack("i", fcntl.ioctl(handle, 0x80086601, struct.pack("i", 0)))[0]
    fcntl.ioctl(handle, 0x40086602, struct.pack("i", flags | 0x40))

@unseen_attack
def write_to_pipe(): os.write(os.open(OUTSIDE + "/pipe", os.O_RDWR | os.O_NONBLOCK), b"evil")


main()
