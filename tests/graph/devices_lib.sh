# SPDX-License-Identifier: BSD-2-Clause
# devices_lib.sh - for tests of what happens to a device of the kernel while a graph runs on it, in a network of its own,
# with the kernel as the neighbour.  Source it right after tap.sh.  The device is xkp1, under each driver; of packet and
# xdp it is one end of a veth pair, whose other end, xkp0, is the kernel's; a TAP device is made by the graph.

tools="ip unshare ping ethtool python3 jq"
without_tun=yes
. "$top_srcdir/tests/graph/tap_lib.sh"

us=10.9.0.2
# An answer takes no time; a question that came too early is asked again.
answers() { ping -c1 -W0.3 ${1:-$us}; }
# soon IFNAME: the kernel asks for us before we are there; again after a twentieth of a second, not one
soon() { sysctl -qw "net.ipv4.neigh.$1.retrans_time_ms=50" 2>/dev/null; }

# link_up: a fresh pair of interfaces: the kernel's has the address that it had before, as another host's would, ours not
link_up() {
	[ "$driver" != tap ] || return 0
	ip link add xkp0 address 02:00:00:00:00:11 type veth peer name xkp1 && ip link set xkp0 up && ip link set xkp1 up &&
	ip addr add 10.9.0.1/24 dev xkp0 && { soon xkp0 || true; }
}
# link_away: the device goes, and none can be had until link_back
link_away() {
	if [ "$driver" = tap ]; then
		mount --bind /dev/null /dev/net/tun && ip link del xkp1
	else
		ip link del xkp0
	fi
}
link_back() {
	if [ "$driver" = tap ]; then umount /dev/net/tun; else link_up; fi
}
# link_gone: for good
link_gone() {
	if [ "$driver" = tap ]; then ip link del xkp1; else ip link del xkp0; fi
}
# has_driver: can it run here?  Sets why_not.
has_driver() {
	why_not=
	case $driver in
	tap) [ -c /dev/net/tun ] || why_not="needs /dev/net/tun" ;;
	xdp)
		link_up
		"$top_builddir/vp-run" -d 1ms "$tmp/dev.lua" driver=xdp >"$tmp/xdp.out" 2>"$tmp/xdp.err" ||
			why_not=$(grep -e 'built without AF_XDP' -e 'needs Linux 5.11' -e 'not permitted' "$tmp/xdp.err" | head -n 1)
		link_gone
		;;
	esac
	[ -z "$why_not" ]
}

cat >"$tmp/dev.lua" <<'END'
local a = args { driver = text { "packet" }, reattach = bool { false }, vps = uint { 3, min = 1, max = 64 },
  fanout = text { "auto" }, mode = text { "generic" }, netns = text { "" } }
local at = a.netns ~= "" and a.netns or nil
local dev
if a.driver == "packet" then
  dev = packet { ifname = "xkp1", netns = at, reattach = a.reattach, fanout = a.fanout }
elseif a.driver == "xdp" then
  dev = xdp { ifname = "xkp1", netns = at, reattach = a.reattach, mode = a.mode, frames = 128 }
else
  dev = tap { ifname = "xkp1", netns = at, reattach = a.reattach, addr = "10.9.0.1/24" }
end
local net = stack { ip { addr = "10.9.0.2/24" }, arp { reachable = "1s" }, eth {}, dev }
icmp { over = net }
tcpecho { port = 7, over = tcp { over = net } }
return graph "dev" { threading = vppc { vps = a.vps } }
END

# Echoes over one connection, which is exact or an exception: until the file `enough` is there, and 20 more.
cat >"$tmp/echoes.py" <<'END'
import os, random, socket, sys
rnd, left, n = random.Random(1), 20, 0
with socket.create_connection(("10.9.0.2", 7)) as s:
    s.settimeout(60)
    while left:
        b, got = rnd.randbytes(60000), b""
        s.sendall(b)
        while len(got) < len(b):
            part = s.recv(65536)
            assert part, "closed"
            got += part
        assert got == b, "not what was sent"
        n += 1
        open(sys.argv[1] + "/echoes.new", "w").write(str(n))
        os.replace(sys.argv[1] + "/echoes.new", sys.argv[1] + "/echoes")
        left -= os.path.exists(sys.argv[1] + "/enough")
END
# echoes [COMMAND...]: begins them, by way of COMMAND
echoes() {
	rm -f "$tmp/enough" "$tmp/echoes"
	"$@" python3 "$tmp/echoes.py" "$tmp" >"$tmp/echoes.out" 2>&1 &
	echoes_pid=$!
	until_ok 10 test -s "$tmp/echoes"
}
further() { [ "$(cat "$tmp/echoes")" -gt "$was" ]; }
# goes_on: it does from here on
goes_on() {
	was=$(cat "$tmp/echoes")
	until_ok 20 further
}
enough() {
	touch "$tmp/enough"
	wait $echoes_pid
	rc=$?
	cat "$tmp/echoes.out"
	return $rc
}

address() { ip -j link show dev xkp1 | jq -r ".[0].address"; }
counted() { jq -e "$1" "$tmp/run.json" || { jq -c ".end, (.nodes[] | [.name, .counters, .drops])" "$tmp/run.json"; false; }; }
counter='[.nodes[] | select(.protocol == "packet" or .protocol == "tap" or .protocol == "xdp")] | .[0].counters'
open_fds() { find /proc/$graph_pid/fd -mindepth 1 | wc -l; }
as_many_fds() { [ "$(open_fds)" -eq "$fds" ]; }
said() { grep -q "$1" "$tmp/run.err"; }
# said_times N TEXT: so often
said_times() { [ "$(grep -c "$2" "$tmp/run.err")" -eq "$1" ]; }

# A second that goes by, whoever has the processors.
uptime_is() { [ "$(cut -d. -f1 /proc/uptime)" -gt "$1" ]; }
a_second() { until_ok 20 uptime_is $(($(cut -d. -f1 /proc/uptime) + 1)); }
stopped() { grep -q '^State:.T' "/proc/$graph_pid/status"; }
# processor_away: for a second, from all of the graph's threads
processor_away() {
	kill -STOP $graph_pid && until_ok 20 stopped && a_second
	kill -CONT $graph_pid
}
storm() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		for sig in CONT URG WINCH CHLD USR1 STOP CONT; do
			kill -$sig $graph_pid || return 1
		done
	done
}
