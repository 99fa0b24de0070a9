# Attacks on the machine by system calls. The control runs in namespaces of its own, where the caller is root.
# Each attack has mounts of its own there.
HAS_OWN_MOUNTS = True


def fixture():
    text(HERE + "/covered/file")


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def status(field):
    return [line.split()[1] for line in read("/proc/self/status").splitlines() if line.startswith(field + ":")][0]


def string(words):
    return ctypes.c_char_p(words.encode())


def a_child():
    child = os.fork()
    if child == 0:
        os.closerange(3, 100)
        time.sleep(1)
        os._exit(0)
    return child


def run(*words):
    import subprocess
    if subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        raise Refused


def set_limit(number, value):
    call(160, number, ctypes.c_char_p(struct.pack("2Q", value, value)))


def has_capability(field):
    if int(status(field), 16) == 0:
        raise Refused

@unseen_attack
def effective_capabilities(): has_capability("CapEff")

@unseen_attack
def permitted_capabilities(): has_capability("CapPrm")

@unseen_attack
def bounding_capabilities(): has_capability("CapBnd")

@unseen_attack
def regain_capabilities():
    header, data = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *[1 << 21, 1 << 21, 0, 0, 0, 0])
    call(126, ctypes.c_char_p(header), ctypes.c_char_p(data))

@unseen_attack
def gain_by_exec():
    if status("NoNewPrivs") == "1":
        raise Refused

@unseen_attack
def no_filter():
    if status("Seccomp") != "0":
        raise Refused

@unseen_attack
def remount(): checked(C.mount(None, b"/", None, 0x20 | 0x1000, None))

@unseen_attack
def mount_tmpfs(): checked(C.mount(b"none", WORK.encode(), b"tmpfs", 0, None))

@unseen_attack
def mount_proc(): checked(C.mount(b"proc", WORK.encode(), b"proc", 0, None))

@unseen_attack
def bind_mount(): checked(C.mount(b"/etc", WORK.encode(), None, 0x1000, None))

@unseen_attack
def bind_file(): checked(C.mount(b"/etc/hosts", (HERE + "/covered/file").encode(), None, 0x1000, None))

@unseen_attack
def unmount(): checked(C.umount2(b"/proc", 2))

@unseen_attack
def open_tree(): call(428, -100, string("/etc"), 1)

@unseen_attack
def open_file_system(): call(430, string("tmpfs"), 0)

@unseen_attack
def change_mount_attributes():
    attributes = struct.pack("4Q", 0, 1, 0, 0)
    call(442, -100, string("/"), 0, ctypes.c_char_p(attributes), len(attributes))

@unseen_attack
def change_root(): os.chroot(WORK)

@unseen_attack
def change_root_by_pivot():
    C.mount(b"none", WORK.encode(), b"tmpfs", 0, None)
    os.chdir(WORK)
    call(155, string("."), string("."))

@unseen_attack
def new_user_namespace(): checked(C.unshare(0x10000000))

@unseen_attack
def new_mount_namespace(): checked(C.unshare(0x20000))

@unseen_attack
def new_user_namespace_by_clone():
    if call(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)

@unseen_attack
def new_user_namespace_by_clone3():
    arguments = struct.pack("8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    if call(435, ctypes.c_char_p(arguments), len(arguments)) == 0:
        os._exit(0)

@unseen_attack
def mount_in_nested_namespace(): run("unshare", "-Urm", "mount", "-t", "tmpfs", "none", WORK)

@unseen_attack
def enter_namespace(): checked(C.setns(os.open("/proc/self/ns/uts", os.O_RDONLY), 0))

@unseen_attack
def trace_child(): call(101, 0x4206, a_child(), 0, 0)

@unseen_attack
def ask_to_be_traced(): call(101, 0, 0, 0, 0)

@unseen_attack
def read_memory_of_child():
    buffer = ctypes.create_string_buffer(8)
    vector = struct.pack("2Q", ctypes.addressof(buffer), 8)
    call(310, a_child(), ctypes.c_char_p(vector), 1, ctypes.c_char_p(vector), 1, 0)

@unseen_attack
def take_descriptor_of_child(): call(438, os.pidfd_open(a_child()), 1, 0)

@unseen_attack
def io_uring():
    call(425, 4, ctypes.create_string_buffer(120))

@unseen_attack
def keyring(): call(248, string("user"), string("shellgate-test"), string("x"), 1, -2)

@unseen_attack
def userfaultfd(): call(323, 1)

@unseen_attack
def executable_data(): call(135, 0x0400000)

@unseen_attack
def local_descriptors(): call(154, 0, ctypes.create_string_buffer(64), 64)

@unseen_attack
def host_name(): checked(C.sethostname(b"evil", 4))

@unseen_attack
def file_handle():
    handle = ctypes.create_string_buffer(struct.pack("I", 128) + bytes(132))
    call(303, -100, string(HERE), handle, ctypes.create_string_buffer(4), 0)

@unseen_attack
def second_listener():
    # Filters with a listener of their own could answer before ours.
    program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
    description = struct.pack("HxxxxxxQ", 1, ctypes.addressof(program))
    call(317, 1, 8, ctypes.c_char_p(description))

@unseen_attack
def change_tag():
    set_limit(10, 12345)

@unseen_attack
def type_into_terminal():
    import fcntl, pty
    outer, inner = pty.openpty()
    os.setsid()
    fcntl.ioctl(inner, 0x540E, 0)
    fcntl.ioctl(inner, 0x5412, b"x")

@unseen_attack
def line_discipline():
    import fcntl, pty
    fcntl.ioctl(pty.openpty()[1], 0x5423, struct.pack("i", 0))


if PLAN["user"] == 0:
    @unseen_attack
    def change_user(): os.setresuid(12345, 12345, 12345)

    @unseen_attack
    def change_groups(): os.setgroups([1])

    @unseen_attack
    def character_device(): os.mknod(WORK + "/null", 0o20666, os.makedev(1, 3))

    @unseen_attack
    def block_device(): os.mknod(WORK + "/disk", 0o60600, os.makedev(7, 0))

    @unseen_attack
    def open_by_handle():
        handle = ctypes.create_string_buffer(struct.pack("I", 128) + bytes(132))
        try:
            call(303, -100, string(HERE), handle, ctypes.create_string_buffer(4), 0)
        except OSError:
            pass
        call(304, os.open("/", os.O_RDONLY), handle, os.O_RDONLY)

    @unseen_attack
    def programs_in_kernel():
        attributes = struct.pack("4I", 2, 4, 4, 1) + bytes(100)
        call(321, 0, ctypes.c_char_p(attributes), len(attributes))

    @unseen_attack
    def watch_files(): call(300, 0, os.O_RDONLY)

    @unseen_attack
    def kernel_log(): call(103, 10, 0, 0)

    @unseen_attack
    def lower_niceness(): os.nice(-5)

    # Files of the machine that root owns, and can open for writing without any capability. None of them is written.
    def open_only(path):
        # A kernel without this file has nothing to attack.
        if os.path.exists(path) or sys.argv[1] != "control":
            os.close(os.open(path, os.O_WRONLY))

    @unseen_attack
    def switches_of_kernel(): open_only("/proc/sys/kernel/core_pattern")

    @unseen_attack
    def system_requests(): open_only("/proc/sysrq-trigger")

    @unseen_attack
    def switches_in_sys(): open_only("/sys/kernel/mm/transparent_hugepage/enabled")

    @unseen_attack
    def memory_of_machine(): os.open("/dev/kmsg", os.O_RDONLY)

    @unseen_attack
    def mode_of_device():
        mode = stat.S_IMODE(os.stat("/dev/full").st_mode)
        os.chmod("/dev/full", mode)

    @unseen_attack
    def times_of_device():
        times = os.stat("/dev/full")
        os.utime("/dev/full", ns=(times.st_atime_ns, times.st_mtime_ns))

    @unseen_attack
    def passwords(): read("/etc/shadow")


main()
