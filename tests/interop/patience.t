#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Peers that take their time: 10 000 that say nothing, one that does not read for a while, one that reads 1 KiB a second.
# Nobody else waits for them, every byte comes in the end, and nothing is left.
#
#   XK_PATIENCE=120   so many seconds without reading, and as many of slow reading
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
tools="ip unshare python3 jq ping"
. "$top_srcdir/tests/graph/tap_lib.sh"

patience=${XK_PATIENCE:-0}
peers=${XK_TEST_SLOW:+500}
: "${peers:=10000}"
mkdir "$tmp/www"
head -c 8388608 /dev/urandom >"$tmp/big"
echo small >"$tmp/www/small"

cat >"$tmp/c.py" <<'END2'
import fcntl, hashlib, resource, select, socket, struct, sys, termios, threading, time
HOST = "10.9.0.2"

def get(name):
    s = socket.create_connection((HOST, 80), 60)
    s.sendall(b"GET /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % name.encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += s.recv(1)
    assert head.startswith(b"HTTP/1.1 200 "), head
    return s

def rest(s, h=None):
    h = h or hashlib.sha256()
    while d := s.recv(65536):
        h.update(d)
    return h.hexdigest()

def others():
    assert rest(get("small")) == hashlib.sha256(b"small\n").hexdigest()

def echo(name):                         # what is sent comes back, when it is read; its bytes
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect((HOST, 7))
    data = open(name, "rb").read()
    threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)), daemon=True).start()
    return s, hashlib.sha256(data).hexdigest()

def fill(s):                            # until no more comes than can be read
    n = lambda: struct.unpack("i", fcntl.ioctl(s, termios.FIONREAD, b"\0" * 4))[0]
    before = -1
    while before != n() or before == 0:
        before = n()
        time.sleep(0.2)

def stops(seconds, name):
    s, want = echo(name)
    fill(s)
    end = time.monotonic() + float(seconds)
    others()
    while time.monotonic() < end:
        time.sleep(1)
        others()
    assert rest(s) == want

def slow(seconds, name):
    (s, want), h = echo(name), hashlib.sha256()
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        d = s.recv(1024)
        assert d
        h.update(d)
        others()
        time.sleep(1)
    assert rest(s, h) == want

def idle(n):
    n = int(n)
    resource.setrlimit(resource.RLIMIT_NOFILE, (n + 100, n + 100))
    poll, socks = select.epoll(), {}
    def begin():
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex((HOST, 7))
        socks[s.fileno()] = s
        poll.register(s.fileno(), select.EPOLLOUT)
    def each(want, does):               # every socket once, when it is ready for it
        for fd in socks:
            poll.modify(fd, want)
        left = len(socks)
        while left:
            ready = poll.poll(60)
            assert ready, "nothing for a minute, %d of %d left" % (left, len(socks))
            for fd, events in ready:
                assert not events & (select.EPOLLERR | select.EPOLLHUP), socks[fd].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                does(socks[fd])
                poll.modify(fd, 0)
                left -= 1
    def speaks(s):
        assert s.send(b"x") == 1
    def hears(s):
        assert s.recv(2) == b"x"
    def talk():
        each(select.EPOLLOUT, speaks)
        each(select.EPOLLIN, hears)
    for at in range(0, n, 500):         # a listener's queue has an end
        before = set(socks)
        while len(socks) < min(at + 500, n):
            begin()
        new = {fd: s for fd, s in socks.items() if fd not in before}
        old, socks = socks, new
        talk()
        socks = old
    print(len(socks), "stand", flush=True)
    others()
    sys.stdin.read(1)                   # until somebody has looked
    talk()
    others()

globals()[sys.argv[1]](*sys.argv[2:])
END2
c() { timeout $((patience + 300)) python3 "$tmp/c.py" "$@"; }
resident() { awk '/^VmRSS:/ { print $2 }' "/proc/$graph_pid/status"; }

graph_up "$top_srcdir/graphs/http-tap.lua" root="$tmp/www"
ok "the host is there" until_ok 20 answers 10.9.0.2
ok "a reader stops for $patience s, and then reads all of 8 MiB" c stops "$patience" "$tmp/big"
ok "a reader takes 1 KiB a second for $patience s, and then the rest" c slow "$patience" "$tmp/big"

mkfifo "$tmp/go"
stand_or_ended() { grep -q stand "$tmp/idle" || ! kill -0 $idlers; }
idle() {
	before=$(resident)
	c idle $peers <"$tmp/go" >"$tmp/idle" 2>&1 &
	idlers=$!
	exec 9>"$tmp/go"
	until_ok 200 stand_or_ended
	after=$(resident)
	echo "$peers peers: $before KiB resident before, $after with them" | tee "$tmp/figure"
	exec 9>&-
	wait $idlers || { cat "$tmp/idle"; return 1; }
	# What a connection needs at rest, docs/performance.md; of few peers what all of them need once is more.
	[ $peers -lt 10000 ] || [ $(((after - before) * 1024 / peers)) -le 2048 ]
}
ok "$peers idle peers: others are served, and each still has its connection" idle
sed 's/^/# /' "$tmp/figure"
ok "the graph ends well and leaks nothing" graph_down
failed() { jq -e '[.nodes[] | select(.name == "http" or .name == "tcpecho") | .counters | .failed, .reset // 0] | add == 0' "$tmp/run.json"; }
ok "no connection of theirs has failed" failed
done_testing
