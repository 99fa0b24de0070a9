# Kinds of sockets that reach around the network, or into the kernel.
def fixture():
    pass


def family(number, kind, protocol=0):
    try:
        socket.socket(number, kind, protocol)
    except OSError as error:
        # A kernel without this family or protocol has nothing to attack.
        absent = [errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ENODEV]
        if error.errno not in absent or sys.argv[1] != "control":
            raise


# Kinds of sockets: what they are for, and their numbers (family, type, protocol).
FAMILIES = {
    "virtual_machines": (40, socket.SOCK_STREAM),
    "virtual_machines_by_datagram": (40, socket.SOCK_DGRAM),
    "ciphers": (38, socket.SOCK_SEQPACKET),
    "radio": (31, socket.SOCK_RAW, 1),
    "events_of_devices": (16, socket.SOCK_RAW, 15),
    "audit": (16, socket.SOCK_RAW, 9),
    "generic_netlink": (16, socket.SOCK_RAW, 16),
    "sockets_of_others": (16, socket.SOCK_RAW, 4),
    "netfilter": (16, socket.SOCK_RAW, 12),
    "crypto_netlink": (16, socket.SOCK_RAW, 21),
}

# Only root can make these, without a sandbox.
FAMILIES_OF_ROOT = {
    "raw": (2, socket.SOCK_RAW, 1),
    "raw_of_version_six": (10, socket.SOCK_RAW, 58),
    "packets": (17, socket.SOCK_RAW, 3),
    "packets_by_datagram": (17, socket.SOCK_DGRAM, 3),
    "express": (44, socket.SOCK_RAW),
}


def add(name, numbers):
    def attempt(): family(*numbers)
    attempt.__name__ = name
    unseen_attack(attempt)


for name, numbers in FAMILIES.items():
    add(name, numbers)

if PLAN["user"] == 0:
    for name, numbers in FAMILIES_OF_ROOT.items():
        add(name, numbers)

    @unseen_attack
    def route():
        # A session may ask for routes, and change none. Naming a device that doesn't exist shows whether it might.
        connection = socket.socket(16, socket.SOCK_RAW, 0)
        body = struct.pack("BxHiII", 0, 0, 0x7fffff, 0, 0)
        connection.send(struct.pack("IHHII", 16 + len(body), 17, 5, 1, 0) + body)
        code = -struct.unpack_from("i", connection.recv(4096), 16)[0]
        if code == errno.EPERM:
            raise OSError(code, "route")


main()
