#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Devices of the kernel that go while they are used: the last one ends the graph with a code of its own, one of two does
# not, and with `reattach` the graph waits, asleep, until there is one of that name again, and connections go on.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
tools="ip unshare ping python3 jq"
without_tun=yes
. "$top_srcdir/tests/graph/tap_lib.sh"

us=10.9.0.2
# soon IFNAME: the kernel asks for us before we are there; again after a twentieth of a second, not one
soon() { sysctl -qw "net.ipv4.neigh.$1.retrans_time_ms=50" 2>/dev/null; }
# link_up: a fresh pair of interfaces: the kernel's has the address that it had before, as another host's would, ours not
link_up() {
	ip link add xkp0 address 02:00:00:00:00:11 type veth peer name xkp1 && ip link set xkp0 up && ip link set xkp1 up &&
	ip addr add 10.9.0.1/24 dev xkp0 && { soon xkp0 || true; }
}
link_up 2>"$tmp/.link" || skip_all "cannot make veth interfaces: $(head -n 1 "$tmp/.link")"

cat >"$tmp/one.lua" <<'END'
local a = args { reattach = bool { false }, vps = uint { 3, min = 1, max = 64 }, fanout = text { "auto" } }
local net = stack { ip { addr = "10.9.0.2/24" }, arp { reachable = "1s" }, eth {},
  packet { ifname = "xkp1", reattach = a.reattach, fanout = a.fanout } }
icmp { over = net }
tcpecho { port = 7, over = tcp { over = net } }
return graph "one" { threading = vppc { vps = a.vps } }
END
cat >"$tmp/tap.lua" <<'END'
local a = args { reattach = bool { false }, vps = uint { 3, min = 1, max = 64 } }
local net = stack { ip { addr = "10.9.0.2/24" }, arp { reachable = "1s" }, eth {},
  tap { ifname = "xkt0", addr = "10.9.0.1/24", reattach = a.reattach } }
icmp { over = net }
tcpecho { port = 7, over = tcp { over = net } }
return graph "tap" { threading = vppc { vps = a.vps } }
END
cat >"$tmp/two.lua" <<'END'
local function host(name, addr)
  icmp { over = ip { addr = addr, over = arp { over = eth { over = packet { ifname = name } } } } }
end
host("xkp1", "10.9.0.2/24")
host("xkq1", "10.8.0.2/24")
return graph "two" { threading = vppc { vps = 2 } }
END
# Echoes over one connection, which is exact or an exception: until the file `enough` is there, and 20 more.
cat >"$tmp/echoes.py" <<'END'
import os, random, socket, sys
rnd, left, n = random.Random(1), 20, 0
with socket.create_connection(("10.9.0.2", 7)) as s:
    s.settimeout(60)
    while left:
        b, got = rnd.randbytes(3000), b""
        s.sendall(b)
        while len(got) < len(b):
            part = s.recv(4096)
            assert part, "closed"
            got += part
        assert got == b, "not what was sent"
        n += 1
        open(sys.argv[1] + "/echoes.new", "w").write(str(n))
        os.replace(sys.argv[1] + "/echoes.new", sys.argv[1] + "/echoes")
        left -= os.path.exists(sys.argv[1] + "/enough")
END
echoes() {
	rm -f "$tmp/enough" "$tmp/echoes"
	python3 "$tmp/echoes.py" "$tmp" >"$tmp/echoes.out" 2>&1 &
	echoes_pid=$!
	until_ok 10 test -s "$tmp/echoes"
}
enough() {
	touch "$tmp/enough"
	wait $echoes_pid
	rc=$?
	cat "$tmp/echoes.out"
	return $rc
}
# An answer takes no time; a question that came too early is asked again.
answers() { ping -c1 -W0.3 "$1"; }
address() { ip -j link show dev xkp1 | jq -r ".[0].address"; }
counted() { jq -e "$1" "$tmp/run.json"; }
counter='[.nodes[] | select(.protocol == "packet" or .protocol == "tap")] | .[0].counters'
open_fds() { find /proc/$graph_pid/fd -mindepth 1 | wc -l; }
as_many_fds() { [ "$(open_fds)" -eq "$fds" ]; }
said() { grep -q "$1" "$tmp/run.err"; }
# said_times N TEXT: so often
said_times() { [ "$(grep -c "$2" "$tmp/run.err")" -eq "$1" ]; }
# A descriptor that is readable for ever would wake them again and again.
sleeps='[.workers[].sleeps] | add'

# The last one.
graph_up "$tmp/one.lua"
ok "it answers" until_ok 20 answers $us
ip link del xkp0
ok "the last device is gone: the run ends by itself with code 6" graph_ends 6 "packet: its interface is gone"
ok "said once for all virtual processors" said_times 1 "interface 'xkp1' is gone"
ok "and counted" counted "$counter.device_errors >= 1"

# One of two: the others go on.
link_up
ip link add xkq0 type veth peer name xkq1 && ip link set xkq0 up && ip link set xkq1 up && ip addr add 10.8.0.1/24 dev xkq0
soon xkq0
graph_up "$tmp/two.lua"
until_ok 20 answers 10.8.0.2
ip link del xkp0
ok "one of two is gone: it is said" until_ok 20 said "interface 'xkp1' is gone"
ok "the other one answers" until_ok 20 answers 10.8.0.2
kill -INT $graph_pid
ok "stopped then, it has failed, with code 1" graph_ends 1 "packet: its interface is gone"
link_up
graph_up "$tmp/two.lua"
until_ok 20 answers 10.8.0.2
ip link del xkp0
until_ok 20 said "interface 'xkp1' is gone"
ip link del xkq0
ok "the second one, too: code 6" graph_ends 6 "its interface is gone"

# It comes back: another interface, of another number and address, with the same name.
comes_back() {
	how=$1
	shift
	link_up
	mac=$(address)
	graph_up "$tmp/one.lua" reattach=true "$@"
	until_ok 20 answers $us
	echoes
	fds=$(open_fds)
	ip link del xkp0
	ok "$how: its end is noticed" until_ok 20 said "interface 'xkp1' is gone: nothing is received or sent until"
	ok "$how: a new one" link_up
	ok "$how: it has another address" [ "$mac" != "$(address)" ]
	ok "$how: that is noticed" until_ok 20 said "interface 'xkp1' is there again"
	ok "$how: a connection goes on, byte for byte" enough
	ip link del xkp0
	ok "$how: gone again" until_ok 20 said_times 2 "interface 'xkp1' is gone"
	link_up
	ok "$how: there again, it answers" until_ok 20 answers $us
	ok "$how: what was open is closed" until_ok 20 as_many_fds
	ok "$how: the graph ends well and leaks nothing" graph_down
	ok "$how: twice is counted" counted "$counter | .reattached == 2 and .device_errors >= 2"
	ip link del xkp0
}
comes_back "one socket" vps=1
comes_back "three sockets"
comes_back "an eBPF program" fanout=ebpf

# While it is away nobody runs in circles, and what has the name but is not up is not taken.
link_up
graph_up "$tmp/one.lua" reattach=true
until_ok 20 answers $us
ip link del xkp0
until_ok 20 said "interface 'xkp1' is gone"
ip link add xkp0 type veth peer name xkp1
asleep() { [ -d /proc/$graph_pid ] && ! cat /proc/$graph_pid/task/*/status | grep '^State:' | grep -qv 'S (sleeping)'; }
ok "away: all of its threads sleep" until_ok 20 asleep
ok "a name that is not up is no device" sh -c "! grep -q 'there again' '$tmp/run.err'"
ok "it ends well" graph_down
ok "away: and are seldom woken" counted "$sleeps < 2000"
ip link del xkp0

# Without rights: it cannot be opened again, and waiting would not help.
if getent passwd nobody >/dev/null; then
	link_up
	graph_up --user nobody "$tmp/one.lua" reattach=true
	until_ok 20 answers $us
	ip link del xkp0
	until_ok 20 said "is gone"
	link_up
	ok "rights given away: code 6, and why" graph_ends 6 "its interface was removed and cannot be opened again"
	ok "in a sentence, once" said_times 1 "'xkp1': not permitted: needs CAP_NET_RAW"
	ip link del xkp0
else
	skip "rights given away" "no user nobody"
fi
# What changes at an interface that stays: nothing is lost for good.
link_up
graph_up "$tmp/one.lua"
until_ok 20 answers $us
echoes
down_and_up() { ip link set xkp1 down && until_ok 20 said "interface 'xkp1' is down" && ip link set xkp1 up; }
ok "down and up again" down_and_up
renamed() { ip link set xkp1 down && ip link set xkp1 name xkp9 && ip link set xkp9 up; }
ok "renamed" renamed
ok "it answers under that name" until_ok 20 answers $us
ok "a smaller MTU" sh -c "ip link set xkp0 mtu 600 && ip link set xkp9 mtu 600"
ok "it answers" until_ok 20 answers $us
ok "what is longer now is dropped, and lives on" sh -c "ping -q -c1 -W0.3 -s 1200 $us; true"
ok "a larger MTU" sh -c "ip link set xkp0 mtu 9000 && ip link set xkp9 mtu 9000"
ok "what is longer than the graph's is dropped, and lives on" sh -c "ping -q -c1 -W0.3 -s 6000 $us; true"
ok "it answers then" until_ok 20 answers $us
ip link set xkp0 mtu 1500 && ip link set xkp9 mtu 1500
ok "the connection has gone on, byte for byte" enough
ok "the graph ends well and leaks nothing" graph_down
ok "what was too long is counted, both ways" counted \
	'[.nodes[] | select(.protocol == "packet")] | .[0].drops | .too_long >= 1 and .unsegmented >= 1'
ip link del xkp0

# The processor taken away for a second, and a storm of signals.
link_up
graph_up "$tmp/one.lua"
until_ok 20 answers $us
echoes
stopped() { grep -q '^State:.T' "/proc/$graph_pid/status"; }
further() { [ "$(cat "$tmp/echoes")" -gt "$was" ]; }
kill -STOP $graph_pid
ok "stopped" until_ok 20 stopped
sleep 1
kill -CONT $graph_pid
was=$(cat "$tmp/echoes")
ok "a second later the connection goes on" until_ok 20 further
storm() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		for sig in CONT URG WINCH CHLD USR1 STOP CONT; do
			kill -$sig $graph_pid || return 1
		done
	done
}
was=$(cat "$tmp/echoes")
ok "a storm of signals" storm
ok "the connection goes on after that" until_ok 20 further
ok "byte for byte" enough
ok "the graph ends well and leaks nothing" graph_down
ip link del xkp0

# The namespace of the device loses its name, then its neighbour's namespace goes.
ip netns add devices && ip netns add neighbour
ip -n neighbour link add xkp0 type veth peer name xkp1 netns devices
ip -n neighbour link set xkp0 up && ip -n devices link set xkp1 up && ip -n neighbour addr add 10.9.0.1/24 dev xkp0
sed 's/ifname = /netns = "devices", ifname = /' "$tmp/one.lua" >"$tmp/netns.lua"
asked() { ip netns exec neighbour ping -c1 -W0.3 $us; }
graph_up "$tmp/netns.lua"
ok "in a namespace: it answers" until_ok 20 asked
ip netns del devices
ok "its name is gone: it answers" until_ok 20 asked
ip netns del neighbour
ok "the neighbour's namespace is gone, and the link with it: code 6" graph_ends 6 "its interface is gone"

# A TAP device.
if [ -c /dev/net/tun ]; then
	graph_up "$tmp/tap.lua"
	ok "TAP: it answers" until_ok 20 answers $us
	ip link del xkt0
	ok "TAP: the last device is gone: code 6" graph_ends 6 "tap: its device is gone"
	ok "TAP: said once" said_times 1 "cannot read the device"
	graph_up "$tmp/tap.lua" reattach=true
	until_ok 20 answers $us
	mac=$(ip -j link show dev xkt0 | jq -r ".[0].address")
	echoes
	fds=$(open_fds)
	ip link del xkt0
	ok "TAP: it is made again" until_ok 20 said "the device was made again"
	ok "TAP: a connection goes on, byte for byte" enough
	ok "TAP: the host has the address that it had" \
		[ "$mac" = "$(ip -j link show dev xkt0 | jq -r ".[0].address")" ]
	ip link del xkt0
	ok "TAP: once more" until_ok 20 said_times 2 "the device was made again"
	ok "TAP: it answers" until_ok 20 answers $us
	ok "TAP: what was open is closed" until_ok 20 as_many_fds
	# Somebody else has the name.
	ip link del xkt0 && ip link add xkt0 type veth peer name xkt1 && taken=yes
	if [ -n "${taken-}" ] && until_ok 20 said "'xkt0' is an interface, but not a TAP device"; then
		ok "TAP: the name is another's: all of its threads sleep" until_ok 20 asleep
		ip link del xkt0
		ok "TAP: it is made when it is free" until_ok 20 said_times 3 "the device was made again"
		ok "TAP: that was said once" said_times 1 "not a TAP device"
	else
		skip "TAP: the name is another's" "it was made again before"
	fi
	ok "TAP: the graph ends well and leaks nothing" graph_down
	ok "TAP: counted" counted "$counter | .reattached >= 2 and .device_errors >= 2"
else
	skip "TAP" "needs /dev/net/tun"
fi
done_testing
