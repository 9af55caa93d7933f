# SPDX-License-Identifier: BSD-2-Clause
"""web_abuse.py URL - strangers in crowds, silence, half heads, garbage and readers that do not read, at vp-ctl web.

After each, and meanwhile, who has the address is answered.
"""
import http.client
import random
import socket
import sys
import urllib.parse

url = urllib.parse.urlparse(sys.argv[1])
where = (url.hostname, url.port)
token = url.path.strip("/")


def connect(text=b""):
    s = socket.create_connection(where, timeout=60)
    s.sendall(text)
    return s


def get(path="snapshot"):
    c = http.client.HTTPConnection(*where, timeout=60)
    c.request("GET", url.path + path)
    answer = c.getresponse()
    body = answer.read()
    c.close()
    assert answer.status == 200, (path, answer.status)
    return body


def cut(s):
    """Whether the other side has ended it."""
    try:
        return s.recv(1) == b""
    except ConnectionResetError:
        return True


# A crowd that says nothing, and one that never ends its head: the oldest make room, all the time.
for text in b"", b"GET /" + token[:-1].encode() + b"x/ HTTP/1.1\r\nHost: 127.0.0.1\r\n":
    crowd = [connect(text) for _ in range(100)]
    get()
    assert all(cut(s) for s in crowd[:50])
    more = [connect(text) for _ in range(100)]
    get()
    assert all(cut(s) for s in crowd)
    for s in crowd + more:
        s.close()

# Who has shown the token stays while they come.
known = http.client.HTTPConnection(*where, timeout=60)
for _ in range(3):
    crowd = [connect() for _ in range(60)]
    known.request("GET", url.path + "snapshot")
    assert len(known.getresponse().read()) > 100
    for s in crowd:
        s.close()

# Garbage.
random.seed(7)
for _ in range(200):
    s = connect(random.randbytes(random.randrange(1, 400)) + b"\r\n\r\n")
    s.close()
for text in (b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 3000 + b"\r\n\r\n", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
             b"POST /" + token.encode() + b"/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nX-VP-Token: " + token.encode() + b"\r\nContent-Length: -1\r\n\r\n",
             b"POST /" + token.encode() + b"/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nX-VP-Token: " + token.encode() +
             b"\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
    s = connect()
    try:
        s.sendall(text)
    except (BrokenPipeError, ConnectionResetError):
        pass
    s.close()
get()

# A body that stops in its middle, and its writer goes.
half = (b"POST /" + token.encode() + b"/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nX-VP-Token: " + token.encode() +
        b"\r\nContent-Length: 500\r\n\r\n{\"cmd\":")
halves = [connect(half) for _ in range(20)]
get()
for s in halves[::2]:
    s.close()
get()

# Readers that do not read: all that they were sent waits in their sockets, and nobody else for them.
lazy = [connect((f"GET {url.path}snapshot HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 50).encode()) for _ in range(20)]
for _ in range(20):
    get()
get("page.js")
for s in lazy + halves:
    s.close()
