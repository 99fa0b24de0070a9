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


@unseen_attack
def virtual_machines(): family(40, socket.SOCK_STREAM)

@unseen_attack
def virtual_machines_by_datagram(): family(40, socket.SOCK_DGRAM)

@unseen_attack
def ciphers(): family(38, socket.SOCK_SEQPACKET)

@unseen_attack
def radio(): family(31, socket.SOCK_RAW, 1)

@unseen_attack
def events_of_devices(): family(16, socket.SOCK_RAW, 15)

@unseen_attack
def audit(): family(16, socket.SOCK_RAW, 9)

@unseen_attack
def generic_netlink(): family(16, socket.SOCK_RAW, 16)

@unseen_attack
def sockets_of_others(): family(16, socket.SOCK_RAW, 4)

@unseen_attack
def netfilter(): family(16, socket.SOCK_RAW, 12)

@unseen_attack
def crypto_netlink(): family(16, socket.SOCK_RAW, 21)


if PLAN["user"] == 0:
    @unseen_attack
    def raw(): family(2, socket.SOCK_RAW, 1)

    @unseen_attack
    def raw_of_version_six(): family(10, socket.SOCK_RAW, 58)

    @unseen_attack
    def packets(): family(17, socket.SOCK_RAW, 3)

    @unseen_attack
    def packets_by_datagram(): family(17, socket.SOCK_DGRAM, 3)

    @unseen_attack
    def express(): family(44, socket.SOCK_RAW)

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
