#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# presets.t - graphs/udp-presets.lua: whichever architecture is named, the same
# messages are delivered and nothing leaks; simulated runs repeat by their seed.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/udp-presets.lua
unset VP_GRAPH_PATH

# delivers MESSAGES ARG...: the echo service saw so many, the run ended by itself, no leak.
delivers() {
	want=$1
	shift
	timeout 100 "$run" "$file" timeout=90s "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q "^echo  *messages $want," "$tmp/out" && grep -q "^load .* answers $want" "$tmp/out" &&
	grep -q 'workload complete$' "$tmp/out"
}

json() {
	timeout 100 "$run" --virtual --json --vps --connections --seed "$1" "$file" loss=10% reorder=5% count=50 >"$2" 2>"$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	grep -v -e wall_ns -e '"seed"' "$2" >"$2.counters"
}
repeats() {
	json 11 "$tmp/one" && json 11 "$tmp/two" && diff "$tmp/one.counters" "$tmp/two.counters"
}
differs() {
	json 11 "$tmp/one" && json 12 "$tmp/two" && ! diff "$tmp/one.counters" "$tmp/two.counters" >/dev/null
}

for preset in $(presets); do
	for link in eth fddi; do
		for burst in 1 16; do
			ok "udp_echo.$preset over $link, burst $burst" \
				delivers 800 preset=$preset link=$link burst=$burst conns=8 count=100
		done
	done
	ok "udp_echo.$preset under the virtual clock" delivers 800 --virtual preset=$preset conns=8 count=100
done
for preset in connp_l mp msgp locking; do
	ok "udp_echo.$preset with 5 I/O threads" delivers 800 preset=$preset io_threads=5 burst=1 conns=8 count=100
done
for vps in 8 384; do
	ok "udp_echo.vppc, lock, $vps virtual processors" delivers 1600 vps=$vps entry=lock count=100
	ok "udp_echo.vppc, os, $vps virtual processors" delivers 1600 vps=$vps schedule=os count=100
	ok "udp_echo.vppc, os and lock, $vps virtual processors" delivers 1600 vps=$vps schedule=os entry=lock count=100
done
# A build without Boost.Context says so, and names the package.
if "$run" --virtual -d 1ms "$file" preset=tpc threads=user 2>&1 | grep -q libboost-context-dev; then
	skip "udp_echo.tpc with user-level threads" "built without Boost.Context (package libboost-context-dev)"
else
	for burst in 1 16; do
		ok "udp_echo.tpc with user-level threads, burst $burst" \
			delivers 800 preset=tpc threads=user burst=$burst conns=8 count=100
		ok "udp_echo.vppc with user-level threads, burst $burst" delivers 1600 vps=8 threads=user burst=$burst count=100
	done
	ok "udp_echo.tpc with user-level threads under the virtual clock" \
		delivers 800 --virtual preset=tpc threads=user conns=8 count=100
fi
ok "the same seed gives the same counters" repeats
ok "another seed gives others" differs

# counted PRESET FILTER: what jq says of the counters of a short run.
counted() {
	timeout 100 "$run" --virtual --json "$file" preset="$1" count=50 >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	jq -e "$2" "$tmp/json" >/dev/null || { jq -c .locks "$tmp/json"; return 1; }
}

# 4000 datagrams of 20 peers from a device for a sink.
flood() {
	cat >"$tmp/flood.lua" <<-'END'
	local a = args {
	  datagrams = enum { "anywhere", choices = { "anywhere", "owned" }, doc = "where they are run" },
	  taken = bool { false, doc = "a connection of the same port" },
	}
	local top = udp { over = stack {
	  ip { addr = "10.0.0.1/8" }, arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {},
	  eth_mem {}, peer_source { conns = 20, size = 64, to = "10.0.0.1", port = 9, from = "10.0.0.2", place = "hash", count = 4000 },
	} }
	sink { name = "passive", port = 9, count = 4000, over = top }
	if a.taken then sink { name = "active", port = 9, conns = 4, from = "10.0.0.9", over = top } end
	return graph "flood" { threading = mp { io_threads = 3, datagrams = a.datagrams } }
	END
}
of_flood() {
	want=$1
	shift
	timeout 100 "$run" --json "$tmp/flood.lua" "$@" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	jq -e "$want" "$tmp/json" >/dev/null || { jq -c '.locks, (.nodes[] | [.name, .sessions_made, .counters])' "$tmp/json"; return 1; }
}
in_use() {
	! "$run" --virtual "$tmp/flood.lua" taken=true >"$tmp/out" 2>&1 || return 1
	cat "$tmp/out"
	grep -q 'cannot open connection 1 of 4: .*in use' "$tmp/out"
}
if command -v jq >/dev/null 2>&1; then
	ok "locks by what they guard: connp_l" counted connp_l '[.locks[].class] == ["vp"]'
	# 1600 datagrams: two locks in each of the two layers below UDP; the map's as sessions are made, too.
	ok "locks by what they guard: locking" counted locking '[.locks[].class] == ["vp", "io_thread", "table", "map", "session", "queue"] and
		([.locks[] | select(.class == "vp" or .class == "table") | .taken] | min >= 1600) and
		(.locks[] | select(.class == "session") | .taken == 3200 and .locks > 0) and
		(.locks[] | select(.class == "map") | .taken >= 3200 and .taken < 3400 and .locks == 6)'
	ok "and by layer" counted locking '([.nodes[] | select(.locks) | .protocol] | sort) == ["eth", "eth", "ip", "ip", "udp", "udp"] and
		all(.nodes[] | select(.locks and .protocol != "udp"); .pop == 800 and .locks.session.taken == .pop and .locks.map.taken >= .pop)'
	# 800 datagrams for the echo service take neither, 800 answers for connections that were opened take both.
	ok "mp: datagrams of nobody's connection take no connection's lock and not the table's" counted mp '
		[.locks[] | select(.class == "vp" or .class == "table") | .taken] == [800, 800]'
	ok "locks by what they guard: msgp" counted msgp '[.locks[].class] == ["vp", "io_thread", "table"]'
	flood
	ok "mp: datagrams for a sink take no connection's lock and not the table's" of_flood '
		[.locks[] | select(.class == "vp" or .class == "table") | .taken] == [0, 0]' --virtual
	ok "mp: nor where I/O threads have threads" of_flood '(.locks[] | select(.class == "table").taken) == 0 and
		(.nodes[] | select(.name == "udp").counters.rerouted) == 0 and (.nodes[] | select(.name == "passive").counters.messages) == 4000'
	ok "mp: I/O threads have sessions of their own for a peer" of_flood '(.nodes[] | select(.name == "udp").sessions_made) | . > 20 and . <= 60' --virtual
	ok "mp, owned: a session for each peer" \
		of_flood '(.nodes[] | select(.name == "udp").sessions_made) == 20' --virtual datagrams=owned
	ok "and then both locks" of_flood '[.locks[] | select(.class == "vp" or .class == "table") | .taken] == [4000, 4020]' \
		--virtual datagrams=owned
	ok "mp: no connection on a port where datagrams are run anywhere" in_use
	ok "owned, there may be one" "$run" --virtual "$tmp/flood.lua" taken=true datagrams=owned
	ok "vppc takes none" counted vppc '[.locks[].taken] == [0]'
fi
done_testing
