# SPDX-License-Identifier: BSD-2-Clause
# pools_lib.sh - what tests of pools of a processor's own, or of all, share: a stream whose bytes are compared, and
# frames through simulated processors.  Source it right after tap.sh, with $record: the pools' key in a run's record, and
# $class: that of their locks.

run=$top_builddir/vp-run
graph=$top_builddir/vp-graph
unset VP_GRAPH_PATH

# made THREADING: a stream's bytes, compared, over one wire.
made() {
	cat >"$tmp/g.lua" <<END
stack { load { to = "10.0.0.2", conns = 6, count = 40, size = "2KiB" }, tcp {}, ip { addr = "10.0.0.1/24" }, arp {}, eth {},
  eth_mem { wire = "w" } }
stack { sink { size = "2KiB", touch = "verify" }, tcp {}, ip { addr = "10.0.0.2/24" }, arp {}, eth {}, eth_mem { wire = "w" } }
return graph "g" { threading = $1, seed = 3 }
END
}
json() { timeout 60 "$run" --json "$tmp/g.lua" "$@" >"$tmp/json" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }; }
says() { jq -e "$1" "$tmp/json" >/dev/null || { jq -c ".record.$record, .locks, [.nodes[].counters]" "$tmp/json"; return 1; }; }
whole='[.nodes[].counters] | (map(.wrong_bytes // 0) | add) == 0 and (map(.drained // 0) | add) == 6 and (map(.received_bytes // 0) | add) == 0'
# word THREADING TEXT: it is refused so
word() { made "$1" && timeout 20 "$graph" check "$tmp/g.lua" >"$tmp/out" 2>&1; [ $? -eq 3 ] && grep -q "$2" "$tmp/out" || { cat "$tmp/out"; return 1; }; }
# usual PRESET: without a word there are none, and no lock is taken
usual() { made "$1 {}" && json && says "$whole" && says ".record.$record == null and all(.locks[]; .class != \"$class\")"; }

# machine LOCK MOVED: what a lock and a stack that moved cost on it, us; a message takes 100 ns.
machine() {
	cat >"$tmp/m.lua" <<END
local s = "assumed: for a test"
local graph = { message = { 0.1, source = s }, lock = { $1, source = s }, lock_moved = { $1, source = s }, stack_moved = { $2, source = s } }
for _, key in ipairs { "unit", "handover", "wake", "context", "yield", "slice" } do graph[key] = { 0, source = s } end
return machine "test" { graph = graph }
END
}
# through THREADING PROCESSORS [SOURCE]: messages in 5 ms.
through() {
	cat >"$tmp/g.lua" <<END
stack { sink { touch = "none" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {},
  peer_source { to = "10.0.0.1", conns = 16, place = "hash", $3 } }
return graph "g" { threading = $1, seed = 3 }
END
	json --virtual --processors "$2" --machine "$tmp/m.lua" -d 5ms || return 1
	got=$(jq .messages "$tmp/json")
	echo "# $1: $got messages, $(jq -c ".record.$record" "$tmp/json")"
}
