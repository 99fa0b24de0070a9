# Attacks on Unix sockets of servers outside (`server.py`). Each stream answers `hi`.
OUTSIDE = PLAN["outside"]
STREAM, DATAGRAM, PACKETS = OUTSIDE + "/stream", OUTSIDE + "/datagram", OUTSIDE + "/packets"
INSIDE = HERE + "/bound-outside"


def fixture():
    pass


def answered(connection):
    connection.settimeout(5)
    try:
        found = connection.recv(100)
    except socket.timeout:
        raise Refused
    if found != b"hi":
        raise Refused


def stream(address, kind=socket.SOCK_STREAM):
    connection = socket.socket(socket.AF_UNIX, kind)
    connection.connect(address)
    answered(connection)


def sender():
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)


@unseen_attack
def by_name(): stream(STREAM)

@unseen_attack
def in_the_root(): stream(INSIDE)

@unseen_attack
def of_packets(): stream(PACKETS, socket.SOCK_SEQPACKET)

@unseen_attack
def abstract(): stream("\0" + PLAN["abstract"])

@unseen_attack
def abstract_datagram(): sender().sendto(b"x", "\0" + PLAN["abstract"] + "-datagram")

@unseen_attack
def by_relative_name(): os.chdir(OUTSIDE); stream("stream")

@unseen_attack
def by_link(): os.symlink(STREAM, WORK + "/link"); stream(WORK + "/link")

@unseen_attack
def by_hard_link(): os.link(STREAM, WORK + "/hard"); stream(WORK + "/hard")

@unseen_attack
def by_root_of_process(): stream("/proc/self/root" + STREAM)

@unseen_attack
def by_descriptor_of_folder(): stream("/proc/self/fd/%d/stream" % os.open(OUTSIDE, os.O_PATH))

@unseen_attack
def by_descriptor(): stream("/proc/self/fd/%d" % os.open(STREAM, os.O_PATH))

@unseen_attack
def datagram(): sender().sendto(b"x", DATAGRAM)

@unseen_attack
def connected_datagram():
    connection = sender()
    connection.connect(DATAGRAM)
    connection.send(b"x")

@unseen_attack
def datagram_by_message(): sender().sendmsg([b"x"], [], 0, DATAGRAM)

@unseen_attack
def datagram_by_messages():
    name = struct.pack("H", 1) + DATAGRAM.encode() + b"\0"
    name, words = ctypes.create_string_buffer(name, len(name)), ctypes.create_string_buffer(b"x")
    vector = ctypes.create_string_buffer(struct.pack("2Q", ctypes.addressof(words), 1))
    header = struct.pack("QIxxxxQQQQixxxxIxxxx", ctypes.addressof(name), len(name), ctypes.addressof(vector), 1, 0, 0, 0, 0)
    header = ctypes.create_string_buffer(header, len(header))
    connection = sender()
    call(307, connection.fileno(), header, 1, 0)

@unseen_attack
def descriptor_in_datagram():
    # A descriptor sent outside would be a way out for more than words.
    rights = struct.pack("i", os.open(HERE, os.O_RDONLY))
    sender().sendmsg([b"x"], [(socket.SOL_SOCKET, 1, rights)], 0, DATAGRAM)

@unseen_attack
def datagram_from_pair():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.sendto(b"x", DATAGRAM)

@unseen_attack
def race_of_addresses():
    # One thread swaps the address of the session's own socket and of one outside.
    import threading
    own = HERE + "/" + "o" * (len(STREAM) - len(HERE) - 1)
    remove(own)
    server = socket.socket(socket.AF_UNIX)
    server.bind(own)
    server.listen(100)
    def accept():
        while True:
            server.accept()[0].close()
    threading.Thread(target=accept, daemon=True).start()
    addresses = [struct.pack("H", 1) + path.encode() + b"\0" for path in (own, STREAM)]
    address = ctypes.create_string_buffer(addresses[0], len(addresses[0]))
    def swap():
        for now in itertools.cycle(addresses):
            address.raw = now
    threading.Thread(target=swap, daemon=True).start()
    until = time.time() + (0.5 if sys.argv[1] == "attack" else 5)
    while time.time() < until:
        connection = socket.socket(socket.AF_UNIX)
        if C.connect(connection.fileno(), address, len(addresses[0])) == 0 and connection.recv(2) == b"hi":
            return
        connection.close()
    raise Refused


main()
