# Attacks on processes outside: one of the same user (`PLAN["outside"]`) and shellgate's own.
OUTSIDE = PLAN["outside"]


def fixture():
    pass


def fields(function):
    """Tries an attack on each process. All must be stopped."""
    results = [attempt(lambda: function(pid)) for pid in OUTSIDE]
    broken = [result for result in results if result.startswith("broken")]
    if broken:
        raise Exception(broken)
    if "done" not in results:
        raise Refused


@unseen_attack
def signal_it(): fields(lambda pid: os.kill(pid, 0))

@unseen_attack
def stop_it(): fields(lambda pid: os.kill(pid, signal.SIGCONT))

@unseen_attack
def signal_group(): fields(lambda pid: os.killpg(os.getpgid(pid), 0))

@unseen_attack
def descriptor_of_it(): fields(os.pidfd_open)

@unseen_attack
def limits_of_it(): fields(lambda pid: call(302, pid, 7, 0, ctypes.create_string_buffer(16)))

@unseen_attack
def scheduling_of_it(): fields(os.sched_getaffinity)

@unseen_attack
def trace_it(): fields(lambda pid: call(101, 0x4206, pid, 0, 0))

@unseen_attack
def read_its_memory(): fields(lambda pid: os.open("/proc/%d/mem" % pid, os.O_RDWR))

@unseen_attack
def read_its_map(): fields(lambda pid: read("/proc/%d/maps" % pid))

@unseen_attack
def read_its_environment(): fields(lambda pid: read("/proc/%d/environ" % pid))

@unseen_attack
def read_its_words(): fields(lambda pid: read("/proc/%d/cmdline" % pid))

@unseen_attack
def enter_its_root(): fields(lambda pid: os.listdir("/proc/%d/root/" % pid))

@unseen_attack
def enter_its_folder(): fields(lambda pid: os.listdir("/proc/%d/cwd/" % pid))

@unseen_attack
def list_its_descriptors(): fields(lambda pid: os.listdir("/proc/%d/fd" % pid))

@unseen_attack
def open_its_descriptor(): fields(lambda pid: os.open("/proc/%d/fd/0" % pid, os.O_RDONLY))

@unseen_attack
def run_its_program(): fields(lambda pid: os.open("/proc/%d/exe" % pid, os.O_RDONLY))

@unseen_attack
def open_its_namespace(): fields(lambda pid: os.open("/proc/%d/ns/mnt" % pid, os.O_RDONLY))

@unseen_attack
def find_it_by_name():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if read("/proc/%s/comm" % pid) == "shellgate-keep\n":
                return
        except FileNotFoundError:
            pass
    raise Refused

@unseen_attack
def shared_memory_of_machine(): read(PLAN["memory"])


main()
