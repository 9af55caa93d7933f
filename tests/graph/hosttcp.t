#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# hosttcp.t - TCP sockets of the host's kernel below a graph: graphs at both ends under every preset, and plain
# socket programs as peers, both ways; slow readers, ends of either side, and what the kernel refuses.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes tools="ip unshare python3 jq"
. "$top_srcdir/tests/graph/tap_lib.sh"
file=$top_srcdir/graphs/hosttcp-echo.lua

cat >"$tmp/tcp.py" <<'END'
import os, signal, socket, struct, sys, threading, time
what, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
def pattern(n):
    return bytes((i * 7 + i // 251) & 255 for i in range(n))
def connected():
    end = time.monotonic() + 20
    while True:                  # until the server is there
        try:
            return socket.create_connection((host, port), 20)
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.02)
def read_all(c):
    got = bytearray()
    while True:
        d = c.recv(65536)
        if not d:
            return bytes(got)
        got += d
def serve(fn):
    with socket.create_server((host, port), backlog=64) as s:
        print("ready", flush=True)
        while True:
            threading.Thread(target=fn, args=(s.accept()[0],), daemon=True).start()
def echo(c):
    while True:
        d = c.recv(65536)
        if not d:
            break
        c.sendall(d)
    c.close()
def reset(c):
    c.recv(1)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.close()
def ended_then_reset(c):         # our end first, so the other side's socket is in CLOSE-WAIT or beyond
    c.shutdown(socket.SHUT_WR)
    c.recv(1)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.close()
if what == "server":
    serve(echo)
elif what == "resets-late":
    serve(ended_then_reset)
elif what == "ends":             # its end at once, then nothing is read: its death resets all
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.bind((host, port))
    s.listen(64)
    print("ready", flush=True)
    socks = [s.accept()[0] for _ in range(4)]
    for c in socks:
        c.shutdown(socket.SHUT_WR)
    signal.pause()
elif what == "unwatched":        # so many sockets to the port in LAST-ACK, and a process waits for none of them
    pid, n = sys.argv[4], int(sys.argv[5])
    lines = [line.split() for line in open("/proc/net/tcp").readlines()[1:]]
    ends = {"socket:[%s]" % w[9] for w in lines if w[2].endswith(":%04X" % port) and w[3] == "09"}
    assert len(ends) == n, lines
    for fd in os.listdir("/proc/%s/fdinfo" % pid):
        for line in open("/proc/%s/fdinfo/%s" % (pid, fd)):
            if line.startswith("tfd:"):
                to = os.readlink("/proc/%s/fd/%s" % (pid, line.split()[1]))
                assert to not in ends, to
elif what == "resets":
    serve(reset)
elif what == "taken":
    s = socket.create_server((host, port))
    print("ready", flush=True)
    s.accept()
elif what == "bytes":            # n bytes there and back, our end, then theirs
    n = int(sys.argv[4])
    data = pattern(n)
    c = connected()
    got = []
    t = threading.Thread(target=lambda: got.append(read_all(c)))
    t.start()
    c.sendall(data)
    c.shutdown(socket.SHUT_WR)
    t.join()
    assert got and got[0] == data, "%d bytes came back for %d" % (len(got[0]) if got else -1, n)
elif what == "slow":             # nothing is read until all we may send is sent
    c = connected()
    c.setblocking(False)
    sent = 0
    data = pattern(1 << 16)
    quiet = 0
    while quiet < 20:
        try:
            sent += c.send(data[sent % 65536:])
            quiet = 0
        except BlockingIOError:
            quiet += 1
            time.sleep(0.01)
        assert sent < 64 << 20, "nobody holds us back"
    c.setblocking(True)
    c.shutdown(socket.SHUT_WR)
    got = read_all(c)
    assert len(got) == sent, (len(got), sent)
    assert got == (data * (sent // 65536 + 1))[:sent]
elif what == "many":
    socks = [connected() for _ in range(100)]
    for i, c in enumerate(socks):
        c.sendall(b"client %d" % i)
    for i, c in enumerate(socks):
        want = b"client %d" % i
        got = b""
        while len(got) < len(want):
            got += c.recv(100)
        assert got == want
END
tcp() { timeout 60 python3 "$tmp/tcp.py" "$@"; }
counted() { jq -e "$1" "$tmp/run.json"; }
sum_of() { echo "[.nodes[] | select(.protocol == \"hosttcp\") | $1 // 0] | add"; }
of_load() { echo "[.nodes[] | select(.name == \"load\") | .counters.$1] | add"; }
one_run() {
	timeout 60 "$top_builddir/vp-run" --json "$file" "$@" >"$tmp/run.json" 2>"$tmp/run.err"
	got=$?
	cat "$tmp/run.err"
	[ $got -eq 0 ]
}

# Both ends are graphs.
delivers() {
	one_run port=7107 count=40 "$@" && counted "$(of_load drained) == 4" &&
		counted '[.nodes[] | select(.name == "tcpecho") | .counters.bytes] | add == 4 * 40 * 4096'
}
asks() { one_run role=client port=7108 count=25 preset="$1" && counted "$(of_load drained) == 4" && counted "$(of_load received_bytes) == 4 * 25 * 4096"; }
answers_to() {
	graph_up "$file" role=server port=7109 preset="$1"
	tcp bytes 127.0.0.1 7109 300000 && graph_down && counted "$(sum_of .counters.bytes_written) == 300000"
}
python3 "$tmp/tcp.py" server 127.0.0.1 7108 >"$tmp/server" 2>&1 &
server=$!
until_ok 10 grep -q ready "$tmp/server"
# Both ends under every preset, a program at the one or the other in turns.
asked=true
for preset in $(presets); do
	ok "hosttcp.$preset: graphs at both ends" delivers preset="$preset"
	if $asked; then
		ok "hosttcp.$preset: a program answers" asks "$preset"
		asked=false
	else
		ok "hosttcp.$preset: a program asks" answers_to "$preset"
		asked=true
	fi
done
kill $server

# One way, compared byte for byte at the other end, through a small buffer and a large one.
one_way() {
	one_run service=sink window=0 count=300 size=10000 "$@" && counted "$(of_load drained) == 4" &&
		counted '[.nodes[] | select(.name == "sink") | .counters.bytes] | add == 4 * 300 * 10000' &&
		counted '[.nodes[] | select(.name == "sink") | .counters.wrong_bytes] | add == 0'
}
ok "all bytes arrive as they were, one way" one_way
ok "through a small buffer" one_way buffer=4KiB

graph_up "$file" role=server port=7109
ok "nothing but an end" tcp bytes 127.0.0.1 7109 0
ok "one byte" tcp bytes 127.0.0.1 7109 1
ok "five million bytes" tcp bytes 127.0.0.1 7109 5000000
ok "who does not read is held back, and gets all" tcp slow 127.0.0.1 7109
ok "a hundred connections" tcp many 127.0.0.1 7109
ok "the graph ends well" graph_down
ok "it accepted them" counted "$(sum_of .counters.accepted) == 104"

# What goes wrong.
# ends_with COUNTER ARG...: all four connections of a client come to that.
ends_with() {
	what=$1
	shift
	graph_up --control="$tmp/ctl" "$file" role=client "$@"
	until_ok 10 has ".counters.$what"
	come=$?
	graph_down >/dev/null 2>&1
	return $come
}
# Nothing at all is no answer of jq's: so the snapshot is there first.
has() { "$top_builddir/vp-ctl" -s "$tmp/ctl" --json snapshot >"$tmp/snap" && jq -e "$(sum_of "$1") == 4" "$tmp/snap"; }
ok "nobody is there: the connections fail" ends_with failed port=7110
python3 "$tmp/tcp.py" resets 127.0.0.1 7111 >"$tmp/resets" 2>&1 &
resets=$!
until_ok 10 grep -q ready "$tmp/resets"
ok "a peer that resets: told" ends_with reset port=7111
kill $resets
python3 "$tmp/tcp.py" resets-late 127.0.0.1 7114 >"$tmp/late" 2>&1 &
resets=$!
until_ok 10 grep -q ready "$tmp/late"
ok "a peer that ends, then resets: told as a reset" ends_with reset port=7114
kill $resets
# The peer has ended and takes nothing, and our end goes with the last bytes.
python3 "$tmp/tcp.py" ends 127.0.0.1 7115 >"$tmp/ends" 2>&1 &
ends=$!
until_ok 10 grep -q ready "$tmp/ends"
cat >"$tmp/ends.lua" <<'END'
stack { load { to = "127.0.0.1", port = 7115, conns = 4, rate = 20, count = 8, size = "8KiB" }, hosttcp {} }
return graph "ends" { threading = up {} }
END
graph_up "$tmp/ends.lua"
ok "both sides have ended: nothing waits for more" until_ok 10 tcp unwatched 127.0.0.1 7115 $graph_pid 4
kill -KILL $ends
ok "yet a reset is told, and all are over" graph_ends 1 "every one of its connections"
ok "as resets" counted "$(sum_of .counters.reset) == 4"
python3 "$tmp/tcp.py" taken 0.0.0.0 7112 >"$tmp/taken" 2>&1 &
taken=$!
until_ok 10 grep -q ready "$tmp/taken"
fails() {
	timeout 60 "$top_builddir/vp-run" "$file" "$@" >"$tmp/out" 2>"$tmp/run.err"
	got=$?
	cat "$tmp/run.err"
	[ $got -eq 4 ] || [ $got -eq 1 ]
}
said() { grep -q "$1" "$tmp/run.err"; }
ok "a port that is taken is an error" fails role=server port=7112
ok "that says so" said "cannot wait on port 7112"
kill $taken
ok "no route: the connections fail" ends_with failed to=203.0.113.9 port=9
ok "no such namespace is an error" fails netns=nowhere

# Descriptors run out while peers come: they wait, and nothing breaks.
few() {
	(ulimit -n 60 && exec "$top_builddir/vp-run" --json "$file" role=server port=7113 preset=up) >"$tmp/run.json" 2>"$tmp/run.err" &
	graph_pid=$!
	python3 "$tmp/tcp.py" many 127.0.0.1 7113 >"$tmp/few" 2>&1 &
	many=$!
	until_ok 10 test -L "/proc/$graph_pid/fd/59"
	kill $many
	wait $many
	tcp bytes 127.0.0.1 7113 1000 && graph_down && counted "$(sum_of .counters.no_descriptors) > 0"
}
ok "no descriptors left: the rest wait" few

ip netns add xkhost && ip netns exec xkhost ip link set lo up
ok "both ends in a namespace" delivers netns=xkhost
ip netns del xkhost
done_testing
