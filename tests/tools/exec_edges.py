# SPDX-License-Identifier: BSD-2-Clause
"""exec_edges.py - edge cases of sockets, a line each: the same in a network namespace of the kernel's and under vp-exec.

usage: exec_edges.py serve HOST | use HOST

The server does what the client asks for, and nobody waits for time: each step is asked for by the one before.
"""
import os
import select
import socket
import struct
import sys

PORT = 7200
IP_MTU_DISCOVER = 10
MASK = select.POLLIN | select.POLLOUT | select.POLLERR | select.POLLHUP | select.POLLRDHUP


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def read_all(s):
    got = b""
    while True:
        piece = s.recv(4096)
        if not piece:
            return got
        got += piece


def serve(host):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, PORT))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((host, PORT + 2))
    listener.listen(5)
    while True:
        s, _ = listener.accept()
        what = s.recv(1)
        if what == b"r":                    # answers, then resets when it is told to
            s.sendall(b"last")
            s.recv(1)
            reset(s)
        elif what == b"h":                  # ends its side, tells what it then still read
            s.shutdown(socket.SHUT_WR)
            got = read_all(s)
            s.close()
            s, _ = listener.accept()
            s.recv(1)
            s.sendall(got)
            s.close()
        elif what == b"u":                  # leaves a byte unread
            select.select([s], [], [])
            s.close()
        elif what == b"e":                  # all it gets comes back
            s.sendall(read_all(s))
            s.close()
        elif what == b"d":                  # a datagram comes back
            udp.sendto(*udp.recvfrom(5000))
            s.close()
        elif what == b"q":
            return


def show(name, fn, *args):
    try:
        print(name, fn(*args))
    except OSError as e:
        print(name, type(e).__name__, e.errno)


def until(s, wanted):
    """poll's answer once it has all of these bits."""
    p = select.poll()
    p.register(s, MASK & ~select.POLLOUT)
    while True:
        bits = p.poll()[0][1]
        if bits & wanted == wanted:
            break
        p.modify(s, MASK & ~select.POLLOUT & ~bits)
    p.modify(s, MASK)
    return hex(p.poll(0)[0][1])


def connected(host, what):
    s = socket.create_connection((host, PORT))
    s.sendall(what)
    return s


def resets(host):
    s = connected(host, b"r")
    print("before", s.recv(10, socket.MSG_PEEK))
    s.sendall(b".")
    print("reset", until(s, select.POLLHUP))
    show("what came before is read", s.recv, 10)
    show("then told", s.recv, 10)
    show("once", s.recv, 10)
    show("written", s.send, b"x")
    show("its peer", s.getpeername)
    s.close()
    s = connected(host, b"u")
    s.sendall(b"unread")
    print("unread at its end", until(s, select.POLLHUP))
    show("told", s.recv, 10)
    s.close()


def halves(host):
    s = connected(host, b"h")
    show("its end", s.recv, 10)
    print("half", until(s, select.POLLRDHUP))
    show("still written", s.send, b"more")
    s.shutdown(socket.SHUT_WR)
    print("both", until(s, select.POLLHUP))
    show("written after", s.send, b"x")
    show("read after", s.recv, 1)
    s.close()
    s = connected(host, b"?")
    show("which arrived", s.recv, 10)
    s.close()
    s = connected(host, b"e")
    s.sendall(b"a" * 300000)
    s.shutdown(socket.SHUT_WR)
    show("a half-closed echo", lambda: len(read_all(s)))
    show("shut twice", s.shutdown, socket.SHUT_WR)
    s.close()


def refusals(host):
    s = socket.socket()
    show("refused", s.connect, (host, PORT + 1))
    show("and again, elsewhere", s.connect, (host, PORT))
    s.sendall(b"e")
    show("connected already", s.connect, (host, PORT))
    s.close()
    s = socket.socket()
    s.setblocking(False)
    show("under way", s.connect_ex, (host, PORT + 1))
    print("has failed", until(s, select.POLLHUP))
    show("why", s.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)
    show("told once", s.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)
    show("again", s.connect_ex, (host, PORT))
    s.close()
    s = socket.socket()
    s.setblocking(False)
    show("under way", s.connect_ex, (host, PORT))
    select.select([], [s], [])
    show("stands", s.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)
    show("told to connect", s.connect_ex, (host, PORT))
    show("once", s.connect_ex, (host, PORT))
    s.setblocking(True)
    s.sendall(b"e")
    s.close()


def edges(host):
    e = select.epoll()
    s = socket.socket()
    s.setblocking(False)
    e.register(s, select.EPOLLOUT | select.EPOLLET)
    e.poll(0)
    s.connect_ex((host, PORT))
    select.select([], [s], [])
    show("an edge when it stands", lambda: e.poll(0)[0][1] & select.EPOLLOUT)
    show("and no second one", e.poll, 0)
    s.setblocking(True)
    s.sendall(b"e")
    s.shutdown(socket.SHUT_WR)
    read_all(s)
    s.close()
    e.close()


def names(host):
    s = socket.socket()
    show("no name", s.getsockname)
    show("no peer", s.getpeername)
    show("not connected", s.shutdown, socket.SHUT_WR)
    show("not listening", s.accept)
    show("a byte before that", s.recv, 1, socket.MSG_DONTWAIT)
    s.bind(("", 0))
    show("a port", lambda: s.getsockname()[1] != 0)
    show("bound twice", s.bind, ("", 0))
    other = socket.socket()
    show("in use", other.bind, ("", s.getsockname()[1]))
    s.listen(1)
    show("in use by a listener", other.bind, ("", s.getsockname()[1]))
    show("a listener connects", s.connect_ex, (host, PORT))
    show("listening", s.getsockopt, socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    s.setblocking(False)
    show("nobody comes", s.accept)
    show("a byte of a listener", s.recv, 1)
    port = s.getsockname()[1]
    s.close()
    show("free at once", other.bind, ("", port))
    other.close()


def options():
    s = socket.socket()
    for level, name in ((1, socket.SO_TYPE), (1, socket.SO_DOMAIN), (1, socket.SO_PROTOCOL), (1, socket.SO_ERROR),
                        (1, socket.SO_ACCEPTCONN), (1, socket.SO_KEEPALIVE), (6, socket.TCP_NODELAY), (6, socket.TCP_CORK)):
        show("option %d of %d" % (name, level), s.getsockopt, level, name)
    for level, name in ((1, socket.SO_DONTROUTE), (1, socket.SO_BROADCAST), (6, socket.TCP_QUICKACK), (6, socket.TCP_SYNCNT),
                        (0, socket.IP_TTL), (0, socket.IP_TOS), (0, IP_MTU_DISCOVER)):
        show("option %d of %d" % (name, level), s.getsockopt, level, name)
    show("a byte for one of IP's", s.setsockopt, 0, socket.IP_TTL, b"\x07")
    for level, name in ((1, socket.SO_REUSEADDR), (1, socket.SO_KEEPALIVE), (6, socket.TCP_NODELAY), (1, socket.SO_BROADCAST),
                        (1, socket.SO_REUSEPORT), (6, socket.TCP_SYNCNT)):
        s.setsockopt(level, name, 7)
        show("option %d of %d set" % (name, level), s.getsockopt, level, name)
    show("that byte", s.getsockopt, 0, socket.IP_TTL)
    show("no device", s.getsockopt, 1, socket.SO_BINDTODEVICE, 16)
    show("none is taken", s.setsockopt, 1, socket.SO_BINDTODEVICE, b"\0")
    show("no options of IP", s.getsockopt, 0, socket.IP_OPTIONS, 40)
    show("none are taken", s.setsockopt, 0, socket.IP_OPTIONS, b"")
    show("an unknown one", s.setsockopt, 6, 999, 1)
    show("a short one", s.setsockopt, 6, socket.TCP_NODELAY, b"\x01")
    s.close()
    show("an unknown type", socket.socket, socket.AF_INET, 17)
    show("another's protocol", socket.socket, socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_UDP)


def datagrams(host):
    a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    show("type", a.getsockopt, 1, socket.SO_TYPE)
    show("no accept", a.accept)
    show("no listen", a.listen)
    show("no peer", a.getpeername)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        show("port 0", s.sendto, b"x", (host, 0))
    a.bind(("", 0))
    show("a port", lambda: a.getsockname()[1] != 0)
    show("in use", b.bind, ("", a.getsockname()[1]))
    show("too long", a.sendto, b"x" * 65508, (host, PORT + 2))
    for text in (b"one", b"", b"x" * 3000):
        with connected(host, b"d"):
            a.sendto(text, (host, PORT + 2))
            show("back, from whom", lambda: (lambda r: (len(r[0]), r[1]))(a.recvfrom(4000)))
    with connected(host, b"d"):
        a.sendto(b"longer than that", (host, PORT + 2))
        show("looked at", a.recv, 6, socket.MSG_PEEK)
        show("its length", a.recvmsg, 6, 0, socket.MSG_PEEK | socket.MSG_TRUNC)
        show("cut", lambda: a.recvmsg(6)[::2])
    a.setblocking(False)
    show("nothing", a.recvfrom, 10)
    b.connect((host, PORT + 2))
    show("its peer", b.getpeername)
    with connected(host, b"d"):
        show("written", b.send, b"plainly")
        show("read", b.recv, 10)
    with connected(host, b"d"):
        show("pieces", b.sendmsg, [b"in ", b"two"])
        show("a message", lambda: b.recvmsg(10)[0])
    a.close()
    b.close()


def forks(host):
    s = connected(host, b"e")
    pid = os.fork()
    if pid == 0:
        s.sendall(b"child")
        os._exit(0)
    os.waitpid(pid, 0)
    s.sendall(b"parent")
    s.shutdown(socket.SHUT_WR)
    show("both wrote", read_all, s)
    s.close()


def use(host):
    resets(host)
    halves(host)
    refusals(host)
    edges(host)
    names(host)
    options()
    datagrams(host)
    forks(host)
    connected(host, b"q").close()


(serve if sys.argv[1] == "serve" else use)(sys.argv[2])
