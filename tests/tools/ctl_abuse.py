# SPDX-License-Identifier: BSD-2-Clause
"""ctl_abuse.py SOCKET - garbage, half lines, huge lines, crowds and silence at a live view.

After each the server answers somebody else as if nothing had been; it neither waits for a bad
client nor believes it.
"""
import json
import random
import socket
import sys

path = sys.argv[1]


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(path)
    return s


def line(s):
    got = b""
    while not got.endswith(b"\n"):
        more = s.recv(65536)
        if not more:
            break
        got += more
    return got


def ask(s, text):
    s.sendall(text.encode() if isinstance(text, str) else text)
    return json.loads(line(s))


def alive():
    s = connect()
    assert ask(s, '{"id":7,"cmd":"describe"}\n')["id"] == 7
    s.close()


def refused(text, code):
    s = connect()
    answer = ask(s, text)
    assert not answer["ok"] and answer["error"]["code"] == code, (text, answer)
    s.close()
    alive()


# Lines that are no requests.
refused("hello\n", "syntax")
refused(b"\xff\xfe\n", "syntax")
refused(b'{"cmd":"sh\x00ow"}\n', "syntax")
refused("[1]\n", "syntax")
refused("{}\n", "no-command")
refused('{"cmd":3}\n', "no-command")
refused('{"cmd":"show","cmd":"show"}\n', "syntax")
refused('{"id":[1],"cmd":"describe"}\n', "bad-id")
refused('{"cmd":"show","what":["graph"]}\n', "bad-argument")
refused('{"cmd":"show","what":"vps","limit":-1}\n', "bad-argument")
refused('{"cmd":"show","what":"vps","limit":1e300}\n', "bad-argument")
refused("[" * 5000 + "\n", "syntax")
refused("x" * 65536, "too-long")

# A line without an end, and its writer ends.
s = connect()
s.sendall(b'{"cmd":')
s.shutdown(socket.SHUT_WR)
assert json.loads(line(s))["error"]["code"] == "unfinished"
assert s.recv(1) == b""

# Half lines stay where they are while others are served; then they are whole.
half = connect()
half.sendall(b'{"id":1,"cmd":"descr')
alive()
assert ask(half, 'ibe"}\n')["ok"]

# Many requests at once are answered in order.
s = connect()
s.sendall(b"".join(b'{"id":%d,"cmd":"show","what":"runtime"}\n' % i for i in range(200)))
f = s.makefile("rb")
for i in range(200):
    assert json.loads(f.readline())["id"] == i

# Somebody who asks much and reads nothing.
deaf = connect()
deaf.setblocking(False)
try:
    for i in range(20000):
        deaf.send(b'{"cmd":"show","what":"sessions","limit":10000}\n')
except BlockingIOError:
    pass
alive()
deaf.close()
alive()

# A crowd: some are served, the others are told.
crowd, told = [], 0
for i in range(300):
    c = socket.socket(socket.AF_UNIX)
    c.settimeout(60)
    try:
        c.connect(path)
    except (BlockingIOError, ConnectionRefusedError):
        continue
    crowd.append(c)
for c in crowd:
    try:
        c.sendall(b'{"cmd":"show","what":"runtime"}\n')
        answer = json.loads(line(c) or b'{"ok":false}')
    except (BrokenPipeError, ConnectionResetError):
        answer = {"ok": False}
    told += not answer["ok"]
assert 0 < told < len(crowd), (told, len(crowd))
for c in crowd:
    c.close()
half.close()
# Their places come free as soon as the server has seen them go.
while True:
    s = connect()
    try:
        if ask(s, '{"cmd":"describe"}\n')["ok"]:
            break
    except (BrokenPipeError, ConnectionResetError, json.JSONDecodeError):
        pass
    s.close()
s.close()

# Who goes away while being answered bit by bit takes nothing with him.
for i in range(10):
    s = connect()
    s.sendall(b'{"cmd":"trace","node":"udp","count":100000,"time":"1h"}\n')
    line(s)
    s.close()
alive()

# Random bytes, and requests with random damage.
rand = random.Random(1)
good = b'{"id":1,"cmd":"show","what":"sessions","node":"udp","limit":3,"cursor":"1.0.2"}\n'
for i in range(300):
    s = connect()
    if i % 2:
        bad = bytes(rand.randrange(256) for _ in range(rand.randrange(1, 2000)))
    else:
        bad = bytearray(good)
        for _ in range(rand.randrange(1, 6)):
            bad[rand.randrange(len(bad))] = rand.randrange(256)
    try:
        s.sendall(bad)
        if rand.random() < 0.5:
            s.shutdown(socket.SHUT_WR)
            while s.recv(65536):
                pass
    except (BrokenPipeError, ConnectionResetError):
        pass
    s.close()
alive()
