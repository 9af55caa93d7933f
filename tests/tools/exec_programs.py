# SPDX-License-Identifier: BSD-2-Clause
"""exec_programs.py - programs that vp-exec runs: usage: exec_programs.py ROLE HOST

asyncio-serve, asyncio-use   200 connections at once, and one to a port where nobody listens
prefork-serve, prefork-use   four processes accept from one listener, until each has served
signal                       a signal's handler runs while accept blocks, and accept goes on
timeout                      a receive and an accept with SO_RCVTIMEO end
self                         a stream and datagrams to addresses of the host itself; nobody there is told
wait                         accepts one connection, then reads, until it is killed
"""
import asyncio
import os
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
    print(os.getpid(), flush=True)
    listener.accept()
    listener.accept()


if role == "asyncio-serve":
    asyncio.run(asyncio_serve())
elif role == "asyncio-use":
    asyncio.run(asyncio_use())
else:
    {"prefork-serve": prefork_serve, "prefork-use": prefork_use, "signal": with_signal, "timeout": with_timeout,
     "self": with_itself, "wait": wait}[role]()
