#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What happens to a device that stays, under every driver: another MTU, another name, a namespace that loses its name,
# a program that is taken away, and to the process: a storm of signals, a second without a processor, a wall clock that
# jumps by days.  A connection goes on, byte for byte.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/devices_lib.sh"
#   XK_DEVICES="packet xdp tap"   these drivers alone
driver=packet
link_up 2>"$tmp/.link" || skip_all "cannot make veth interfaces: $(head -n 1 "$tmp/.link")"
link_gone

# A wall clock that jumps each time that it is read, and counts how often that was.
steps=
if ! grep -q -e -fsanitize "$top_builddir/config.status" 2>/dev/null &&
	${CC:-cc} -shared -fPIC -o "$tmp/steps.so" "$top_srcdir/tests/graph/clock_steps.c" 2>/dev/null; then
	steps="LD_PRELOAD=$tmp/steps.so"
fi
# begin ARGS...: as graph_up, under that clock
begin() {
	rm -f "$tmp/steps"
	env STEPS="$tmp/steps" $steps "$top_builddir/vp-run" --json "$@" >"$tmp/run.json" 2>"$tmp/run.err" &
	graph_pid=$!
}
# The Lua library asks it once or twice, before a graph is made: a run that is over at once has asked as often.
# shortest ARGS...: such a run
shortest() {
	begin -d 1ms "$@"
	wait $graph_pid
	[ -z "$steps" ] || at_least=$(cat "$tmp/steps")
}
# timeless WHAT: nobody has asked it more often than in the shortest run
timeless() {
	if [ -n "$steps" ]; then
		ok "$1: nobody asks the wall clock while it runs" [ "$(cat "$tmp/steps")" -eq "$at_least" ]
	else
		skip "$1: nobody asks the wall clock while it runs" "no library can be loaded before all others"
	fi
}

# mtu N: of all interfaces there are
mtu() {
	ip link set xkp1 mtu "$1" && { [ $driver = tap ] || ip link set xkp0 mtu "$1"; }
}
other_mtus() {
	ok "$driver: a smaller MTU" mtu 600
	ok "$driver: what is longer now is dropped, and it lives on" sh -c "ping -q -c1 -W0.3 -s 1200 $us; true"
	ok "$driver: it answers" until_ok 20 answers
	ok "$driver: a larger MTU" mtu 3000
	ok "$driver: what is longer than the graph's is dropped, and it lives on" sh -c "ping -q -c1 -W0.3 -s 2500 $us; true"
	ok "$driver: it answers then" until_ok 20 answers
	ok "$driver: the first MTU" mtu 1500
	ok "$driver: the connection goes on after that" goes_on
}
renamed() {
	ip link set xkp1 down && ip link set xkp1 name xkp9 && ip link set xkp9 up || return 1
	# What the kernel has of a TAP device, it has by the name.
	[ $driver != tap ] || ip addr replace 10.9.0.1/24 dev xkp9
}
named_back() {
	ip link set xkp9 down && ip link set xkp9 name xkp1 && ip link set xkp1 up || return 1
	[ $driver != tap ] || ip addr replace 10.9.0.1/24 dev xkp1
}
names() {
	ok "$driver: renamed" renamed
	ok "$driver: it answers under that name" until_ok 20 answers
	ok "$driver: the connection goes on under it" goes_on
	ok "$driver: renamed again" named_back
	ok "$driver: it answers under the first one" until_ok 20 answers
}
process() {
	ok "$1: without a processor for a second" processor_away
	ok "$1: it goes on after that" "$2"
	ok "$1: a storm of signals" storm
	ok "$1: it goes on after that, too" "$2"
}
# Its program is taken away, whoever has the right to do that.
cat >"$tmp/detach.py" <<'END'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def bpf(cmd, attr):
    b = ctypes.create_string_buffer(attr.ljust(128, b"\0"))
    return libc.syscall({"x86_64": 321}.get(os.uname().machine, 280), cmd, b, 128), b.raw
done = no = 0
index = int(sys.argv[1])
while True:
    got, b = bpf(31, struct.pack("II", no, 0))          # BPF_LINK_GET_NEXT_ID
    if got < 0:
        break
    no = struct.unpack_from("I", b, 4)[0]
    fd, _ = bpf(30, struct.pack("I", no))               # BPF_LINK_GET_FD_BY_ID
    if fd < 0:
        continue
    info = ctypes.create_string_buffer(256)
    got, _ = bpf(15, struct.pack("IIQ", fd, 256, ctypes.addressof(info)))   # BPF_OBJ_GET_INFO_BY_FD
    kind, _, _, _, of = struct.unpack_from("IIIII", info.raw)
    if got >= 0 and kind == 6 and of == index:
        done += bpf(34, struct.pack("I", fd))[0] == 0   # BPF_LINK_DETACH
    os.close(fd)
sys.exit(done != 1)
END
program_gone() { python3 "$tmp/detach.py" "$(ip -j link show dev xkp1 | jq ".[0].ifindex")"; }

on_a_device() {
	link_up
	shortest "$tmp/dev.lua" driver=$driver
	begin "$tmp/dev.lua" driver=$driver
	until_ok 20 answers
	echoes
	[ $driver = tap ] || ok "$driver: down" ip link set xkp1 down
	[ $driver = tap ] || ok "$driver: that is noticed" until_ok 20 said "$down"
	[ $driver = tap ] || ok "$driver: up again" ip link set xkp1 up
	ok "$driver: the connection goes on" goes_on
	other_mtus
	names
	process "$driver" goes_on
	ok "$driver: byte for byte" enough
	ok "$driver: the graph ends well and leaks nothing" graph_down
	timeless "$driver"
	[ $driver = tap ] || link_gone
}

# The namespace of the device loses its name; where it has a neighbour, that one's goes, and the link with it.
asked() { ip netns exec "$asks" ping -c1 -W0.3 $us; }
in_a_namespace() {
	asks=devices
	ip netns add devices && ip netns add neighbour
	if [ $driver != tap ]; then
		asks=neighbour
		ip -n neighbour link add xkp0 type veth peer name xkp1 netns devices
		ip -n neighbour link set xkp0 up && ip -n devices link set xkp1 up && ip -n neighbour addr add 10.9.0.1/24 dev xkp0
	fi
	graph_up "$tmp/dev.lua" driver=$driver netns=devices
	ok "$driver, in a namespace: it answers" until_ok 20 asked
	if [ $driver = tap ]; then
		# The kernel's side of it goes with its namespace.
		ip netns exec devices sleep 600 &
		inside=$!
		until_ok 20 elsewhere $inside
		ip netns del devices
		asked() { nsenter -n -t $inside ping -c1 -W0.3 $us; }
		ok "$driver, in a namespace: its name is gone: it answers" until_ok 20 asked
		nsenter -n -t $inside ip link del xkp1
		kill $inside
		ok "$driver, in a namespace: the device is gone there: code 6" graph_ends 6 "its device is gone"
	else
		ip netns del devices
		ok "$driver, in a namespace: its name is gone: it answers" until_ok 20 asked
		ip netns del neighbour
		ok "$driver, in a namespace: the neighbour's is gone, and the link with it: code 6" graph_ends 6 "its interface is gone"
	fi
	ip netns del neighbour 2>/dev/null
}

without_a_program() {
	link_up
	graph_up "$tmp/dev.lua" driver=xdp
	until_ok 20 answers
	ok "xdp: its program is taken away" program_gone
	ok "xdp: code 6" graph_ends 6 "its interface is gone"
	graph_up "$tmp/dev.lua" driver=xdp reattach=true
	until_ok 20 answers
	echoes
	ok "xdp: once more" program_gone
	ok "xdp: where that is waited for it has one again" until_ok 20 said "interface xkp1 is there again"
	ok "xdp: the connection goes on, byte for byte" enough
	ok "xdp: the graph ends well and leaks nothing" graph_down
	link_gone
}

for driver in ${XK_DEVICES:-packet xdp tap}; do
	if ! has_driver; then
		skip "$driver" "$why_not"
		continue
	fi
	case $driver in packet) down="interface 'xkp1' is down" ;; *) down="interface xkp1 was taken down" ;; esac
	on_a_device
	in_a_namespace
	[ $driver != xdp ] || without_a_program
done

# ---- cables in memory, and captures ------------------------------------------------------------------------

snapshot() { timeout 20 "$top_builddir/vp-ctl" -s "$tmp/ctl" --json snapshot >"$tmp/snap"; }
count_of() { snapshot && jq "[.nodes[] | select(.protocol == \"$1\")][0].counters.$2 // 0" "$tmp/snap"; }
more_of() { [ "$(count_of $which)" -gt "$was" ]; }
counts_on() {
	was=$(count_of $which)
	until_ok 20 more_of
}
cat >"$tmp/wire.lua" <<'END'
local a = args { count = uint { 0 } }
local function host(addr) return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } } end
tcpecho { port = 7, over = tcp { over = host("10.0.0.2/24") } }
stack { load { to = "10.0.0.2", port = 7, conns = 4, count = a.count, rate = 200, size = "3KiB" }, tcp {}, host("10.0.0.1/24") }
return graph "wire" { threading = vppc { vps = 2 } }
END
cat >"$tmp/play.lua" <<'END'
stack { udp {}, ip { addr = "10.0.0.2/24" }, arp {}, eth {},
  pcap { file = args { file = text { "" } }.file, loop = 0, rate = "fast" } }
return graph "play" { threading = up {} }
END
which="load messages"
begin --control="$tmp/ctl" "$tmp/wire.lua"
ok "wire: it begins" until_ok 20 snapshot
process wire counts_on
ok "wire: the graph ends well and leaks nothing" graph_down
shortest "$tmp/wire.lua" count=100
begin "$tmp/wire.lua" count=100
ok "wire: without a processor for a second, in the middle" processor_away
ok "wire: it ends by itself" wait $graph_pid
ok "wire: every byte has come" counted '[.nodes[] | select(.name == "tcpecho")][0].counters.bytes == 400 * 3072'
timeless wire

"$top_builddir/vp-run" --virtual --capture "eth=$tmp/in.pcap" -d 50ms "$tmp/wire.lua" >"$tmp/out" 2>&1
which="pcap passes"
begin --control="$tmp/ctl" "$tmp/play.lua" "file=$tmp/in.pcap"
ok "pcap: it is played" until_ok 20 snapshot
process pcap counts_on
# At once: it is opened again whenever it has been played.
ln "$tmp/in.pcap" "$tmp/moved.pcap" && ln -s moved.pcap "$tmp/link.pcap" && mv -T "$tmp/link.pcap" "$tmp/in.pcap"
ok "pcap: moved, and found by its name: it is played on" counts_on
rm "$tmp/in.pcap"
ok "pcap: without its file: code 6" graph_ends 6 'pcap: its file is gone'
done_testing
