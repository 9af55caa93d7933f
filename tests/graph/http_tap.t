#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Linux kernel's TCP and its programs as the neighbour of a graph: the HTTP server and the small services.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"

graph=$top_srcdir/graphs/http-tap.lua
url=http://10.9.0.2
www=$tmp/www
big=${XK_TEST_SLOW:+16777216}
big=${big:-268435456}

# have TOOL NAME: is it there?  Else the test NAME is skipped, loudly.
have() {
	command -v "$1" >/dev/null && return 0
	skip "$2" "no $1"
	return 1
}

mkdir -p "$www/sub/empty"
echo 'hello, world' >"$www/hello.txt"
echo '<p>index' >"$www/index.html"
echo 'page' >"$www/sub/page.txt"
: >"$www/zero"
ln -s /etc/passwd "$www/out"
python3 - "$www/big" "$big" <<'END'
import random, sys
r, n = random.Random(7), int(sys.argv[2])
with open(sys.argv[1], "wb") as f:
    while n > 0:
        f.write(r.randbytes(min(n, 1 << 20)))
        n -= 1 << 20
END
sum=$(sha256sum <"$www/big")

cat >"$tmp/c.py" <<'END'
import hashlib, http.client, socket, sys, threading

HOST = "10.9.0.2"

def connect(port):
    s = socket.create_connection((HOST, port), 20)
    s.settimeout(20)
    return s

def all_of(s):                      # in one list: to copy all that came for each piece is slower than sendall waits
    came = []
    while True:
        d = s.recv(65536)
        if not d:
            return b"".join(came)
        came.append(d)

def raw(text):
    s = connect(80)
    s.sendall(text.encode("latin-1"))
    s.shutdown(socket.SHUT_WR)
    return all_of(s)

def keepalive():                    # many requests of one connection
    c = http.client.HTTPConnection(HOST, 80, timeout=20)
    c.connect()
    own = c.sock.getsockname()
    for i in range(200):
        c.request("GET" if i % 3 else "HEAD", "/hello.txt" if i % 2 else "/nothing")
        r = c.getresponse()
        b = r.read()
        assert r.status == (200 if i % 2 else 404), r.status
        assert (b == b"") == (i % 3 == 0), b
        assert c.sock.getsockname() == own

def pipelined():
    n = 50
    b = raw("GET /sub/page.txt HTTP/1.1\r\nHost: x\r\n\r\n" * n)
    assert b.count(b"\r\n\r\npage\n") == n, b.count(b"page")

def refusals():
    for want, text in (
            (400, "nonsense\r\n\r\n"), (400, "GET / HTTP/1.1\r\n\r\n"), (400, "GET /../x HTTP/1.1\r\nHost: x\r\n\r\n"),
            (400, "GET /%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n"), (403, "GET /out HTTP/1.1\r\nHost: x\r\n\r\n"),
            (403, "GET /sub/ HTTP/1.1\r\nHost: x\r\n\r\n"), (405, "POST / HTTP/1.1\r\nHost: x\r\n\r\n"),
            (413, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"),
            (414, "GET /" + "a" * 9000), (431, "GET / HTTP/1.1\r\nA: " + "a" * 9000),
            (501, "BREW / HTTP/1.1\r\nHost: x\r\n\r\n"), (505, "GET / HTTP/3.0\r\nHost: x\r\n\r\n")):
        b = raw(text)
        assert b.startswith(b"HTTP/1.1 %d " % want), (want, b[:80])

def slowloris():                    # the head must come in time: the graph runs with header=2s
    s = connect(80)
    s.sendall(b"GET / HTTP/1.1\r\nX:")
    assert all_of(s).startswith(b"HTTP/1.1 408 ")

def slow_reader(want, n):
    s = connect(80)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.sendall(b"GET /big HTTP/1.1\r\nHost: x\r\nRange: bytes=0-%d\r\nConnection: close\r\n\r\n" % (int(n) - 1))
    b = b""
    while b"\r\n\r\n" not in b:
        b += s.recv(100)
    b = b[b.index(b"\r\n\r\n") + 4:]
    h = hashlib.sha256(b)
    while True:
        d = s.recv(3000)
        if not d:
            break
        h.update(d)
    assert h.hexdigest() == want, h.hexdigest()

def gone():                         # clients that leave in the middle of an answer
    for i in range(20):
        s = connect(80)
        s.sendall(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
        s.recv(1000)
        if i % 2:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()

def echo(n):
    data = bytes((i * 7 + i // 256) & 255 for i in range(100003)) * (int(n) // 100003)
    s = connect(7)
    t = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)))
    t.start()
    got = all_of(s)
    t.join()
    assert got == data, (len(got), len(data))

def deaf():                         # writes without reading: the echo stops it, nothing is lost
    s = connect(7)
    s.settimeout(1)
    data, sent = bytes(range(256)) * 512, 0
    try:
        while sent < 1 << 28:
            sent += s.send(data[sent % 256:])
    except socket.timeout:
        pass
    assert 10000 < sent < 1 << 28, sent
    s.settimeout(20)
    s.shutdown(socket.SHUT_WR)
    got = all_of(s)
    assert len(got) == sent, (len(got), sent)
    assert all(got[i:i + 65536] == data[:min(65536, len(got) - i)] for i in range(0, len(got), 65536))

def many():                         # clients at once
    bad = []
    def one(i):
        try:
            c = http.client.HTTPConnection(HOST, 80, timeout=30)
            for _ in range(5):
                c.request("GET", "/hello.txt")
                assert c.getresponse().read() == b"hello, world\n"
        except Exception as e:
            bad.append(e)
    ts = [threading.Thread(target=one, args=(i,)) for i in range(100)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    assert not bad, bad[:3]

def refused():
    try:
        connect(4)
    except ConnectionRefusedError:
        return
    sys.exit("not refused")

def chargen():
    s = connect(19)
    b = b""
    while len(b) < 1000000:
        b += s.recv(65536)
    lines = b.split(b"\r\n")
    assert all(len(x) == 72 for x in lines[:-1])
    assert lines[0] == bytes(range(32, 104)) and lines[1] == bytes(range(33, 105))
    s.close()

globals()[sys.argv[1]](*sys.argv[2:])
END
c() { timeout 400 python3 "$tmp/c.py" "$@"; }
fetch() { curl -sS --max-time 400 "$@"; }
code() { [ "$(fetch -o /dev/null -w '%{http_code}' "$@")" = "$want" ]; }

graph_up --capture "tap=$tmp/a.pcap" "$graph" root="$www" header=2s
ok "the host is there" until_ok 10 answers 10.9.0.2
if have curl "curl"; then
	got() { [ "$(fetch $url/hello.txt)" = "hello, world" ]; }
	ok "curl: a file" got
	got() { fetch -I $url/hello.txt | tr -d '\r' | grep -qx 'Content-Length: 13'; }
	ok "curl: its head" got
	got() { [ "$(fetch $url/)" = "<p>index" ] && [ "$(fetch -L $url/sub/page.txt)" = page ]; }
	ok "curl: index.html, a folder" got
	got() { [ "$(fetch -r 7-11 $url/hello.txt)" = world ] && [ "$(fetch -r -6 $url/hello.txt)" = world ]; }
	ok "curl: ranges" got
	got() { fetch -r 99- -o /dev/null -w '%{http_code} %{header_json}' $url/hello.txt | tr -d '\n ' | grep -q '^416.*bytes\*/13'; }
	ok "curl: a range that is not there" got
	got() { [ "$(fetch -w ' %{num_connects}' $url/zero $url/zero $url/zero)" = " 1 0 0" ]; }
	ok "curl: one connection for three files" got
	for want in 404:/nothing 301:/sub 200:/zero 403:/out; do
		path=${want#*:}
		want=${want%%:*}
		ok "curl: $path is $want" code "$url$path"
	done
	want=400
	ok "curl: no way up" code --path-as-is "$url/../../etc/passwd"
	want=200
	ok "curl: HTTP/1.0" code -0 $url/hello.txt
	ok "curl: a body with Expect" code -X GET -H 'Expect: 100-continue' -d 0123456789 $url/hello.txt
	want=304
	ok "curl: not modified" code -z "$www/hello.txt" $url/hello.txt
	ok "keep the frames of all that" graph_down
	ok "tshark finds every frame whole and every checksum good" clean "$tmp/a.pcap" 100
	graph_up "$graph" root="$www" header=2s
	ok "the host is there again" until_ok 10 answers 10.9.0.2
	got() { [ "$(fetch $url/big | sha256sum)" = "$sum" ]; }
	ok "curl: $big bytes arrive as they are" got
	got() {
		fetch -r 0-9999999 $url/big >"$tmp/part" && fetch -C - -o "$tmp/part" $url/big &&
		[ "$(sha256sum <"$tmp/part")" = "$sum" ]
	}
	ok "curl: an interrupted transfer goes on" got
	rm -f "$tmp/part"
	got() {
		for i in 1 2 3 4; do fetch $url/big | sha256sum >"$tmp/sum.$i" & eval "p$i=\$!"; done
		wait "$p1" "$p2" "$p3" "$p4"
		for i in 1 2 3 4; do [ "$(cat "$tmp/sum.$i")" = "$sum" ] || return 1; done
	}
	ok "curl: four at a time" got
fi
if have wget "wget"; then
	got() { [ "$(wget -q -T 60 -t 1 -O - $url/big | sha256sum)" = "$sum" ]; }
	ok "wget: the large file" got
	refuses "wget: what is not there" wget -q -T 10 -t 1 -O /dev/null $url/nothing
fi
ok "200 requests on one connection" c keepalive
ok "50 requests at once" c pipelined
ok "100 clients" c many
ok "refusals" c refusals
ok "a request that does not end" c slowloris
part=1000000
ok "a slow reader" c slow_reader "$(head -c $part "$www/big" | sha256sum | cut -d' ' -f1)" $part
ok "clients that leave" c gone
ok "echo of 30 MB" c echo 30000000
ok "an echo that nobody reads" c deaf
ok "chargen" c chargen
ok "a port where nobody waits" c refused
if have socat "socat: echo"; then
	got() { [ "$(echo hello | timeout 10 socat -t5 - TCP:10.9.0.2:7)" = hello ]; }
	ok "socat: echo" got
	got() { head -c 1000000 "$www/big" | timeout 30 socat -u - TCP:10.9.0.2:9; }
	ok "socat: discard" got
fi
if have nc "nc: echo"; then
	got() { [ "$(echo hello | timeout 10 nc -N 10.9.0.2 7)" = hello ]; }
	ok "nc: echo" got
	got() { head -c 5000000 "$www/big" | timeout 30 nc -N 10.9.0.2 5001; }
	ok "nc: bulk" got
fi
ok "the graph ends well and leaks nothing" graph_down
counted() { jq -e "$1" "$tmp/run.json"; }
ok "nothing failed that should not" counted \
	'[.nodes[] | select(.name == "http") | .counters | .file_errors + .failed + .refused + .server_errors] == [2]'
ok "clients that reset were counted" counted '[.nodes[] | select(.name == "http") | .counters.reset] | add >= 5'

# A small MTU, and the server ended while it serves.
graph_up "$graph" root="$www" mtu=576 vps=1
ok "MTU 576: the host is there" until_ok 10 answers 10.9.0.2
ok "MTU 576: echo" c echo 1000000
if have curl "MTU 576: curl"; then
	got() { [ "$(fetch -r 0-4999999 $url/big | sha256sum)" = "$(head -c 5000000 "$www/big" | sha256sum)" ]; }
	ok "MTU 576: five million bytes" got
	fetch -o "$tmp/slow" --limit-rate 100k $url/big >/dev/null 2>&1 &
	slow=$!
	ok "MTU 576: a slow client has the beginning" until_ok 10 test -s "$tmp/slow"
	ok "the graph ends well in the middle of an answer" graph_down
	kill $slow 2>/dev/null
else
	ok "MTU 576: the graph ends well" graph_down
fi
done_testing
