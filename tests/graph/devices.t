#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Devices of the kernel that go while they are used: the last one ends the graph with a code of its own, one of two does
# not, and with `reattach` the graph waits, asleep, until there is one of that name again, and connections go on.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/devices_lib.sh"
#   XK_DEVICES="packet xdp tap"   these drivers alone
driver=packet
link_up 2>"$tmp/.link" || skip_all "cannot make veth interfaces: $(head -n 1 "$tmp/.link")"
link_gone

cat >"$tmp/two.lua" <<'END'
local function host(name, addr)
  icmp { over = ip { addr = addr, over = arp { over = eth { over = packet { ifname = name } } } } }
end
host("xkp1", "10.9.0.2/24")
host("xkq1", "10.8.0.2/24")
return graph "two" { threading = vppc { vps = 2 } }
END
# Each message is sent by a VP of its own, and the first alone reads.
cat >"$tmp/send.lua" <<'END'
local net = ip { addr = "10.9.0.2/24", over = arp { reachable = "1s", over = eth { over =
  packet { ifname = "xkp1", queues = 1, reattach = true } } } }
icmp { over = net }
udp { over = net }
return graph "send" { threading = vppc { vps = 3 } }
END

case_of() {
	case $driver in
	packet) gone="interface 'xkp1' is gone" back="interface 'xkp1' is there again" ends="its interface is gone" ;;
	xdp) gone="interface xkp1 was removed" back="interface xkp1 is there again" ends="its interface is gone" ;;
	tap) gone="cannot read the device" back="the device was made again" ends="its device is gone" ;;
	esac
}

# The last one.
the_last() {
	link_up
	graph_up "$tmp/dev.lua" driver=$driver
	ok "$driver: it answers" until_ok 20 answers
	link_gone
	ok "$driver: the last device is gone: the run ends by itself with code 6" graph_ends 6 "$driver: $ends"
	ok "$driver: said once for all virtual processors" said_times 1 "$gone"
	ok "$driver: and counted" counted "$counter.device_errors >= 1"
}

# It comes back: another interface, of another number and address, with the same name.
comes_back() {
	how="$driver, $1"
	shift
	link_up
	graph_up "$tmp/dev.lua" driver=$driver reattach=true "$@"
	until_ok 20 answers
	mac=$(address)
	echoes
	fds=$(open_fds)
	link_away
	ok "$how: its end is noticed" until_ok 20 said "$gone"
	ok "$how: a new one" link_back
	ok "$how: that is noticed" until_ok 20 said "$back"
	case $driver in
	tap) ok "$how: it has the address that it had" [ "$mac" = "$(address)" ] ;;
	*) ok "$how: it has another address" [ "$mac" != "$(address)" ] ;;
	esac
	ok "$how: a connection goes on, byte for byte" enough
	link_away
	ok "$how: gone again" until_ok 20 said_times 2 "$gone"
	link_back
	ok "$how: there again" until_ok 20 said_times 2 "$back"
	ok "$how: it answers" until_ok 20 answers
	ok "$how: what was open is closed" until_ok 20 as_many_fds
	ok "$how: the graph ends well and leaks nothing" graph_down
	ok "$how: twice is counted" counted "$counter | .reattached == 2 and .device_errors >= 2"
	[ $driver = tap ] || link_gone
}

# While it is away nobody runs in circles: how often workers fall asleep, and their rounds, by how often one of them has
# looked for it, ten times a second; what nobody takes would wake one thousands of times in a tenth of a second.
snapshot() { timeout 20 "$top_builddir/vp-ctl" -s "$tmp/ctl" --json snapshot >"$tmp/snap"; }
now() { snapshot && jq "$1" "$tmp/snap"; }
looked="$counter.looked_for"
looked_more() { [ "$(now "$looked")" -ge $((looks + 20)) ]; }
# workers WHAT: of all of them, in the last snapshot
workers() { jq "[.workers[].$1] | add" "$tmp/snap"; }
away() {
	link_up
	graph_up --control="$tmp/ctl" "$tmp/dev.lua" driver=$driver reattach=true
	until_ok 20 answers
	link_away
	until_ok 20 said "$gone"
	# A name that is not up is no device of packet's, and xdp brings it up itself.
	[ $driver != packet ] || ip link add xkp0 type veth peer name xkp1
	looks=$(now "$looked") sleeps=$(workers sleeps) rounds=$(workers units)
	ok "$driver, away: it is looked for" until_ok 60 looked_more
	looks=$(($(now "$looked") - looks)) sleeps=$(($(workers sleeps) - sleeps)) rounds=$(($(workers units) - rounds))
	echo "# $looks looks, $sleeps sleeps, $rounds rounds"
	ok "$driver, away: nobody is woken again and again" [ $sleeps -lt $((looks * 100)) ]
	ok "$driver, away: nobody runs in circles" [ $rounds -lt $((looks * 5000)) ]
	ok "$driver, away: nothing is taken for it" [ "$(grep -c "$back" "$tmp/run.err")" -eq 0 ]
	[ $driver != packet ] || ip link del xkp0
	link_back
	ok "$driver, away: it comes back" until_ok 20 said "$back"
	ok "$driver, away: it answers" until_ok 20 answers
	ok "$driver, away: it ends well" graph_down
	[ $driver = tap ] || link_gone
}

for driver in ${XK_DEVICES:-packet xdp tap}; do
	case_of
	if ! has_driver; then
		skip "$driver" "$why_not"
		continue
	fi
	the_last
	comes_back "one virtual processor" vps=1
	comes_back "three of them"
	case $driver in
	packet) comes_back "an eBPF program" fanout=ebpf ;;
	xdp) comes_back "native" mode=native ;;
	esac
	away
done

# One of two: the others go on.
driver=packet
link_up
ip link add xkq0 type veth peer name xkq1 && ip link set xkq0 up && ip link set xkq1 up && ip addr add 10.8.0.1/24 dev xkq0
soon xkq0
graph_up "$tmp/two.lua"
until_ok 20 answers 10.8.0.2
link_gone
ok "one of two is gone: it is said" until_ok 20 said "interface 'xkp1' is gone"
ok "the other one answers" until_ok 20 answers 10.8.0.2
kill -INT $graph_pid
ok "stopped then, it has failed, with code 1" graph_ends 1 "packet: its interface is gone"
link_up
graph_up "$tmp/two.lua"
until_ok 20 answers 10.8.0.2
link_gone
until_ok 20 said "interface 'xkp1' is gone"
ip link del xkq0
ok "the second one, too: code 6" graph_ends 6 "its interface is gone"

# Of three VPs one reads; the others, which have sent nothing, leave the old socket as soon as there is a new one.
link_up
graph_up "$tmp/send.lua"
until_ok 20 answers
fds=$(open_fds)
link_away
until_ok 20 said "interface 'xkp1' is gone"
link_back
ok "VPs that only send: there again" until_ok 20 said "interface 'xkp1' is there again"
ok "VPs that only send: what was open is closed" until_ok 20 as_many_fds
ok "VPs that only send: it ends well" graph_down
link_gone

# Without rights: it cannot be opened again, and waiting would not help.
if getent passwd nobody >/dev/null; then
	link_up
	graph_up --user nobody "$tmp/dev.lua" reattach=true
	until_ok 20 answers
	link_away
	until_ok 20 said "is gone"
	link_back
	ok "rights given away: code 6, and why" graph_ends 6 "its interface was removed and cannot be opened again"
	ok "in a sentence, once" said_times 1 "'xkp1': not permitted: needs CAP_NET_RAW"
	link_gone
else
	skip "rights given away" "no user nobody"
fi
done_testing
