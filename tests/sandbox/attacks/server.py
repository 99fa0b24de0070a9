# Servers outside the sandbox. Each answers `hi`. Prints where they are, and serves until it is killed.
import json, os, socket, sys, threading

outside, root, name = sys.argv[1:]


def listening(family, address, kind=socket.SOCK_STREAM):
    server = socket.socket(family, kind)
    server.bind(address)
    if kind != socket.SOCK_DGRAM:
        server.listen(1000)
    threading.Thread(target=serve, args=(server, kind)).start()
    return server


def serve(server, kind):
    while True:
        if kind == socket.SOCK_DGRAM:
            words, sender = server.recvfrom(1000)
            if sender:
                server.sendto(b"hi", sender)
        else:
            connection = server.accept()[0]
            try:
                connection.send(b"hi")
            except OSError:
                pass
            connection.close()


unix, packets, datagrams = socket.AF_UNIX, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM
listening(unix, outside + "/stream")
listening(unix, outside + "/packets", packets)
listening(unix, outside + "/datagram", datagrams)
listening(unix, root + "/bound-outside")
listening(unix, "\0" + name)
listening(unix, "\0" + name + "-datagram", datagrams)
ports = {
    "tcp": listening(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1],
    "tcp_any": listening(socket.AF_INET, ("0.0.0.0", 0)).getsockname()[1],
    "udp": listening(socket.AF_INET, ("127.0.0.1", 0), datagrams).getsockname()[1],
}
print(json.dumps({"outside": outside, "abstract": name, **ports}), flush=True)
