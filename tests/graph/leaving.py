# SPDX-License-Identifier: BSD-2-Clause
"""Looks at every frame from 10.9.0.2 that comes in at an interface until its input ends, and says what is wrong.

usage: leaving.py INTERFACE MTU plain|super|any

No frame may be longer than the MTU and a link header.  But for "plain" one may stand for many, by the header that the
kernel keeps with it (virtio-net): then the pieces are judged, as the kernel will cut them.  Checksums that the kernel
is not asked to make are there and good.  Prints "ready", and at the end one line of JSON: frames, super, pieces, the
longest, and the first few that are bad.
"""
import json
import select
import socket
import struct
import sys

SOL_PACKET, PACKET_VNET_HDR = 263, 15
NEEDS_CSUM, DATA_VALID = 1, 2
GSO = {0: "none", 1: "tcp4", 3: "udp", 5: "udp_l4"}
US = socket.inet_aton("10.9.0.2")


def csum(b):
    b += b"\0" * (len(b) % 2)
    s = sum(struct.unpack("!%dH" % (len(b) // 2), b))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return s


class Judge:
    def __init__(self, mtu, super_allowed):
        self.mtu, self.super_allowed = mtu, super_allowed
        self.seen = {"frames": 0, "super": 0, "pieces": 0, "longest": 0, "bad": []}

    def bad(self, why):
        if len(self.seen["bad"]) < 5:
            self.seen["bad"].append(why)

    def longest(self, n):
        self.seen["longest"] = max(self.seen["longest"], n)
        if n > self.mtu:
            self.bad("%d bytes of IP" % n)

    def frame(self, vnet, f):
        flags, kind, hdr_len, size, start, offset = struct.unpack("<BBHHHH", vnet)
        p = f[14:]
        if f[12:14] != b"\x08\0" or p[12:16] != US:
            return
        self.seen["frames"] += 1
        total, ihl, frag = struct.unpack("!H", p[2:4])[0], 4 * (p[0] & 15), struct.unpack("!H", p[6:8])[0]
        if kind == 0:
            self.longest(total)
            if len(p) < total or (len(p) > total and len(f) > 60):
                self.bad("%d bytes for a datagram of %d" % (len(p), total))
        else:
            self.super_segment(p, kind & 0x7F, ihl, size, flags, start, offset)
        if csum(p[:ihl]) != 0xFFFF:
            self.bad("IP's checksum")
        if kind == 0 and not flags & (NEEDS_CSUM | DATA_VALID) and p[9] in (6, 17) and not frag & 0x3FFF:
            t = p[ihl:total]
            zero = p[9] == 17 and t[6:8] == b"\0\0"
            if not zero and csum(p[12:20] + struct.pack("!BBH", 0, p[9], len(t)) + t) != 0xFFFF:
                self.bad("checksum of protocol %d, %d bytes" % (p[9], len(t)))

    def super_segment(self, p, kind, ihl, size, flags, start, offset):
        self.seen["super"] += 1
        t = p[ihl:]
        headers = ihl + (t[12] >> 4) * 4 if p[9] == 6 else ihl + 8
        if not self.super_allowed:
            self.bad("a super-segment")
        if (kind, p[9]) not in ((1, 6), (5, 17)):
            self.bad("kind %d for protocol %d" % (kind, p[9]))
        if size == 0 or len(p) <= headers:
            self.bad("pieces of %d bytes of %d" % (size, len(p) - headers))
            return
        self.seen["pieces"] += -(-(len(p) - headers) // size)
        self.longest(headers + min(size, len(p) - headers))
        if not flags & NEEDS_CSUM or start != 14 + ihl or offset != (16 if p[9] == 6 else 6):
            self.bad("checksum at %d + %d, flags %d" % (start, offset, flags))


def main():
    k = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    k.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    k.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)     # SO_RCVBUFFORCE
    k.bind((sys.argv[1], 0x0800))
    judge = Judge(int(sys.argv[2]), sys.argv[3] != "plain")
    print("ready", flush=True)
    while True:
        ready = select.select([k, sys.stdin], [], [])[0]
        if k in ready:
            try:
                b, who = k.recvfrom(1 << 17, socket.MSG_DONTWAIT)
            except OSError:                          # the interface went; what came before is still there
                continue
            if who[2] != 4:                          # not PACKET_OUTGOING
                judge.frame(b[:10], b[10:])
        else:
            break
    print(json.dumps(judge.seen))


main()
