#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What leaves a graph, seen by a raw socket at the kernel's end of the wire: no frame is longer than the MTU, whatever
# is written, however small the peer's segments and windows are, through impairment and captures; with offload what
# stands for many frames is cut into such.  The kernel finds no wrong checksum, and every byte is right.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"

cat >"$tmp/g.lua" <<'END'
local a = args { driver = text { "tap" }, format = text { "v3" }, mode = text { "native" }, offload = text { "" },
                 mtu = size { 1500 }, impair = bool { false }, size = size { "64KiB" }, bytes = size { "4MiB" } }
local make = { tap = tap, packet = packet, xdp = xdp }
local d = { ifname = a.driver == "tap" and "xk0" or "own0" }
if a.driver == "tap" then d.addr, d.mtu = "10.9.0.1/24", a.mtu end
if a.driver == "packet" then d.format, d.mtu = a.format, a.mtu end
if a.driver == "xdp" then d.mode = a.mode end
if a.offload ~= "" then d.offload = a.offload == "true" end
local wire = make[a.driver](d)
if a.impair then wire = impair { loss = "1%", reorder = "1%", dup = "1%", seed = 3, over = wire } end
local net = ip { addr = "10.9.0.2/24", over = arp { over = eth { over = wire } } }
icmp { over = net }
local streams = tcp { over = net, snd_buf = "1MiB", rcv_buf = "1MiB" }
load { to = "10.9.0.1", port = 5002, conns = 4, size = a.size, count = a.bytes // a.size // 4, reconnect = "20ms", over = streams }
tcpecho { port = 7, over = streams }
stack { echo { port = 7 }, udp { over = net } }
return graph "leaving" { threading = vppc { vps = 2 } }
END

# Takes connections and compares them with what load sends: the pattern of SIZE bytes again and again.
cat >"$tmp/take.py" <<'END'
import socket, sys, threading
size, mss, window = (int(a) for a in sys.argv[1:])
x, page = 88172645463325252, bytearray()
for i in range(size):
    x ^= x << 13 & (1 << 64) - 1
    x ^= x >> 7
    x ^= x << 17 & (1 << 64) - 1
    page.append(x >> 32 & 255)
pages = page * (2 + 65536 // size)
lock, total, wrong, ended = threading.Lock(), 0, 0, threading.Semaphore(0)
def drain(c):
    global total, wrong
    at = 0
    while b := c.recv(65536):
        with lock:
            wrong += b != pages[at:at + len(b)]
            total += len(b)
        at = (at + len(b)) % size
    c.close()
    ended.release()
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if mss:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, mss)
if window:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
s.bind(("10.9.0.1", 5002))
s.listen(64)
for _ in range(4):
    threading.Thread(target=drain, args=(s.accept()[0],), daemon=True).start()
for _ in range(4):
    assert ended.acquire(timeout=200)
print(total, "bytes,", wrong, "wrong")
assert total > 1000000 and wrong == 0
END

bad_sums() { awk '/^Tcp:/ && ++n == 2 { t = $NF } /^Udp:/ && ++u == 2 { t += $(NF - 2) } END { print t }' /proc/net/snmp; }

# leaves KIND MSS WINDOW ARGS...: a graph with them sends to a peer of that segment size and window (0: as the kernel
# likes), and what leaves it is judged: plain, nothing stands for many; super, much does; any
leaves() {
	kind=$1 mss=$2 window=$3 mtu=1500 size=65536
	shift 3
	case " $* " in *" bytes="*) ;; *) set -- "bytes=$bytes" "$@" ;; esac
	for word; do
		case $word in mtu=*) mtu=${word#*=} ;; size=*) size=${word#*=} ;; esac
	done
	sums=$(bad_sums)
	graph_up "$tmp/g.lua" "$@"
	until_ok 20 ip link show $into || { cat "$tmp/run.err"; return 1; }
	rm -f "$tmp/left"                                # the last case's is ready, too
	python3 "$top_srcdir/tests/graph/leaving.py" $into "$mtu" "$kind" <"$tmp/end" >"$tmp/left" 2>&1 &
	looker=$!
	exec 9>"$tmp/end"
	until_ok 20 grep -q ready "$tmp/left" 9>&- || { cat "$tmp/left"; return 1; }
	# load asks until somebody is there
	timeout 250 python3 "$tmp/take.py" "$size" "$mss" "$window" >"$tmp/taken" 2>&1 9>&-
	took=$?
	exec 9>&-
	wait $looker
	graph_down || return 1
	cat "$tmp/taken" "$tmp/left"
	[ $took -eq 0 ] && [ "$(bad_sums)" = "$sums" ] || return 1
	tail -n 1 "$tmp/left" | jq -e ".bad == [] and .frames > 20 and {plain: (.super == 0), super: (.super > 10), any: true}[\"$kind\"]"
}
mkfifo "$tmp/end"
has_offload() { "$top_builddir/vp-run" --check "$tmp/g.lua" driver=$1 offload=true ${2-} >/dev/null 2>&1; }

into=xk0
bytes=${XK_TEST_SLOW:+1MiB}
: "${bytes:=4MiB}"

# everything NAME KIND NODE ARGS...: of one driver
everything() {
	name=$1 whole=$2 node=$3 small=any
	[ "$2" = super ] || small=plain
	shift 3
	ok "$name: writes of 64 KiB" leaves "$whole" 0 0 "$@"
	ok "$name: writes of 4097 bytes, segments of 537" leaves "$whole" 537 0 size=4097 "$@"
	ok "$name: writes of 256 KiB, segments of 88, a window of 4 KiB" leaves "$small" 88 4096 size=262144 bytes=1MiB "$@"
	ok "$name: impaired, nothing stands for many" leaves plain 1001 0 impair=true "$@"
	ok "$name: captured, nothing either" leaves plain 0 0 --capture "$node=$tmp/a.pcap" "$@"
}
into=xk0
if has_offload tap; then
	everything "tap, offload" super tap driver=tap offload=true
	ok "tap, offload: MTU 576" leaves super 0 0 mtu=576 driver=tap
	ok "tap, offload: MTU 8999" leaves super 0 0 mtu=8999 driver=tap
	everything tap plain tap driver=tap offload=false
else
	everything tap plain tap driver=tap
fi

into=peer0
if ! ip link add own0 type veth peer name $into 2>/dev/null; then
	skip "veth" "cannot make veth interfaces"
	done_testing
	exit
fi
ip link set own0 up && ip link set $into up && ip addr add 10.9.0.1/24 dev $into
for format in v2 v3; do
	if has_offload packet; then
		everything "packet $format, offload" super packet driver=packet format=$format offload=true
		everything "packet $format" plain packet driver=packet format=$format offload=false
	else
		everything "packet $format" plain packet driver=packet format=$format
	fi
done
graph_up -d 1ms "$tmp/g.lua" driver=xdp
wait $graph_pid
if grep -q -e 'built without AF_XDP' -e 'needs Linux 5.11' -e 'not permitted' "$tmp/run.err"; then
	skip "xdp" "$(head -n 1 "$tmp/run.err")"
else
	everything xdp plain xdp driver=xdp
fi
done_testing
