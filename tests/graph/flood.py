# SPDX-License-Identifier: BSD-2-Clause
"""Sends so many frames of each kind out of an interface, as fast as it can, to 10.9.0.2 from 10.9.0.1.

usage: flood.py INTERFACE MAC COUNT KIND...; prints how many the interface took.
       flood.py file:NAME MAC COUNT KIND...; the same into a capture.
"""
import random
import socket
import struct
import sys

US, PEER = socket.inet_aton("10.9.0.2"), socket.inet_aton("10.9.0.1")
DIFFERENT = 512                                 # frames of a kind, sent again and again
rnd = random.Random(7)


def csum(b):
    b += b"\0" * (len(b) % 2)
    s = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return ~s & 0xFFFF


class Frames:
    def __init__(self, mac, own):
        self.mac, self.own = mac, own

    def ip(self, proto, data, frag=0, ident=0):
        h = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(data), ident, frag, 64, proto, 0, PEER, US)
        return [self.mac + self.own + b"\x08\0" + h[:10] + struct.pack("!H", csum(h)) + h[12:] + data]

    def summed(self, proto, data, at):
        c = csum(PEER + US + struct.pack("!BBH", 0, proto, len(data)) + data)
        return self.ip(proto, data[:at] + struct.pack("!H", c or 0xFFFF) + data[at + 2:])

    def to(self, port, n):
        return self.summed(17, struct.pack("!HHHH", rnd.randrange(1024, 65536), port, 8 + n, 0) + bytes(n), 6)

    def flags(self, flags):
        return self.summed(6, struct.pack("!HHIIBBHHH", rnd.randrange(1024, 65536), 9999, rnd.getrandbits(32),
                                          rnd.getrandbits(32), 0x50, flags, 512, 0, 0), 16)

    def request(self, n):
        d = struct.pack("!BBHHH", 8, 0, 0, 7, rnd.getrandbits(16)) + bytes(n)
        return d[:2] + struct.pack("!H", csum(d)) + d[4:]

    def ping(self):
        return self.ip(1, self.request(56))

    def fragments(self):
        i, d = rnd.getrandbits(16), self.request(1992)
        return self.ip(1, d[:1480], 0x2000, i) + self.ip(1, d[1480:], 185, i)

    def echo(self):
        return self.to(7, 22)

    def long(self):
        return self.to(7, 1400)

    def closed(self):
        return self.to(9999, 22)

    def syn(self):
        return self.flags(2)

    def fin(self):
        return self.flags(1)

    def arp(self):
        return [b"\xff" * 6 + self.own + b"\x08\x06" +
                struct.pack("!HHBBH6s4s6s4s", 1, 0x800, 6, 4, 1, self.own, PEER, bytes(6), US)]


class Capture:
    def __init__(self, name):
        self.file = open(name, "wb")
        self.file.write(struct.pack("!IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))

    def send(self, frame):
        self.file.write(struct.pack("!IIII", 0, 0, len(frame), len(frame)) + frame)
        return len(frame)

    def getsockname(self):
        return (None, 0, 0, 0, bytes.fromhex("020000000a01"))


def interface(name):
    if name.startswith("file:"):
        return Capture(name[5:])
    k = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    k.bind((name, 0))
    return k


def main():
    k = interface(sys.argv[1])
    make = Frames(bytes.fromhex(sys.argv[2].replace(":", "")), k.getsockname()[4])
    count, took = int(sys.argv[3]), 0
    for kind in sys.argv[4:]:
        frames = []
        while len(frames) < DIFFERENT:
            frames += [f.ljust(60, b"\0") for f in getattr(make, kind)()]
        for _ in range(-(-count // len(frames))):
            for f in frames:
                try:
                    took += k.send(f) == len(f)
                except OSError:                 # its queue is full
                    pass
    print(took)


main()
