# SPDX-License-Identifier: BSD-2-Clause
"""exec_programs.py - programs that vp-exec runs: usage: exec_programs.py ROLE HOST

asyncio-serve, asyncio-use   200 connections at once, and one to a port where nobody listens
prefork-serve, prefork-use   four processes accept from one listener, until each has served
signal                       a signal's handler runs while accept blocks, and accept goes on
timeout                      a receive and an accept with SO_RCVTIMEO end
late-serve, late-use         all that had come before a peer's reset is read, then the reset; TCP_INFO of both
names                        what a server of names answers, byte by byte, right questions and wrong ones
full-serve, full-use         a listener's receive buffer bounds what a peer may write before anybody reads, and all comes in the end
self                         a stream and datagrams to addresses of the host itself; nobody there is told
wait                         waits in accept until it is killed, and a daemon that it has begun for a signal
"""
import asyncio
import os
import random
import select
import signal
import socket
import struct
import sys
import threading

PORT = 7100
role, host = sys.argv[1], sys.argv[2]


async def answer(reader, writer):
    writer.write(b"echo " + await reader.readline())
    await writer.drain()
    writer.close()


async def asyncio_serve():
    server = await asyncio.start_server(answer, host, PORT, backlog=256)
    async with server:
        await server.serve_forever()


async def asyncio_use():
    async def one(i):
        reader, writer = await asyncio.open_connection(host, PORT)
        writer.write(b"%d\n" % i)
        got = await reader.read()
        writer.close()
        return got == b"echo %d\n" % i
    print(sum(await asyncio.gather(*[one(i) for i in range(200)])), "answered")
    try:
        await asyncio.open_connection(host, PORT + 1)
    except ConnectionRefusedError:
        print("refused")


def prefork_serve():
    listener = socket.socket()
    listener.bind((host, PORT))
    listener.listen(64)
    for _ in range(4):
        if os.fork() == 0:
            while True:
                s, _ = listener.accept()
                s.sendall(b"%d" % os.getpid())
                s.recv(1)                       # busy until the client has met the others
    listener.close()
    os.wait()


def prefork_use():
    held = [socket.create_connection((host, PORT)) for _ in range(4)]
    print(len({s.recv(20) for s in held}), "served")


def with_signal():
    listener = socket.socket()
    listener.bind(("", PORT))
    listener.listen(1)
    ran = []

    def handler(*_):
        ran.append(1)
        if len(ran) == 5:
            raise InterruptedError
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        listener.accept()
    except InterruptedError:
        signal.setitimer(signal.ITIMER_REAL, 0)
        print("handler ran", len(ran))


def with_timeout():
    for type_ in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET, type_)
        s.bind(("", PORT))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 20000))
        try:
            if type_ == socket.SOCK_STREAM:
                s.listen(1)
                s.accept()
            else:
                s.recvfrom(10)
        except BlockingIOError:
            print("timed out")


def info(s):
    """State, segments on the way, round trip in microseconds, bytes not sent, window in segments."""
    b = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    return b[0], *[struct.unpack_from("I", b, at)[0] for at in (24, 68, 144, 80)], len(b)


LATE = 400000


def full_serve():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    listener.bind((host, PORT))
    listener.listen(2)
    s, _ = listener.accept()
    listener.accept()                           # nothing is read until the peer says so
    got = b""
    while data := s.recv(65536):
        got += data
    print(len(got), got == bytes(range(250)) * 4000, flush=True)


def full_use():
    data, sent = bytes(range(250)) * 4000, 0
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
    s.connect((host, PORT))
    s.setblocking(False)
    while sent < len(data) and select.select([], [s], [], 0.3)[1]:
        try:
            sent += s.send(data[sent:])
        except BlockingIOError:
            pass
    print("bounded" if sent < 150000 else sent, flush=True)
    tells = socket.create_connection((host, PORT))
    s.setblocking(True)
    s.sendall(data[sent:])
    s.shutdown(socket.SHUT_WR)
    s.recv(1)


def late_serve():
    listener = socket.socket()
    listener.bind((host, PORT))
    listener.listen(1)
    print("listens", info(listener)[0])
    s, _ = listener.accept()
    s.sendall(bytes(range(250)) * (LATE // 250))
    while info(s)[1] + info(s)[3] != 0:         # until the peer's TCP has all of it
        pass
    state, _, rtt, _, window, n = info(s)
    print("stands", state, rtt > 0, window > 1, n)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
    print("reset", flush=True)


def late_use():
    s = socket.create_connection((host, PORT))
    while info(s)[0] == 1:                      # not one byte is read until the reset has come
        pass
    s.send(b"y")                                # into a connection that is none
    try:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)   # what was written has gone by then
    except OSError:
        pass
    got = b""
    try:
        while data := s.recv(65536):
            got += data
    except ConnectionResetError:
        print("reset after", len(got), got == bytes(range(250)) * (LATE // 250))
    try:
        print(s.recv(1))
        s.send(b"x")
    except BrokenPipeError:
        print("broken pipe")


def query(name, type_=1, class_=1, flags=0x0100, count=1, cut=None):
    labels = b"".join(bytes([len(x)]) + x.encode() for x in name.split("."))
    return (struct.pack(">6H", 77, flags, count, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", type_, class_))[:cut]


def answered(s, q):
    s.send(q)
    a = s.recv(2000)
    id_, flags, _, count = struct.unpack(">4H", a[:8])
    assert id_ == 77 and flags & 0xfe00 == 0x8400 | q[2] << 8 & 0x7800 and len(a) <= 512, a
    if flags & 15 != 1:
        assert a[12:].startswith(q[12:]) or flags & 15 == 4, a
    return flags & 15, count, a[-4:]


def names():
    with open("/etc/resolv.conf") as f:
        servers = [x.split()[1] for x in f if x.startswith("nameserver") and ":" not in x]
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(((servers or ["127.0.0.1"])[0], 53))
    whole = query("b")
    for q in (whole, query("B"), query("two"), query("b", 28), query("b", 255), query("nobody"), query("b.example"),
              query("2.0.0.10.in-addr.arpa", 12), query("9.0.0.10.in-addr.arpa", 12), query("2.0.0.10.in-addr.arpax", 12),
              query("b", class_=3), query("b", flags=0x1100), query("b", count=2), query("b", cut=-1), query("b", cut=13),
              query("x" * 63), query(".".join(["y" * 62] * 5)), whole[:12] + b"\xc0\x0c" + whole[-4:], whole[:12]):
        code, count, last = answered(s, q)
        print(code, count, last.hex() if count else "")
    for q in (b"", whole[:11], query("b", flags=0x8100)):   # no answer is due
        s.send(q)
    chance = random.Random(1)
    for _ in range(300):                        # none is answered wrongly, and nobody falls over
        bad = bytearray(whole + bytes(40))
        for _ in range(4):
            bad[chance.randrange(12, len(bad))] = chance.randrange(256)
        s.send(bad[:chance.randrange(12, len(bad))])
        assert 12 <= len(s.recv(2000)) <= 512
    print(answered(s, whole)[:2])


def echo(listener):
    s, _ = listener.accept()
    while data := s.recv(65536):
        s.sendall(data)
    s.close()


def to_itself(address):
    listener = socket.socket()
    listener.bind(("", PORT))
    listener.listen(1)
    server = threading.Thread(target=echo, args=[listener])
    server.start()
    s = socket.create_connection((address, PORT))
    data, got = os.urandom(500000), b""
    writer = threading.Thread(target=s.sendall, args=[data])
    writer.start()
    while len(got) < len(data):
        got += s.recv(65536)
    writer.join()
    print(*s.getsockname()[:1], *s.getpeername()[:1], got == data)
    s.close()
    server.join()
    listener.close()


def with_itself():
    for address in (host, "127.0.0.1", "127.8.9.3"):
        to_itself(address)
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.bind(("127.0.0.1", 0))
    u.sendto(b"x" * 60000, u.getsockname())
    print(len(u.recvfrom(65536)[0]))
    for s in (socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)):
        try:
            s.connect(("127.0.0.1", PORT + 1))
            s.send(b"x")
            s.recvfrom(1)
        except ConnectionRefusedError:
            print("refused")
    s = socket.socket()                         # one socket, both ends
    s.bind(("127.0.0.1", PORT))
    s.connect(("127.0.0.1", PORT))
    s.sendall(b"to me")
    print(s.recv(10))


def wait():
    listener = socket.socket()
    listener.bind(("", PORT))
    listener.listen(1)
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        os.write(1, b"daemon %d\n" % os.getpid())       # in one piece
        signal.pause()                          # no call of it could fail
    os.wait()
    os.write(1, b"program %d\n" % os.getpid())
    listener.accept()


if role == "asyncio-serve":
    asyncio.run(asyncio_serve())
elif role == "asyncio-use":
    asyncio.run(asyncio_use())
else:
    {"prefork-serve": prefork_serve, "prefork-use": prefork_use, "signal": with_signal, "timeout": with_timeout,
     "late-serve": late_serve, "late-use": late_use, "full-serve": full_serve, "full-use": full_use, "self": with_itself,
     "names": names, "wait": wait}[role]()
