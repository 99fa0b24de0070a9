# Attacks on servers outside the session, all on this machine: `PLAN` has their ports. Each answers `hi`.
def fixture():
    pass


def answered(connection):
    # Datagrams that nothing takes are lost without a word.
    connection.settimeout(0.5 if sys.argv[1] == "attack" else 5)
    try:
        found = connection.recv(100)
    except socket.timeout:
        raise Refused
    if b"hi" not in found:
        raise Refused


def stream(family, address):
    connection = socket.socket(family)
    connection.settimeout(2)
    connection.connect(address)
    answered(connection)


def datagram(family, address, words=b"x"):
    connection = socket.socket(family, socket.SOCK_DGRAM)
    connection.sendto(words, address)
    answered(connection)


@unseen_attack
def tcp(): stream(socket.AF_INET, ("127.0.0.1", PLAN["tcp"]))

@unseen_attack
def tcp_to_any_address(): stream(socket.AF_INET, ("0.0.0.0", PLAN["tcp"]))

@unseen_attack
def tcp_to_address_of_machine():
    # Linux takes all of 127.0.0.0/8 for the loopback device.
    stream(socket.AF_INET, ("127.1.2.3", PLAN["tcp_any"]))

@unseen_attack
def tcp_with_first_data():
    connection = socket.socket()
    connection.sendto(b"x", 0x20000000, ("127.0.0.1", PLAN["tcp"]))
    answered(connection)

@unseen_attack
def multipath_tcp():
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    connection.settimeout(2)
    connection.connect(("127.0.0.1", PLAN["tcp"]))
    answered(connection)

@unseen_attack
def mapped_address(): stream(socket.AF_INET6, ("::ffff:127.0.0.1", PLAN["tcp"]))

@unseen_attack
def udp(): datagram(socket.AF_INET, ("127.0.0.1", PLAN["udp"]))

@unseen_attack
def connected_udp():
    connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    connection.connect(("127.0.0.1", PLAN["udp"]))
    connection.send(b"x")
    answered(connection)

@unseen_attack
def name_server():
    question = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\7example\4test\0" + struct.pack("!2H", 1, 1)
    datagram(socket.AF_INET, ("127.0.0.1", PLAN["udp"]), question)

@unseen_attack
def bash(): has_words("exec 3<>/dev/tcp/127.0.0.1/%d && head -c 2 <&3" % PLAN["tcp"])

@unseen_attack
def several_datagrams():
    import array
    connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    connection.sendmsg([b"x"], [], 0, ("127.0.0.1", PLAN["udp"]))
    answered(connection)


def has_words(command):
    import subprocess
    if subprocess.run(["bash", "-c", command], capture_output=True).stdout != b"hi":
        raise Refused


main()
